// @class: STARVE / garbage of 20 MB in each turn of a timer: collecting it is the lane's time, too
// @expect: moved, named
const turn = () => { let kept; for (let i = 0; i < 20; i++) kept = new Array(1 << 17).fill(i); setTimeout(turn, 1); return kept; };
setTimeout(turn, 1);
hook(() => undefined);
