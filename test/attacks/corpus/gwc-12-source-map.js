// @class: GATEWAY / errors out of a bundle of 2 MB, whose places are looked up in its source map
// @pad: 'function pad() { return [1, 2, 3].map((x) => x + 1); }\n'.repeat(40000)
// @drive: own
// @expect: harmless
let n = 0;
hook(() => { n++; const depth = (left) => { if (left === 0) throw new Error('at ' + n); depth(left - 1); }; depth(n % 50); });
