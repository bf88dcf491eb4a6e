// @class: GATEWAY / 60 refused requests at a time whose paths are 8,100 slashes: what the audit makes of them, without any grant
// @expect: named
const urls = Array.from({ length: 60 }, (_, i) => 'https://h' + i + '.example/' + '/'.repeat(8100));
const burst = async () => { await Promise.all(urls.map((url) => fetch(url).catch(() => {}))); setTimeout(burst, 100); };
setTimeout(burst, 1);
hook(() => undefined);
