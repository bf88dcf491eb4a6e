// @class: STARVE / 64 answers of the host at once, with a turn below the budget after each
// @expect: moved, named
const spin = (ms) => { const end = Date.now() + ms; while (Date.now() < end); };
const again = async () => { for (;;) { await host.call('sleep', 200).catch(() => {}); spin(80); } };
setTimeout(() => { for (let i = 0; i < 64; i++) again(); }, 1);
hook(() => undefined);
