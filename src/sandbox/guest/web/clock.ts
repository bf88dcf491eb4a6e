/**
 * Inside the isolate: the clock behind `performance` and events. SECURITY: it ticks in whole milliseconds unless the
 * operator granted a fine clock, because timing attacks on other plugins need a fine one. test/escape/clock.test.ts
 */
import { currentMs } from "../boot/primordials.ts";
import { world } from "../boot/world.ts";

const dateMs = world.date ?? currentMs;
const begun = dateMs();
const exact = world.now;
const exactBegun = exact?.() ?? 0;
let last = 0;

/** The time origin, as Date.now would give it. */
export const timeOrigin = begun;

/** Milliseconds since the cell first read the clock. It never goes back. */
export function now(): number {
  last = Math.max(last, exact ? exact() - exactBegun : dateMs() - begun);
  return last;
}
