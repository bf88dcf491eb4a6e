// @class: MODULES / a gzip bomb of its own making, opened in one call of zlib after another
// @expect: named
const zlib = require('zlib');
const bomb = zlib.gzipSync(zlib.gzipSync(Buffer.alloc(4e6)));
const open = () => { for (;;) { const inner = zlib.gunzipSync(bomb); const all = []; for (;;) all.push(zlib.gunzipSync(inner)); } };
hook(() => open());
