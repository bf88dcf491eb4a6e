// @class: MODULES / an endless stream through gzip and gunzip, a piece in every turn
// @expect: named, moved
const { Readable } = require('stream'); const zlib = require('zlib');
const piece = Buffer.from(Array.from({ length: 65536 }, (_, i) => (i * 2654435761) >>> 13 & 255));
const endless = () => new Readable({ read() { setImmediate(() => this.push(piece)); } });
setTimeout(() => { for (let i = 0; i < 8; i++) endless().pipe(zlib.createGzip()).pipe(zlib.createGunzip()).resume(); }, 1);
hook(() => undefined);
