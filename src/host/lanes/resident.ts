/**
 * Trusted side: how much memory a sandbox process takes, as the kernel counts it. The process itself is not asked: it may be
 * frozen, or hostile. Only Linux says; elsewhere nothing is known.
 */
import { readFileSync } from "node:fs";

/** Gives a function that is cheap to call again and again: one small file is read. */
export function residentMeter(started: number | undefined, wrappers: number): () => number | undefined {
  let node: number | undefined;
  return () => {
    if (started === undefined || process.platform !== "linux") return undefined;
    try {
      node ??= descendant(started, wrappers);
      if (node === undefined) return undefined;
      const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${node}/status`, "latin1"))?.[1];
      return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
    } catch {
      // It was a process of the wrapper's that is over, or Node itself is gone.
      node = undefined;
      return undefined;
    }
  };
}

/** The child of the child, so many generations down; undefined: not there yet. */
function descendant(pid: number, generations: number): number | undefined {
  if (generations === 0) return pid;
  const child = readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1").split(" ").find(Boolean);
  return child === undefined ? undefined : descendant(Number(child), generations - 1);
}
