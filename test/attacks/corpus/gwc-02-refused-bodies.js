// @class: GATEWAY / requests with bodies of 1 MB, without a grant, one behind the other
// @expect: named
const body = '\u0001'.repeat(1024 * 1024 - 1);
const loop = async () => { for (;;) await fetch('https://x.example/', { method: 'POST', body }).catch(() => {}); };
setTimeout(() => { loop(); loop(); }, 1);
hook(() => undefined);
