// @class: GATEWAY / 150 refused requests at a time whose paths are percent signs, encoded 4,000 times over
// @grants: {"fetch":[{"origin":"https://api.example.com","pathPrefix":"/v1"}]}
// @expect: harmless
const url = 'https://api.example.com/v1/%' + '25'.repeat(4000) + '2e%252e/';
const burst = async () => { await Promise.all(Array.from({ length: 150 }, () => fetch(url).catch(() => {}))); setTimeout(burst, 100); };
setTimeout(burst, 1);
hook(() => undefined);
