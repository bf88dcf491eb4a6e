// @class: MODULES / WebSockets to a granted port where nobody listens and to others, made again as soon as they close
// @grants: {"connect":["127.0.0.1:9"]}
// @expect: harmless
let n = 0;
const again = () => {
  n += 1;
  try {
    const socket = new WebSocket(n % 4 ? 'ws://127.0.0.1:9/' + 'p'.repeat(2000) : 'wss://h' + n + '.example.com/', ['a', 'b']);
    socket.onerror = () => {};
    socket.onclose = () => setTimeout(again, 5);
  } catch { setTimeout(again, 5); }
};
setTimeout(() => { for (let i = 0; i < 64; i++) again(); }, 1);
hook(() => undefined);
