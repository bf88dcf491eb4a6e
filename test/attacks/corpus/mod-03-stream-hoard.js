// @class: MODULES / streams that take everything and give nothing: no back pressure, listeners and pipes without end
// @expect: named
const { PassThrough, Writable } = require('stream');
hook(async () => {
  const hoard = new PassThrough({ highWaterMark: 2 ** 40 });
  const never = new Writable({ write() {} });
  for (;;) {
    for (let i = 0; i < 1000; i++) { hoard.write(Buffer.alloc(1000)); hoard.pipe(new PassThrough()); never.write('x'.repeat(1000)); }
    await new Promise(setImmediate);
  }
});
