/**
 * Trusted side: reads the resident memory of a process from the kernel. The process itself is not asked: it may be
 * frozen, or hostile. Only Linux tells; elsewhere it is unknown.
 */
import { readFileSync } from "node:fs";

const GONE: ReadonlySet<string | undefined> = new Set(["ENOENT", "ESRCH"]);

/**
 * Gives a function that is cheap to call: it reads one small file. `wrappers`: processes between the one that was
 * started and Node.
 */
export function rssReader(started: number | undefined, wrappers: number): () => number | undefined {
  let node: number | undefined;
  let last: number | undefined;
  return () => {
    if (started === undefined || process.platform !== "linux") return undefined;
    try {
      node ??= descendant(started, wrappers);
      if (node === undefined) return undefined;
      const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${node}/status`, "latin1"))?.[1];
      last = kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
    } catch (error) {
      // A process of the wrapper has ended, or Node itself. Otherwise the gateway has no descriptor left, and nothing is known.
      if (!GONE.has((error as NodeJS.ErrnoException).code)) return last;
      node = undefined;
      last = undefined;
    }
    return last;
  };
}

/** The first child, so many generations down; undefined: not started yet. */
function descendant(pid: number, generations: number): number | undefined {
  if (generations === 0) return pid;
  const child = readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1").split(" ").find(Boolean);
  return child === undefined ? undefined : descendant(Number(child), generations - 1);
}
