// @class: APPROVAL / a question about 18,000 parameters, then thirty handlers that change one of them each: the gateway compares
// @drive: danger
// @expect: harmless
api.on('before_tool_call', () => ({ params: Object.fromEntries(Array.from({ length: 18000 }, (_, i) => ['k' + i, 1])), requireApproval: { title: 'Save?', description: '' } }), { matcher: ['danger'], priority: 11 });
for (let i = 0; i < 30; i++) api.on('before_tool_call', () => ({ params: { k0: i } }), { matcher: ['danger'], priority: 1 });
hook(() => undefined);
