/** Processes as Linux shows them: whether one is alive, who its children are, what it holds open. */
import { readdirSync, readFileSync } from "node:fs";

/** A zombie that nobody has collected yet is gone all the same. */
export function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return !["Z", "X"].includes(stat.slice(stat.lastIndexOf(")") + 2)[0]!);
  } catch {
    return false;
  }
}

export function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) => {
    try {
      return readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").split(" ").filter(Boolean).map(Number);
    } catch {
      // The thread ended meanwhile.
      return [];
    }
  });
}

export const threadCount = (): number => readdirSync("/proc/self/task").length;
export const descriptorCount = (): number => readdirSync("/proc/self/fd").length;
