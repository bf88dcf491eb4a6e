/**
 * Inside the isolate: `process.nextTick`. V8 drains promises by itself when a turn's code has returned, so ticks are a job among
 * them: in their own order, before promises that are settled later, but after those that were settled earlier in the same turn.
 */
import { checkFunction } from "./errors.ts";

const ticks: (() => void)[] = [];

export function nextTick(fn: unknown, ...args: unknown[]): void {
  checkFunction(fn, "callback");
  ticks.push(() => fn(...args));
  if (ticks.length === 1) queueMicrotask(drain);
}

function drain(): void {
  try {
    // Ticks that ticks add belong to the same round.
    for (let i = 0; i < ticks.length; i++) ticks[i]!();
  } finally {
    ticks.length = 0;
  }
}
