/**
 * Inside the isolate: the clock behind `performance` and events. SECURITY: it ticks in whole milliseconds unless the operator granted a
 * fine one; a fine clock is what timing attacks on the neighbours are made of. test/escape/clock.test.ts
 */
import { currentMs } from "../primordials.ts";
import { world } from "../world.ts";

const begun = currentMs();
const exact = world.now;
const exactBegun = exact?.() ?? 0;
let last = 0;

/** When `now` was zero, as Date.now would have said. */
export const timeOrigin = begun;

/** Milliseconds since the cell first asked for the time; never goes back. */
export function now(): number {
  last = Math.max(last, exact ? exact() - exactBegun : currentMs() - begun);
  return last;
}
