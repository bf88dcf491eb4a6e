// @class: GATEWAY / small files, appended lines and files of 200 KB, as many as there is time for
// @grants: {"fs":true}
// @expect: harmless
const fs = require('node:fs');
const base = '/home/plugin';
let n = 0;
const turn = () => {
  try {
    for (let i = 0; i < 100; i++) fs.writeFileSync(base + '/f' + (n++ % 3000), 'x');
    for (let i = 0; i < 50; i++) fs.appendFileSync(base + '/log', 'x'.repeat(10));
    fs.writeFileSync(base + '/big', 'y'.repeat(200000 + (n % 7)));
  } catch {}
  setTimeout(turn, 5);
};
setTimeout(turn, 1);
hook(() => undefined);
