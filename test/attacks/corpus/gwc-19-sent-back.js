// @class: GATEWAY / 300 results that only the host can judge: each has it write and send a long event again
// @drive: grow
// @expect: harmless
const long = 'x'.repeat(1000000);
api.on('before_tool_call', () => ({ params: { long } }), { matcher: ['grow'], priority: 1000 });
for (let i = 0; i < 300; i++) api.on('before_tool_call', () => ({ params: { k: i + '__proto__' } }), { matcher: ['grow'], priority: 999 - i });
hook(() => undefined);
