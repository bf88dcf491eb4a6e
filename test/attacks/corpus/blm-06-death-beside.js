// @class: BLAME / a timer makes V8 give up, beside an innocent plugin with long turns
// @drive: ponder, keep
// @expect: named, stopped
setTimeout(() => { const keep = []; for (;;) keep.push(new Array(1 << 20).fill(keep.length)); }, 500);
hook(() => undefined);
