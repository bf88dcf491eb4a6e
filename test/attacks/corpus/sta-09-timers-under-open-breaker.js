// @class: STARVE / its call is stopped, and its timers go on under the open breaker
// @expect: moved, named
const spin = (ms) => { const end = Date.now() + ms; while (Date.now() < end); };
setInterval(() => spin(60), 5);
hook(() => { for (;;); });
