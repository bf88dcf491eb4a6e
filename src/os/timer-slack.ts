/**
 * Trusted side: lets the timers of a sandbox's threads fire a little late. isolated-vm has a thread that sleeps until
 * the timeout of each turn, long after nearly all of those turns have ended, and so wakes once per call, on a core that
 * another thread was using. Linux may wake a thread up to its "timer slack" late, so that one wake-up serves many
 * timers. A thread inherits its slack from the thread that starts it, through fork and exec. So it is set here, around
 * the start, and the sandbox needs no permission for it.
 */
import { readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { LIMITS } from "../protocol/limits.ts";

/** What `start` starts has slack timers, where the system has them. */
export function withTimerSlack<T>(start: () => T): T {
  const file = ownSlackFile();
  const before = file && change(file, String(LIMITS.sandbox.timerSlackMs * 1e6));
  try {
    return start();
  } finally {
    if (before) change(file, before);
  }
}

/** Of this thread: the kernel lets a thread change only its own. */
function ownSlackFile(): string {
  try {
    return `/proc/${/(\d+)$/.exec(readlinkSync("/proc/thread-self"))![1]}/timerslack_ns`;
  } catch {
    return "";
  }
}

/** Gives the old value; undefined: nothing was changed. */
function change(file: string, nanoseconds: string): string | undefined {
  try {
    const before = readFileSync(file, "latin1");
    writeFileSync(file, nanoseconds);
    return before;
  } catch {
    return undefined;
  }
}
