// @class: BLAME / seven results that pass one by one and add up to an event too long for a frame, before a guard in another lane
// @drive: grow
// @expect: harmless
const long = '\u20ac'.repeat(1040000);
for (let i = 0; i < 7; i++) api.on('before_tool_call', () => ({ params: { ['p' + i]: long } }), { matcher: ['grow'], priority: 100 - i });
hook(() => undefined);
