// @class: STARVE / turns of 5 ms, one behind the other, for ever: no single one is long
// @expect: moved, named
const turn = () => { const end = Date.now() + 5; while (Date.now() < end); setTimeout(turn, 0); };
setTimeout(turn, 1);
hook(() => undefined);
