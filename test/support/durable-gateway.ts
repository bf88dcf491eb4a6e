/**
 * A gateway in a process of its own, to be killed: it emits `session:end` events of a durable hook, one after the other, and writes the
 * number of each before it is emitted and when it is committed. Run by durable-kills.ts.
 */
import { writeSync } from "node:fs";
import { flushCompileCache } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import { openHost, SessionEvents } from "creel";
import type { PluginSpec } from "creel";

const { stateDir, plugin, from, events, sessions, life, durable, paceMs } = JSON.parse(process.argv[2]!) as {
  stateDir: string;
  plugin: PluginSpec;
  from: number;
  events: number;
  sessions: number;
  life: number;
  durable: string[];
  paceMs: number;
};
const host = await openHost({
  isolation: "thread",
  lanes: 1,
  plugins: [plugin],
  config: { stateDir, hooks: { durable }, sandbox: { spare: false, walls: "none" }, audit: { enabled: false } },
  logger: { debug() {}, info() {}, warn() {}, error() {} },
});
const BURST = 8;
const commits: Promise<void>[] = [];
const tracker = new SessionEvents({
  stateDir,
  emit: (hook: string, event: object) => {
    const committed = host.emit(hook as never, event as never);
    if (committed) commits.push(committed.kept);
  },
});
// It never ends by itself, which is when Node would write its cache.
if (life === 0) flushCompileCache();
writeSync(1, "open\n");
for (let n = from; n < events; n++) {
  writeSync(1, `+${n}\n`);
  const sessionId = `s${n}`;
  tracker.started({ sessionId, sessionKey: `k${n % sessions}`, metadata: { workflowId: `w${n}-${life}`, n, life } });
  tracker.ended({ sessionId });
  await commits.pop();
  writeSync(1, `${n}\n`);
  // In bursts of random length, so that a life has both: events that follow each other at once, and time in which they are delivered.
  if (Math.random() < 1 / BURST) await sleep(Math.random() * 2 * BURST * paceMs);
}
setInterval(() => {}, 1_000);
