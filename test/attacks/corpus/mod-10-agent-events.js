// @class: MODULES / events of an agent and context for its next turn, long and without a pause
// @expect: named
const text = 'x'.repeat(60_000);
const one = (i) => { try { api.emitAgentEvent({ runId: 'r' + i, stream: 'tool', data: { text } }); } catch {} return api.enqueueNextTurnInjection({ sessionKey: 'main', text, idempotencyKey: 'k' + i }); };
const loop = async () => { for (let i = 0; ; i++) { try { await one(i); } catch {} await new Promise(setImmediate); } };
setTimeout(() => { for (let i = 0; i < 8; i++) loop(); }, 1);
hook(() => undefined);
