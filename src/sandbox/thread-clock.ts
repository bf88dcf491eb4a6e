/**
 * Untrusted side: what the kernel knows about a thread, read from another one: how long it had a CPU, and whether it sleeps. A
 * lane that is stuck cannot be asked. Only Linux says; elsewhere nothing is known.
 */
import { availableParallelism } from "node:os";
import { LOAD, OWN_SCHEDSTAT, OWN_STAT, TASKS } from "../protocol/inherited.ts";

// Not imported, see main.ts.
const { openSync, readFileSync, readlinkSync, readSync } = process.getBuiltinModule("node:fs");
const CPUS = availableParallelism();

export interface ThreadTime {
  readonly cpuMs: number;
  readonly isAsleep: boolean;
}

/** Two descriptors in one number. */
const DESCRIPTORS = 2 ** 24;

/**
 * A number by which another thread finds the clock of this one: the kernel's own, or, negative, that of two files that this thread has
 * opened. Where Node's permission model is all there is, nobody may read below /proc/self/task, since a way to every file
 * leads through there; but a thread may open its own two files, by their names. 0: not known.
 */
export function ownThread(): number {
  try {
    if (process.permission?.has("fs.read", TASKS) ?? true) return Number(/(\d+)$/.exec(readlinkSync("/proc/thread-self"))?.[1] ?? 0);
    return -(openSync(OWN_STAT, "r") * DESCRIPTORS + openSync(OWN_SCHEDSTAT, "r"));
  } catch {
    return 0;
  }
}

/** How many threads want each CPU at this moment, without the one that asks; undefined: the kernel does not say. */
export function crowdNow(): number | undefined {
  try {
    const running = / (\d+)\/\d+ /.exec(readFileSync(LOAD, "latin1"))?.[1];
    return running === undefined ? undefined : (Number(running) - 1) / CPUS;
  } catch {
    return undefined;
  }
}

export function threadTime(thread: number): ThreadTime | undefined {
  if (thread === 0) return undefined;
  try {
    const [stat, schedstat] = thread > 0 ? named(thread) : opened(-thread);
    const [nanoseconds] = schedstat.split(" ");
    // The name in parentheses is the thread's own choice: the state follows the last one.
    return { cpuMs: Number(nanoseconds) / 1e6, isAsleep: stat.slice(stat.lastIndexOf(")") + 2)[0] !== "R" };
  } catch {
    return undefined;
  }
}

function named(thread: number): [stat: string, schedstat: string] {
  return [readFileSync(`${TASKS}/${thread}/stat`, "latin1"), readFileSync(`${TASKS}/${thread}/schedstat`, "latin1")];
}

function opened(descriptors: number): [stat: string, schedstat: string] {
  return [readAgain(Math.floor(descriptors / DESCRIPTORS)), readAgain(descriptors % DESCRIPTORS)];
}

const LINE = Buffer.alloc(1024);

/** From its beginning: such a file is written anew for everyone who reads it. */
function readAgain(fd: number): string {
  return LINE.toString("latin1", 0, readSync(fd, LINE, 0, LINE.length, 0));
}
