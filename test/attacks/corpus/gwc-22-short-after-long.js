// @class: GATEWAY / a result of 18,000 keys, then a hundred of one key each: the gateway merges each into all of them
// @drive: grow
// @expect: harmless
api.on('before_tool_call', () => ({ params: Object.fromEntries(Array.from({ length: 18000 }, (_, i) => ['k' + i, 1])) }), { matcher: ['grow'], priority: 1000 });
for (let i = 0; i < 100; i++) api.on('before_tool_call', () => ({ params: { k0: i } }), { matcher: ['grow'], priority: 999 - i });
hook(() => undefined);
