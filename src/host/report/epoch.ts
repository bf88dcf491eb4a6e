/** Trusted side: moments of performance.now(), which costs less and never jumps, as milliseconds since 1970. */

/** Below this, the clocks agree: a moment must not change between two readers. Above, the clock was set, or the machine slept. */
const TOLERATED_MS = 100;

let originMs = Date.now() - performance.now();

export function epochMs(momentMs: number): number {
  return Math.round(preciseEpochMs(momentMs));
}

/** With fractions: a call takes microseconds. */
export function preciseEpochMs(momentMs: number): number {
  const freshMs = Date.now() - performance.now();
  if (Math.abs(freshMs - originMs) > TOLERATED_MS) originMs = freshMs;
  return originMs + momentMs;
}
