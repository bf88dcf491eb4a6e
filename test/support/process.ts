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

/** Who is left of a session: those that whoever began it has started, and what they have. */
export function membersOf(session: number): number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => {
      if (!Number.isInteger(pid) || !isAlive(pid)) return false;
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
        return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[3]) === session;
      } catch {
        // It ended meanwhile.
        return false;
      }
    });
}

export const threadCount = (): number => readdirSync("/proc/self/task").length;
export const descriptorCount = (): number => readdirSync("/proc/self/fd").length;
