/**
 * Inside the isolate: `ctx.hookInvocation`. A handler that continues after its call has ended (a detached promise, a
 * timer) can check whether the call still waits for it. It protects an author from a mistake; the host does not depend
 * on it.
 */
import type { Handler } from "../api/declared.ts";
import { turn } from "./mailbox.ts";
import {
  bare,
  call,
  isThenable,
  mapDelete,
  mapGet,
  mapSet,
  NativeError,
  NativeMap,
  NativePromise,
  promiseThen,
} from "../boot/primordials.ts";

/** The only hook whose context has one. The guest has no catalog to look it up in. test/protocol/live.test.ts */
export const INVOCATION_HOOK = "before_prompt_build";

/** Calls that have neither settled nor been given up, by number. */
const active = new NativeMap<number, true>();

/** Wraps a handler so that each call's context has an invocation. */
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
