/** Creel's sandbox processes below a gateway. */
import { readdirSync, readFileSync } from "node:fs";

export function sandboxesOf(gateway: number): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("sandbox/process") && ancestors(pid).includes(gateway);
      } catch {
        return false;
      }
    });
}

function ancestors(pid: number): number[] {
  const found: number[] = [];
  for (let at = pid; at > 1;) {
    at = Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${at}/status`, "utf8"))?.[1] ?? 0);
    found.push(at);
  }
  return found;
}
