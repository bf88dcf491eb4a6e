/**
 * Untrusted side: what the kernel knows about a thread, read from another one: how long it had a CPU, and whether it sleeps. A
 * lane that is stuck cannot be asked. Only Linux says; elsewhere nothing is known.
 */
import { readFileSync, readlinkSync } from "node:fs";
import { availableParallelism } from "node:os";

const CPUS = availableParallelism();

export interface ThreadTime {
  readonly cpuMs: number;
  readonly isAsleep: boolean;
}

/** The kernel's number of the calling thread; 0: not known. */
export function ownThread(): number {
  try {
    return Number(/(\d+)$/.exec(readlinkSync("/proc/thread-self"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/** How many threads want each CPU at this moment; undefined: the kernel does not say. */
export function crowdNow(): number | undefined {
  try {
    const running = / (\d+)\/\d+ /.exec(readFileSync("/proc/loadavg", "latin1"))?.[1];
    return running === undefined ? undefined : Number(running) / CPUS;
  } catch {
    return undefined;
  }
}

export function threadTime(thread: number): ThreadTime | undefined {
  if (thread === 0) return undefined;
  try {
    const [nanoseconds] = readFileSync(`/proc/self/task/${thread}/schedstat`, "latin1").split(" ");
    const stat = readFileSync(`/proc/self/task/${thread}/stat`, "latin1");
    // The name in parentheses is the thread's own choice: the state follows the last one.
    return { cpuMs: Number(nanoseconds) / 1e6, isAsleep: stat.slice(stat.lastIndexOf(")") + 2)[0] !== "R" };
  } catch {
    return undefined;
  }
}
