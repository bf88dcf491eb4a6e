// @class: APPROVAL / twenty questions before the guard's and twenty behind it
// @drive: danger
// @expect: harmless
for (let i = 0; i < 40; i++)
  api.on('before_tool_call', () => ({ requireApproval: { title: 'Question ' + i, description: 'x'.repeat(1000), severity: 'info' } }), { matcher: ['danger'], priority: i < 20 ? 11 : 1 });
hook(() => undefined);
