// @class: GATEWAY / errors with long chains of causes, thrown by timers and left in promises
// @expect: harmless
const deep = () => { let error = new Error('x'.repeat(1000)); for (let i = 0; i < 50; i++) error = new Error('x'.repeat(1000), { cause: error }); return error; };
const turn = () => { setTimeout(turn, 2); Promise.reject(deep()); throw deep(); };
setTimeout(turn, 1);
hook(() => undefined);
