// @class: GATEWAY / session patches of 20,000 keys, and session keys of 200 KB, without a grant, one behind the other
// @expect: named
const patch = { key: 'k' };
for (let i = 0; i < 20000; i++) patch['k' + i] = i;
const loop = async () => { for (;;) { await api.session.patch(patch).catch(() => {}); await api.session.get('attack:ping:' + 'x'.repeat(200 * 1024)).catch(() => {}); } };
setTimeout(() => { loop(); loop(); }, 1);
hook(() => undefined);
