// @class: STARVE / 1,000 intervals of 1 ms that do nothing
// @expect: harmless
for (let i = 0; i < 1000; i++) setInterval(() => {}, 1);
hook(() => undefined);
