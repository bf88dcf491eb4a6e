// @class: STARVE / 300 timers due at the same moment, each with a turn below the budget
// @expect: moved, named
const spin = () => { const end = Date.now() + 80; while (Date.now() < end); setTimeout(spin, 1000); };
for (let i = 0; i < 300; i++) setTimeout(spin, 1000);
hook(() => undefined);
