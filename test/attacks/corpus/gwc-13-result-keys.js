// @class: GATEWAY / a result of 60,000 keys in each call, within the bytes that are allowed
// @drive: own
// @expect: harmless
const params = Object.fromEntries(Array.from({ length: 60000 }, (_, i) => ['k' + i, i]));
hook(() => ({ params }));
