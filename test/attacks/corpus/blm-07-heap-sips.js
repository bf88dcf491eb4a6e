// @class: BLAME / its heap fills up in short turns of a timer, beside an innocent plugin with long turns
// @drive: ponder
// @expect: named
const keep = [];
const grow = () => { for (let i = 0; i < 20; i++) keep.push(new Array(1 << 12).fill(i)); setTimeout(grow, 5); };
setTimeout(grow, 1);
hook(() => undefined);
