// @class: GATEWAY / a result that nests 4,000 deep in each call
// @drive: own
// @expect: harmless
let deep = 1;
for (let i = 0; i < 4000; i++) deep = i % 2 ? [deep] : { d: deep };
hook(() => ({ params: { deep } }));
