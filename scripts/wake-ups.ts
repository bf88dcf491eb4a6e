/**
 * How often a lone call wakes threads, in the gateway and in the sandbox: voluntary context switches of each thread by the kernel's count, per
 * call. Unlike times, they hardly depend on what else the machine does. Usage: node -C source scripts/wake-ups.ts [ms between calls] [calls]
 */
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { creel } from "../bench/creel.ts";
import { processFloor } from "../bench/floors/process.ts";
import { threadFloor } from "../bench/floors/thread.ts";
import { TAILORING } from "../bench/handlers.ts";
import type { Contestant } from "../src/cli/bench/contestant.ts";

const [paceMs = 5, calls = 400] = process.argv.slice(2).map(Number);
/** Until V8 has compiled what a call executes. */
const WARM_UPS = 1_500;

interface Thread {
  readonly name: string;
  readonly switches: number;
  /** CPU time. */
  readonly us: number;
}

/** Threads of a process and of all that it has started. One that ends meanwhile is left out. */
function threadsOf(pid: number, found = new Map<string, Thread>()): Map<string, Thread> {
  try {
    for (const id of readdirSync(`/proc/${pid}/task`)) {
      const folder = `/proc/${pid}/task/${id}`;
      const status = readFileSync(`${folder}/status`, "utf8");
      const field = (name: string): string => status.match(new RegExp(`^${name}:\\s+(.*)$`, "m"))![1]!;
      const children = readFileSync(`${folder}/children`, "utf8").split(" ").filter(Boolean);
      found.set(id, {
        name: `${pid === process.pid ? "gateway" : `process ${pid}`}, ${field("Name")} ${id}`,
        switches: Number(field("voluntary_ctxt_switches")),
        us: Number(readFileSync(`${folder}/schedstat`, "utf8").split(" ")[0]) / 1000,
      });
      for (const child of children) threadsOf(Number(child), found);
    }
  } catch {
    // It has ended.
  }
  return found;
}

async function measure(subject: Contestant): Promise<void> {
  for (let at = 0; at < WARM_UPS; at++) await subject.call(at);
  await sleep(2_000);
  const before = threadsOf(process.pid);
  for (let at = 0; at < calls; at++) {
    await subject.call(at);
    await sleep(paceMs);
  }
  let [allSwitches, allUs] = [0, 0];
  for (const [id, { name, switches, us }] of threadsOf(process.pid)) {
    const first = before.get(id);
    const perCall = [(switches - (first?.switches ?? 0)) / calls, (us - (first?.us ?? 0)) / calls] as const;
    allSwitches += perCall[0];
    allUs += perCall[1];
    if (perCall[0] >= 0.02) console.log(line(...perCall, name));
  }
  console.log(line(allSwitches, allUs, "together"));
}

const line = (switches: number, us: number, name: string): string =>
  `  ${switches.toFixed(2)} switches ${us.toFixed(0).padStart(4)} µs  ${name}`;

for (const open of [
  () => threadFloor(TAILORING),
  () => creel(TAILORING, { isolation: "thread" }),
  () => processFloor(TAILORING),
  () => creel(TAILORING, { isolation: "process" }),
]) {
  await using subject: Contestant = await open();
  console.log(`${subject.name}, a call every ${paceMs} ms:`);
  await measure(subject);
}
