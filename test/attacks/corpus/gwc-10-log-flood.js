// @class: GATEWAY / 200 log lines of 4 KB in each turn of a timer
// @expect: harmless
const line = 'l'.repeat(4096);
const turn = () => { for (let i = 0; i < 200; i++) host.log(line); setTimeout(turn, 1); };
setTimeout(turn, 1);
hook(() => undefined);
