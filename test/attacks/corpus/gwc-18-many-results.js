// @class: GATEWAY / 500 results below every limit, 15 KB each: reading, merging and writing them is the gateway's work
// @drive: grow
// @expect: harmless
const text = 'x'.repeat(15000);
for (let i = 0; i < 500; i++) api.on('before_tool_call', () => ({ params: { ['k' + i]: text } }), { matcher: ['grow'], priority: 1000 - i });
hook(() => undefined);
