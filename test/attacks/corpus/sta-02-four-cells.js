// @class: STARVE / four cells, each with an interval whose turns stay below the budget
// @copies: 4
// @expect: moved, named
const spin = (ms) => { const end = Date.now() + ms; while (Date.now() < end); };
setInterval(() => spin(80), 1);
hook(() => undefined);
