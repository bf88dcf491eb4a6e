/**
 * Trusted side: lets the clocks of a sandbox's threads ring a little late. isolated-vm has a thread that sleeps until the timeout of each turn, long after
 * nearly all of those turns are over, and so is woken once per call, on a core that somebody else was using. Linux wakes a thread up to its
 * "timer slack" late, so that one awakening does for many. A thread inherits it from the one that starts it, through fork and exec, so it is
 * set here, around the start, and nothing has to be allowed to the sandbox for it.
 */
import { readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { LIMITS } from "../../protocol/limits.ts";

/** What is started meanwhile has slack clocks. Where there is no such thing, it is just started. */
export function withSlackClocks<T>(start: () => T): T {
  const file = ownSlackFile();
  const before = file && change(file, String(LIMITS.timerSlackMs * 1e6));
  try {
    return start();
  } finally {
    if (before) change(file, before);
  }
}

/** Of this thread; the kernel lets it change no other's. */
function ownSlackFile(): string {
  try {
    return `/proc/${/(\d+)$/.exec(readlinkSync("/proc/thread-self"))![1]}/timerslack_ns`;
  } catch {
    return "";
  }
}

/** Gives what it was before; undefined: it is as it was. */
function change(file: string, nanoseconds: string): string | undefined {
  try {
    const before = readFileSync(file, "latin1");
    writeFileSync(file, nanoseconds);
    return before;
  } catch {
    return undefined;
  }
}
