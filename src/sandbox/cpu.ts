/**
 * Untrusted side, lane thread: CPU time of a turn, which is this thread's while it is inside a cell. The clock ticks in
 * milliseconds and costs more to read than a short turn, so a short turn is charged its wall time and only a long one read.
 */
const LONG_MS = 1;
let markUs = 0;

/** Before a turn, or once before a batch of them. */
export function markCpu(): void {
  const { user, system } = process.threadCpuUsage();
  markUs = user + system;
}

export function turnCpuUs(wallMs: number): number {
  const wallUs = Math.round(wallMs * 1000);
  if (wallMs < LONG_MS) return wallUs;
  const before = markUs;
  markCpu();
  return Math.min(markUs - before, wallUs);
}
