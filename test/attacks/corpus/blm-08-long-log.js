// @class: BLAME / log lines of 7 million characters, from a timer
// @drive: wait
// @expect: harmless
const line = '\u20ac'.repeat(7300000);
const say = () => { host.log(line); setTimeout(say, 300); };
setTimeout(say, 300);
hook(() => undefined);
