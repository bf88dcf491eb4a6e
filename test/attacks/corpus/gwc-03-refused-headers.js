// @class: GATEWAY / requests with 4,000 headers, without a grant, one behind the other
// @expect: named
const headers = Object.fromEntries(Array.from({ length: 4000 }, (_, i) => ['a' + i, 'v']));
const loop = async () => { for (;;) await fetch('https://x.example/', { headers }).catch(() => {}); };
setTimeout(() => { loop(); loop(); }, 1);
hook(() => undefined);
