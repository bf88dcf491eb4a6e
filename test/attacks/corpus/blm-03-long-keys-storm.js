// @class: BLAME / the same question from a timer, again whenever it is loaded, without a grant
// @drive: wait
// @expect: harmless
const key = '\u20ac'.repeat(10000);
const again = () => { api.kv.getMany(Array.from({ length: 720 }, () => key)).catch(() => {}); setTimeout(again, 300); };
setTimeout(again, 300);
hook(() => undefined);
