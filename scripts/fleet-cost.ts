/**
 * What a gate costs when a host of a fleet judges it over NATS, against the same host over its socket (`openHost({ connect })`) and
 * against a host in the gateway. One run, in turns, so that load on the machine hits all of them; p50 in µs, one call after the other and after
 * a rest of 5 ms; and, on Linux, processor time per gate with 64 in flight, by process: scripts/fleet-capacity.ts takes that of the host. Fails if a gate that
 * comes alone takes more than three times as long over NATS as over the socket. `node -C source scripts/fleet-cost.ts`
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openHost } from "creel";
import type { Host } from "creel";
import { makeSigningKey } from "../src/fleet/control/signature.ts";
import { startHostProcess } from "../test/support/fleet-failures.ts";
import { keysOf, Nats, noNats } from "../test/support/nats.ts";

const ROUNDS = 20;
const BURST = 100;
const RESTED = 10;
const MOST = 3;
const FLIGHT = 64;
const MANY = 20_000;

if (noNats !== undefined) throw new Error(noNats);
const logger = { debug() {}, info() {}, warn() {}, error() {} };
const plugins = [{ id: "gate", source: `export default (api) => { api.on("before_tool_call", () => {}); };` }];
const root = mkdtempSync(join(tmpdir(), "creel-cost-"));
const [one, gate] = [keysOf("one", "host"), keysOf("gate", "gateway")];
const nats = await Nats.start({ acme: [one, gate] });
const settings = { ...nats.accessOf(one), operators: [makeSigningKey().publicKey], auditDays: undefined };
const child = await startHostProcess(join(root, "one"), settings, plugins, { isolation: "process" });
const credentials = join(root, "gate.nk");
writeFileSync(credentials, gate.seed, { mode: 0o600 });
const hosts: Record<string, Host> = {
  embedded: await openHost({ lanes: 1, plugins, logger, config: { sandbox: { spare: false, walls: "none" }, audit: { enabled: false } } }),
  connect: await openHost({ connect: join(root, "one", "s.sock"), logger }),
  nats: await openHost({ fleet: { name: "gate", servers: nats.urls, credentials }, logger }),
};
const times: Record<string, { burst: number[]; rested: number[] }> = {};

async function call(host: Host): Promise<number> {
  const beganMs = performance.now();
  const { decision, unreachable } = await host.run("before_tool_call", { toolName: "t", params: {} }, { toolName: "t", sessionKey: "s" });
  if (decision !== "pass" || unreachable) throw new Error(`the gate was not judged: ${unreachable?.why}`);
  return (performance.now() - beganMs) * 1_000;
}

await sleep(1_000);
for (let round = -3; round < ROUNDS; round++)
  for (const [name, host] of Object.entries(hosts)) {
    const { burst, rested } = (times[name] ??= { burst: [], rested: [] });
    for (let n = 0; n < BURST; n++) {
      const us = await call(host);
      if (round >= 0) burst.push(us);
    }
    for (let n = 0; n < RESTED; n++) {
      await sleep(5);
      const us = await call(host);
      if (round >= 0) rested.push(us);
    }
  }
const at = (list: number[], share: number): number => list.toSorted((a, b) => a - b)[Math.floor(list.length * share)]!;
const rows = Object.entries(times).map(([name, { burst, rested }]) => ({
  name,
  "burst p50": Math.round(at(burst, 0.5)),
  "burst p99": Math.round(at(burst, 0.99)),
  "rested p50": Math.round(at(rested, 0.5)),
  "rested p99": Math.round(at(rested, 0.99)),
}));
console.table(rows);
const ratio = (of: "burst" | "rested"): number => at(times.nats![of], 0.5) / at(times.connect![of], 0.5);
console.log(
  `NATS / connect, p50: burst ${ratio("burst").toFixed(2)}, rested ${ratio("rested").toFixed(2)}; load ${loadavg()[0]!.toFixed(1)}`,
);
if (process.platform === "linux") {
  const used: Record<string, Record<string, string>> = {};
  for (const [name, host] of Object.entries(hosts)) used[name] = await processorTime(name, host);
  console.log(`processor time per gate, µs, ${FLIGHT} in flight:`);
  console.table(used);
}
for (const host of Object.values(hosts)) await host.close();
child.kill("SIGKILL");
await nats[Symbol.asyncDispose]();
rmSync(root, { recursive: true, force: true });
process.exit(ratio("rested") > MOST ? 1 : 0);

/** Of every process that takes part. */
async function processorTime(name: string, host: Host): Promise<Record<string, string>> {
  const pids: Record<string, readonly number[]> = {
    gateway: [process.pid],
    ...(name === "nats" && { "nats-server": [nats.pid()] }),
    ...(name !== "embedded" && { host: [child.pid!] }),
    sandbox: host.pids(),
  };
  const before = Object.entries(pids).map(([who, all]) => [who, all.reduce((sum, pid) => sum + ticksOf(pid), 0)] as const);
  let left = MANY;
  await Promise.all(
    Array.from({ length: FLIGHT }, async () => {
      while (left-- > 0) await call(host);
    }),
  );
  // A tick is a hundredth of a second.
  const perGate = (who: string, ticks: number): number =>
    ((pids[who]!.reduce((sum, pid) => sum + ticksOf(pid), 0) - ticks) * 10_000) / MANY;
  return Object.fromEntries(before.map(([who, ticks]) => [who, perGate(who, ticks).toFixed(1)]));
}

function ticksOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  return Number(fields[11]) + Number(fields[12]);
}
