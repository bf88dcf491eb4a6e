/**
 * Untrusted side: a thread's CPU time and state, as the kernel reports them to another thread. A lane that is stuck
 * cannot answer questions about itself. Linux only; on other systems the functions return undefined.
 */
import { availableParallelism } from "node:os";
import { LOAD, OWN_SCHEDSTAT, OWN_STAT, OWN_SYSCALL, TASKS } from "../../transport/inherited-fds.ts";

// Not imported, see lane/thread.ts.
const { openSync, readFileSync, readSync } = process.getBuiltinModule("node:fs");
const CPUS = availableParallelism();

export interface ThreadTime {
  readonly cpuMs: number;
  /**
   * In a timed sleep, which is how isolated-vm parks a thread that has run out of memory. A thread that waits for a CPU
   * or for a lock is not asleep: a loop that V8 is stopping waits for a lock, and on a busy machine it waits long.
   */
  readonly isAsleep: boolean;
  /** Memory that it has touched for the first time since it started. */
  readonly touchedBytes: number;
}

/** Three file descriptors are packed into one number, to this base. */
const DESCRIPTORS = 2 ** 17;

/** System call numbers of `nanosleep` and `clock_nanosleep`. On other architectures every sleep counts. */
const SLEEPS: Readonly<Record<string, readonly string[]>> = { x64: ["35", "230"], arm64: ["101", "115"] };

/**
 * A number by which another thread finds the clock of this one. Positive: the kernel's thread id. Negative: three open
 * files of this thread. 0: unknown. The files are for Node's permission model, which as of Node 24 does not let a
 * thread read the link that names its id. Where that model is the only wall, it forbids /proc/self/task as well,
 * because every file can be reached through it. But a thread may open its own files by their names.
 */
export function ownThread(): number {
  try {
    // The first field is the thread id.
    if (process.permission === undefined) return Number.parseInt(readFileSync(OWN_STAT, "latin1"), 10);
    return -((openSync(OWN_STAT, "r") * DESCRIPTORS + openSync(OWN_SCHEDSTAT, "r")) * DESCRIPTORS + openSyscall());
  } catch {
    return 0;
  }
}

/** 0: this kernel does not have the file. */
function openSyscall(): number {
  try {
    return openSync(OWN_SYSCALL, "r");
  } catch {
    return 0;
  }
}

/** Stays open: it is read with every look at the lanes, also between lone calls. One system call instead of six. */
let load: number | undefined;

/** How many threads want each CPU at this moment, without the calling thread; undefined: the kernel does not say. */
export function readCpuPressure(): number | undefined {
  try {
    load ??= openSync(LOAD, "r");
    const running = / (\d+)\/\d+ /.exec(readAgain(load))?.[1];
    return running === undefined ? undefined : (Number(running) - 1) / CPUS;
  } catch {
    return undefined;
  }
}

export function threadTime(thread: number): ThreadTime | undefined {
  if (thread === 0) return undefined;
  try {
    const read = thread > 0 ? named(thread) : opened(-thread);
    const [stat, schedstat] = [read("stat"), read("schedstat")];
    const [nanoseconds] = schedstat.split(" ");
    const { state, touchedBytes } = readStat(stat);
    return { cpuMs: Number(nanoseconds) / 1e6, isAsleep: state === "S" && sleeps(read), touchedBytes };
  } catch {
    return undefined;
  }
}

const PAGE_BYTES = 4_096;

/**
 * Parses `/proc/<thread>/stat`: the thread's state, the memory it touched for the first time, and the memory of its
 * process.
 */
export function readStat(stat: string): { state: string; touchedBytes: number; rssBytes: number } {
  // A thread chooses the name in parentheses, so look for the last one: the state follows it.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return { state: fields[0]!, touchedBytes: Number(fields[7]) * PAGE_BYTES, rssBytes: Number(fields[21]) * PAGE_BYTES };
}

type Read = (file: "stat" | "schedstat" | "syscall") => string;

/** Is it in a timed sleep? True if the kernel does not say. */
function sleeps(read: Read): boolean {
  const numbers = SLEEPS[process.arch];
  if (!numbers) return true;
  try {
    return numbers.includes(read("syscall").split(" ")[0]!.trim());
  } catch {
    return true;
  }
}

function named(thread: number): Read {
  return (file) => readFileSync(`${TASKS}/${thread}/${file}`, "latin1");
}

function opened(descriptors: number): Read {
  const syscall = descriptors % DESCRIPTORS;
  const rest = (descriptors - syscall) / DESCRIPTORS;
  const fds = { stat: Math.floor(rest / DESCRIPTORS), schedstat: rest % DESCRIPTORS, syscall };
  return (file) => {
    if (fds[file] === 0) throw new RangeError(`no descriptor for ${file}`);
    return readAgain(fds[file]);
  };
}

const LINE = Buffer.alloc(1024);

/** From position 0: the kernel generates such a file anew for each read from its start. */
function readAgain(fd: number): string {
  return LINE.toString("latin1", 0, readSync(fd, LINE, 0, LINE.length, 0));
}
