// @class: GATEWAY / 300 results that only the host can judge: each has it write and send a long event again
// @drive: own
// @expect: harmless
const long = 'x'.repeat(1000000);
hook(() => ({ params: { long } }));
for (let i = 0; i < 300; i++) api.on('before_tool_call', () => ({ params: { k: i + '__proto__' } }), { matcher: [api.id], priority: -i });
