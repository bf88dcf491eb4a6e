/**
 * Trusted side: which descriptors a child would get although nobody meant it to. Node marks every file and socket it opens as its
 * own, but not those that the gateway itself was started with: a socket of systemd's, a file the shell redirected. On Linux
 * every child inherits them; elsewhere libuv closes them.
 */
import { closeSync, openSync, readdirSync, readFileSync } from "node:fs";
import type { StdioOptions } from "node:child_process";

export type Stdio = Extract<StdioOptions, readonly unknown[]>;

const CLOSED_ON_EXEC = 0o2000000;

let inherited: readonly number[] | undefined;

/** Starts something with these descriptors and no others: what else it would inherit leads nowhere. */
export function withOnly<T>(stdio: Stdio, start: (stdio: Stdio) => T): T {
  inherited ??= findInherited();
  const strays = inherited.filter((fd) => fd >= stdio.length);
  if (strays.length === 0) return start(stdio);
  const nowhere = openSync("/dev/null", "r");
  try {
    const all = [...stdio];
    for (let fd = stdio.length; fd <= strays.at(-1)!; fd++) all.push(strays.includes(fd) ? nowhere : "ignore");
    return start(all);
  } finally {
    closeSync(nowhere);
  }
}

/** Ascending. */
function findInherited(): number[] {
  if (process.platform !== "linux") return [];
  const fds = readdirSync("/proc/self/fdinfo").map(Number);
  return fds.filter(isPassedOn).toSorted((a, b) => a - b);
}

function isPassedOn(fd: number): boolean {
  try {
    const flags = /^flags:\s+(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "latin1"))?.[1];
    return (Number.parseInt(flags ?? "0", 8) & CLOSED_ON_EXEC) === 0;
  } catch {
    // It was the one of the listing itself.
    return false;
  }
}
