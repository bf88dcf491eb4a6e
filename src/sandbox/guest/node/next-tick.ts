/**
 * Inside the isolate: `process.nextTick`. Callbacks run when the turn's code has returned and before its promises, as
 * in Node. One that a promise's callback adds is queued among the promises: after those that wait already, where Node
 * would run it after all of them.
 */
import { turn } from "../turn/mailbox.ts";
import { checkFunction } from "./errors.ts";

let waiting: (() => void)[] = [];

export function nextTick(fn: unknown, ...args: unknown[]): void {
  checkFunction(fn, "callback");
  waiting.push(() => fn(...args));
  if (turn.drainTicks) return;
  turn.drainTicks = drain;
  queueMicrotask(drain);
}

/**
 * Callbacks that callbacks add run in the same round. One that throws becomes an unhandled rejection and stops no
 * other.
 */
function drain(): void {
  for (const tick of waiting)
    try {
      tick();
    } catch (error) {
      void Promise.reject(error);
    }
  waiting = [];
  turn.drainTicks = undefined;
}
