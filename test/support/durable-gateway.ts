/**
 * A gateway in a process of its own, to be killed: it emits `session:end` events of a durable hook, one after the other, and writes the
 * number of each that is committed. Run by durable-kills.ts.
 */
import { writeSync } from "node:fs";
import { flushCompileCache } from "node:module";
import { openHost, SessionEvents } from "creel";
import type { PluginSpec } from "creel";

const { stateDir, plugin, from, events, sessions, life, durable } = JSON.parse(process.argv[2]!) as {
  stateDir: string;
  plugin: PluginSpec;
  from: number;
  events: number;
  sessions: number;
  life: number;
  durable: string[];
};
const host = await openHost({
  isolation: "thread",
  lanes: 1,
  plugins: [plugin],
  config: { stateDir, hooks: { durable }, sandbox: { spare: false, walls: "none" }, audit: { enabled: false } },
  logger: { debug() {}, info() {}, warn() {}, error() {} },
});
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
  const sessionId = `s${n}`;
  tracker.started({ sessionId, sessionKey: `k${n % sessions}`, metadata: { workflowId: `w${n}-${life}`, n, life } });
  tracker.ended({ sessionId });
  await commits.pop();
  writeSync(1, `${n}\n`);
  if (n % 16 === 0) await new Promise((resolve) => setImmediate(resolve));
}
setInterval(() => {}, 1_000);
