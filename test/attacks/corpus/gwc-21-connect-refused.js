// @class: GATEWAY / connections that were not granted, TLS of them, and look-ups of every name, without a pause
// @expect: named
const net = require('net'); const tls = require('tls'); const dns = require('dns');
let n = 0;
const one = () => new Promise((done) => { n += 1; const socket = n % 2 ? net.connect(5432, 'h' + n + '.example.com') : tls.connect({ host: '10.0.0.' + (n % 250), port: 443, servername: 'x'.repeat(250) }); socket.on('error', () => {}).on('close', done); });
const look = () => new Promise((done) => dns.lookup('n' + n + '.example.com', done));
const loop = async () => { for (;;) { await one(); await look(); } };
setTimeout(() => { for (let i = 0; i < 16; i++) loop(); }, 1);
hook(() => undefined);
