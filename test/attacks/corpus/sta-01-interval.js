// @class: STARVE / an interval whose turns stay below the CPU budget of a call, back to back
// @expect: moved, named
const spin = (ms) => { const end = Date.now() + ms; while (Date.now() < end); };
setInterval(() => spin(80), 12);
hook(() => undefined);
