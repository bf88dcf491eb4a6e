/**
 * Inside the isolate: `process.nextTick`. Ticks come when the turn's code has returned and before its promises, as in Node. Those that are
 * put off by a promise's callback are a job among promises: after those that wait already, where in Node they would come after all.
 */
import { ticks } from "../ticks.ts";
import { checkFunction } from "./errors.ts";

let waiting: (() => void)[] = [];

export function nextTick(fn: unknown, ...args: unknown[]): void {
  checkFunction(fn, "callback");
  waiting.push(() => fn(...args));
  if (ticks.drain) return;
  ticks.drain = drain;
  queueMicrotask(drain);
}

/** Ticks that ticks add belong to the same round. One that throws is told as a promise that nobody looks after, and stops none. */
function drain(): void {
  for (const tick of waiting)
    try {
      tick();
    } catch (error) {
      void Promise.reject(error);
    }
  waiting = [];
  ticks.drain = undefined;
}
