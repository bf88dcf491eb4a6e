// @class: GATEWAY / connections to granted targets where nothing listens or resolves, 64 at a time
// @grants: {"connect":["127.0.0.1:9","a.creel.invalid:5432","b.creel.invalid:5432"]}
// @expect: harmless
const net = require('net');
const hosts = [['127.0.0.1', 9], ['a.creel.invalid', 5432], ['b.creel.invalid', 5432]];
const one = (i) => new Promise((done) => { const [host, port] = hosts[i % 3]; net.connect(port, host).on('error', () => {}).on('close', done); });
const burst = async () => { await Promise.all(Array.from({ length: 64 }, (_, i) => one(i))); setTimeout(burst, 20); };
setTimeout(burst, 1);
hook(() => undefined);
