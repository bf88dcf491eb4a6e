// @class: STARVE / 40 timers due together every 3 s: a synchronous gate beside them must not be let pass
// @expect: moved, named
const spin = () => { const end = Date.now() + 80; while (Date.now() < end); setTimeout(spin, 3000); };
for (let i = 0; i < 40; i++) setTimeout(spin, 1000);
hook(() => undefined);
