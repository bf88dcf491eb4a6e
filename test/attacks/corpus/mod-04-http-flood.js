// @class: MODULES / http requests with long bodies, endless headers and agents, to a granted port where nobody listens
// @grants: {"fetch":["http://127.0.0.1:9"],"connect":["127.0.0.1:9"]}
// @expect: harmless
const http = require('http'); const net = require('net');
const agent = new http.Agent({ keepAlive: true, maxSockets: Infinity });
const headers = Object.fromEntries(Array.from({ length: 200 }, (_, i) => ['x-' + i, 'y'.repeat(100)]));
const own = () => net.connect(9, '127.0.0.1');
const one = (i) => new Promise((done) => {
  try {
    const request = http.request({ host: '127.0.0.1', port: 9, method: 'POST', agent, headers, ...(i % 2 && { createConnection: own }) });
    request.on('error', () => {}).on('close', done);
    request.end(Buffer.alloc(200_000));
  } catch { done(); }
});
const burst = async () => { await Promise.all(Array.from({ length: 32 }, (_, i) => one(i))); setTimeout(burst, 20); };
setTimeout(burst, 1);
hook(() => undefined);
