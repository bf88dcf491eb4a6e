// @class: STARVE / 300 handlers whose results of a few bytes have the lane write a long event again and again
// @drive: own
// @expect: harmless
const long = 'x'.repeat(1000000);
hook(() => ({ params: { long } }));
for (let i = 0; i < 300; i++) api.on('before_tool_call', () => ({ params: { k: i } }), { matcher: [api.id], priority: -i });
