// @class: STARVE / 300 handlers whose results of a few bytes have the lane write a long event again and again
// @drive: grow
// @expect: harmless
const long = 'x'.repeat(1000000);
api.on('before_tool_call', () => ({ params: { long } }), { matcher: ['grow'], priority: 1000 });
for (let i = 0; i < 300; i++) api.on('before_tool_call', () => ({ params: { k: i } }), { matcher: ['grow'], priority: 999 - i });
hook(() => undefined);
