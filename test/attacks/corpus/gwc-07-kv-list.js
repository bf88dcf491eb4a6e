// @class: GATEWAY / pages of 1 MB out of its own store, eight at a time
// @grants: {"kv":true}
// @expect: named
const value = 'x'.repeat(1000);
const fill = async () => { for (let i = 0; i < 1000; i++) await api.kv.set('k' + i, value).catch(() => {}); };
const pause = () => new Promise((resolve) => setTimeout(resolve, 50));
const loop = async () => { for (;;) await api.kv.list({ limit: 1000 }).catch(pause); };
setTimeout(() => { fill().then(() => { for (let i = 0; i < 8; i++) loop(); }); }, 1);
hook(() => undefined);
