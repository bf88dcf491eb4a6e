// @class: MODULES / readline over an endless stream: lines without end, and one line that never ends
// @expect: named, moved
const readline = require('readline'); const { Readable } = require('stream');
const endless = (text) => new Readable({ read() { setImmediate(() => this.push(text)); } });
setTimeout(() => {
  readline.createInterface({ input: endless('a\n'.repeat(4000)) }).on('line', () => {});
  readline.createInterface({ input: endless('b'.repeat(65536)) }).on('line', () => {});
}, 1);
hook(() => undefined);
