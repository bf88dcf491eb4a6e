// @class: GATEWAY / requests to granted names that do not resolve, 64 at a time
// @grants: {"fetch":["https://a.creel.invalid","https://b.creel.invalid","https://c.creel.invalid","https://d.creel.invalid"]}
// @expect: harmless
const names = ['a', 'b', 'c', 'd'];
const burst = async () => { await Promise.all(Array.from({ length: 64 }, (_, i) => fetch('https://' + names[i % 4] + '.creel.invalid/' + i).catch(() => {}))); setTimeout(burst, 50); };
setTimeout(burst, 1);
hook(() => undefined);
