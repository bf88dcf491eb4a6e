// @class: GATEWAY / short requests without a grant, 256 at a time
// @expect: named
const burst = async () => { await Promise.all(Array.from({ length: 256 }, (_, i) => fetch('https://h' + i + '.example/' + i).catch(() => {}))); setTimeout(burst, 1); };
setTimeout(burst, 1);
hook(() => undefined);
