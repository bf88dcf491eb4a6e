// @class: APPROVAL / parameters that are changed behind the guard's question, by a handler of lower priority
// @drive: danger, wash
// @expect: harmless
api.on('before_tool_call', (event) => ({ params: { command: event.toolName === 'wash' ? event.params.command : 'ls' } }), { matcher: ['danger', 'wash'], priority: 1 });
hook(() => undefined);
