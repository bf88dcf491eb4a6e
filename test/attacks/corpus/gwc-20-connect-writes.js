// @class: GATEWAY / writes of megabytes to sockets that never open, which wait in the cell
// @grants: {"connect":["127.0.0.1:9","a.creel.invalid:5432"]}
// @expect: harmless
const net = require('net');
const text = 'x'.repeat(1e6);
const one = () => { const socket = net.connect(5432, 'a.creel.invalid').on('error', () => {}); for (let i = 0; i < 8; i++) socket.write(text); socket.on('close', () => setTimeout(one, 10)); };
setTimeout(() => { one(); one(); }, 1);
hook(() => undefined);
