// @class: BLAME / one question to the host whose text is allowed in characters and too long in bytes
// @drive: own, wait
// @expect: harmless
const key = '\u20ac'.repeat(10000);
hook(() => { api.kv.getMany(Array.from({ length: 720 }, () => key)).catch(() => {}); });
