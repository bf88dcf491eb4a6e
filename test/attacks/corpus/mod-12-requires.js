// @class: MODULES / createRequire, require and import() of names that do not exist, and files of its folder read again and again
// @expect: named
const { createRequire } = require('module'); const fs = require('fs');
const own = createRequire('/plugin/index.js');
hook(() => {
  for (let i = 0; ; i++) {
    for (const name of ['../'.repeat(500) + 'etc/passwd', 'node:' + 'x'.repeat(10_000) + i, '/proc/self/environ', '\u0000', 'openclaw/plugin-sdk/' + i]) { try { own(name); } catch {} try { own.resolve(name); } catch {} }
    try { fs.readdirSync('/plugin', { recursive: true }); } catch {}
  }
});
