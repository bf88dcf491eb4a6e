// @class: BLAME / nine handlers make the event so long that a guard behind them runs out of time reading it
// @drive: grow
// @expect: harmless
const long = 'x'.repeat(1000000);
for (let i = 0; i < 9; i++) api.on('before_tool_call', () => ({ params: { ['p' + i]: long } }), { matcher: ['grow'], priority: 100 - i });
hook(() => undefined);
