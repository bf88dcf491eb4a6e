/** Processor time of this process and of others, in nanoseconds resolution: the kernel's ticks of 10 ms are too coarse for a block of calls. */
import { readdirSync, readFileSync } from "node:fs";

/** In milliseconds: this process with all its threads, and the families of the others. */
export function processorMs(pids: readonly number[]): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000 + pids.reduce((sum, pid) => sum + ofFamily(pid), 0);
}

/** Walls around a sandbox are processes, too; the sandbox itself is the last of them. */
function ofFamily(pid: number): number {
  let ms = 0;
  for (const task of entries(`/proc/${pid}/task`)) {
    ms += Number(read(`/proc/${pid}/task/${task}/schedstat`).split(" ")[0] ?? 0) / 1e6;
    for (const child of read(`/proc/${pid}/task/${task}/children`).split(" ")) if (child !== "") ms += ofFamily(Number(child));
  }
  return ms;
}

function entries(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    return "";
  }
}
