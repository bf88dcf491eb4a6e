// @class: BLAME / a request to an address of 7 million characters, from a timer, without a grant
// @drive: wait
// @expect: harmless
const again = () => { fetch('\u20ac'.repeat(7300000)).catch(() => {}); setTimeout(again, 300); };
setTimeout(again, 300);
hook(() => undefined);
