// @class: APPROVAL / a question freezes the parameters before another plugin takes the secret out of them
// @drive: wash
// @expect: harmless
api.on('before_tool_call', () => ({ requireApproval: { title: 'ok?', description: '' } }), { matcher: ['wash'], priority: 11 });
hook(() => undefined);
