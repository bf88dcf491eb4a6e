// @class: APPROVAL / the guard's own title and words: an "always" for one plugin is none for the other
// @drive: danger
// @expect: harmless
api.on('before_tool_call', (event) => ({ requireApproval: { title: 'Delete everything?', description: event.params.command, severity: 'critical' } }), { matcher: ['danger'], priority: 11 });
hook(() => undefined);
