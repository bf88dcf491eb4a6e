/**
 * Trusted side: keeps a child from inheriting descriptors that it was not given. Node marks every file and socket it
 * opens as close-on-exec, but not those that the gateway itself was started with, such as a socket of systemd or a
 * redirected file. On Linux every child inherits them; elsewhere libuv closes them.
 */
import { closeSync, openSync, readdirSync, readFileSync } from "node:fs";
import type { StdioOptions } from "node:child_process";

export type Stdio = Extract<StdioOptions, readonly unknown[]>;

const CLOSED_ON_EXEC = 0o2000000;

let inherited: readonly number[] | undefined;

/** Starts a child with these descriptors only: any other that it would inherit becomes /dev/null. */
export function withOnly<T>(stdio: Stdio, start: (stdio: Stdio) => T): T {
  inherited ??= findInherited();
  const strays = inherited.filter((fd) => fd >= stdio.length);
  if (strays.length === 0) return start(stdio);
  const devNull = openSync("/dev/null", "r");
  try {
    const all = [...stdio];
    for (let fd = stdio.length; fd <= strays.at(-1)!; fd++) all.push(strays.includes(fd) ? devNull : "ignore");
    return start(all);
  } finally {
    closeSync(devNull);
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
    // The descriptor of the listing itself.
    return false;
  }
}
