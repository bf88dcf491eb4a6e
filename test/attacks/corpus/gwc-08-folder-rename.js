// @class: GATEWAY / a folder of 3,000 files is renamed a hundred times in each turn
// @grants: {"fs":true}
// @expect: harmless
const fs = require('node:fs');
const base = '/home/plugin';
let [made, n] = [0, 0];
const make = () => {
  try {
    if (made === 0) fs.mkdirSync(base + '/d0', { recursive: true });
    for (let i = 0; i < 300; i++) fs.writeFileSync(base + '/d0/f' + made++, 'x');
  } catch {}
  setTimeout(made < 3000 ? make : move, 30);
};
const move = () => {
  try { for (let i = 0; i < 100; i++, n++) fs.renameSync(base + '/d' + (n % 2), base + '/d' + ((n + 1) % 2)); } catch {}
  setTimeout(move, 5);
};
setTimeout(make, 1);
hook(() => undefined);
