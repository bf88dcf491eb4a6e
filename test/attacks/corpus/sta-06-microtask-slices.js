// @class: STARVE / 90 ms of microtasks in slices of 1 ms after each timer
// @expect: moved, named
const slice = () => { const end = Date.now() + 1; while (Date.now() <= end); };
const turn = async () => { for (let i = 0; i < 45; i++) { slice(); await null; } setTimeout(turn, 1); };
setTimeout(turn, 1);
hook(() => undefined);
