/**
 * What `emit` of a durable hook costs its caller, against `emit` of the same hook without an outbox: both in one run, in turns, so that load
 * on the machine hits both. "Caller" is the time until `emit` returns; "thread" is the CPU time of the gateway's thread per event, with the
 * commit. `node -C source scripts/durable-cost.ts`
 */
import { mkdtempSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { openHost, sessionEndEvent } from "creel";

const ROUNDS = 40;
const EVENTS = 50;

const folder = mkdtempSync(join(tmpdir(), "creel-cost-"));
const open = (durable: string[]) =>
  openHost({
    lanes: 1,
    plugins: [{ id: "hearer", source: `export default (api) => { api.on("session:end", () => {}); };` }],
    config: {
      stateDir: join(folder, durable.length === 0 ? "plain" : "durable"),
      hooks: { durable },
      sandbox: { spare: false, walls: "none" },
      audit: { enabled: false },
    },
    logger: { debug() {}, info() {}, warn() {}, error() {} },
  });
const hosts = { plain: await open([]), durable: await open(["session:end"]) };
const times: Record<keyof typeof hosts, { caller: number[]; thread: number[] }> = {
  plain: { caller: [], thread: [] },
  durable: { caller: [], thread: [] },
};

let session = 0;
for (let round = -5; round < ROUNDS; round++)
  for (const [name, host] of Object.entries(hosts) as [keyof typeof hosts, (typeof hosts)["plain"]][]) {
    const events = Array.from({ length: EVENTS }, () => sessionEndEvent({ sessionId: "s", sessionKey: `k${session++}` }));
    const ended = until(name, EVENTS);
    const cpu = process.threadCpuUsage();
    const kept: unknown[] = [];
    for (const event of events) {
      const beganMs = performance.now();
      const emitted = host.emit("session:end", event);
      if (round >= 0) times[name].caller.push((performance.now() - beganMs) * 1000);
      kept.push(emitted?.kept);
    }
    await Promise.all(kept);
    if (round >= 0) times[name].thread.push(cpuOf(process.threadCpuUsage(cpu)) / EVENTS);
    await ended;
  }
const median = (list: number[]): number => list.toSorted((a, b) => a - b)[list.length >> 1]!;
const caller = { plain: median(times.plain.caller), durable: median(times.durable.caller) };
const thread = { plain: median(times.plain.thread), durable: median(times.durable.thread) };
const line = (what: string, { plain, durable }: typeof caller): string =>
  `${what}: plain ${plain.toFixed(1)} µs, durable ${durable.toFixed(1)} µs, ${(durable / plain).toFixed(1)} times`;
console.log(line("caller, p50", caller));
console.log(line("gateway's thread until committed, p50", thread));
console.log(`load ${loadavg()[0]!.toFixed(1)}`);
for (const host of Object.values(hosts)) await host.close();
rmSync(folder, { recursive: true });
process.exit(caller.durable > 10 * caller.plain ? 1 : 0);

function cpuOf({ user, system }: NodeJS.CpuUsage): number {
  return user + system;
}

/** Resolves when so many events were handled. */
function until(name: keyof typeof hosts, count: number): Promise<void> {
  return new Promise((resolve) => {
    let left = count;
    const done = (): void => {
      if (--left > 0) return;
      off();
      resolve();
    };
    const off = name === "plain" ? hosts.plain.on("run", done) : hosts.durable.on("delivery", done);
  });
}
