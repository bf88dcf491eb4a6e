// @class: APPROVAL / the function that is told the answer loops, throws, and asks for more time
// @drive: danger
// @expect: harmless
api.on('before_tool_call', () => ({ requireApproval: { title: 'Save?', description: '', timeoutMs: 600000, timeoutBehavior: 'allow', onResolution: () => { for (;;); } } }), { matcher: ['danger'], priority: 11 });
hook(() => undefined);
