/**
 * Untrusted side, lane thread: CPU time of a turn, which is this thread's while it is inside a cell. The clock ticks in
 * milliseconds and costs more to read than a short turn, so a short turn is charged its wall time and only a long one read.
 */
import { LIMITS } from "../protocol/limits.ts";

let markUs = clockUs();
/** What short turns were charged since the mark. */
let chargedUs = 0;

export function turnCpuUs(wallMs: number): number {
  const wallUs = Math.round(wallMs * 1000);
  if (wallMs < LIMITS.quickTurnMs) {
    chargedUs += wallUs;
    return wallUs;
  }
  const nowUs = clockUs();
  const spentUs = nowUs - markUs - chargedUs;
  markUs = nowUs;
  chargedUs = 0;
  return Math.min(Math.max(spentUs, 0), wallUs);
}

function clockUs(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}
