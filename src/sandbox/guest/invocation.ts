/**
 * Inside the isolate: `ctx.hookInvocation`. A handler that goes on after its call is over (a detached promise, a timer) can ask
 * whether anybody still waits for it. It protects an author from a mistake; nothing of the host's depends on it.
 */
import type { Handler } from "./declared.ts";
import { turn } from "./mailbox.ts";
import { bare, call, isThenable, mapDelete, mapGet, mapSet, NativeError, NativeMap, NativePromise, promiseThen } from "./primordials.ts";

/** By call number: those that are neither settled nor given up. */
const active = new NativeMap<number, true>();

/** The handler, with an invocation of its own in the context of every call. */
export function withInvocation(handler: Handler): Handler {
  return (event, context) => {
    const number = turn.call;
    const end = (): void => endInvocation(number);
    const assertActive = (): void => {
      if (!mapGet(active, number)) throw new NativeError("this call of the hook's handler is over");
    };
    (context as { hookInvocation?: object }).hookInvocation = bare({ assertActive });
    mapSet(active, number, true);
    let isPending = false;
    try {
      const value = handler(event, context);
      if (!isThenable(value)) return value;
      const promise = value instanceof NativePromise ? value : new NativePromise((resolve) => resolve(value));
      void call(promiseThen, promise, [end, end]);
      isPending = true;
      return promise;
    } finally {
      if (!isPending) end();
    }
  };
}

/** The call has settled, or the lane gave up on it. */
export function endInvocation(number: number): void {
  mapDelete(active, number);
}
