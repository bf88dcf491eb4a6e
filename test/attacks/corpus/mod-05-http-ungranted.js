// @class: MODULES / http, https and EventSource towards what was not granted, in every spelling, without a pause
// @expect: named
const http = require('http'); const https = require('https');
const hosts = ['169.254.169.254', '127.0.0.1', '[::1]', '2130706433', 'metadata.google.internal', 'a@127.0.0.1'];
let n = 0;
const one = () => new Promise((done) => {
  const host = hosts[n++ % hosts.length];
  try { (n % 2 ? http : https).get({ host, path: '//' + host + '/latest', headers: { host: 'granted.example.com' }, setHost: false }).on('error', () => {}).on('close', done); } catch { setTimeout(done, 0); }
});
const loop = async () => { for (;;) await one(); };
setTimeout(() => { for (let i = 0; i < 8; i++) { loop(); new EventSource('http://' + hosts[i % 4] + '/events'); } }, 1);
hook(() => undefined);
