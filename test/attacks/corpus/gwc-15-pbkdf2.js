// @class: GATEWAY / PBKDF2 with the most rounds and the most bits at the same time: a digest of ten bytes must not wait for it
// @copies: 2
// @expect: harmless
const derive = async () => {
  const key = await crypto.subtle.importKey('raw', new Uint8Array(16), 'PBKDF2', false, ['deriveBits']);
  await crypto.subtle.deriveBits({ name: 'PBKDF2', hash: 'SHA-1', salt: new Uint8Array(16), iterations: 1000000 }, key, 65536);
};
const loop = async () => { await derive().catch(() => {}); setTimeout(loop, 100); };
setTimeout(() => { loop(); loop(); }, 1);
hook(() => undefined);
