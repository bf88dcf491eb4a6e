// @class: GATEWAY / an error with a message of 1 MB and a stack of 1 MB in each call
// @drive: own
// @expect: named
const long = '\u20ac'.repeat(1 << 20);
hook(() => { const error = new Error(long); error.stack = long; throw error; });
