/**
 * Inside the isolate: an `AbortSignal` for a call, aborted when the lane gives up on the call. Listeners are plugin
 * code, so they run in a turn of their own with a time limit, and not while the lane cleans up.
 */
import { turn } from "./mailbox.ts";
import { call, isThenable, mapDelete, mapGet, mapSet, NativeMap, NativePromise, promiseThen } from "../boot/primordials.ts";
import { soon } from "./timers.ts";

interface Controller {
  readonly signal: unknown;
  abort(): void;
}

const controllers = new NativeMap<number, Controller>();

/** Calls a function with a signal, or with undefined if the plugin deleted AbortController. */
export function abortable(fn: (signal: unknown) => unknown): unknown {
  const number = turn.call;
  const Made = (globalThis as { AbortController?: new () => Controller }).AbortController;
  if (typeof Made !== "function") return fn(undefined);
  const controller = new Made();
  mapSet(controllers, number, controller);
  const end = (): void => void mapDelete(controllers, number);
  let isPending = false;
  try {
    const value = fn(controller.signal);
    if (!isThenable(value)) return value;
    isPending = true;
    const promise = settled(value);
    void call(promiseThen, promise, [end, end]);
    return promise;
  } finally {
    if (!isPending) end();
  }
}

// SECURITY: runs on behalf of the lane; no plugin code may. test/escape/prototypes.test.ts
export function abortCall(number: number): void {
  const controller = mapGet(controllers, number);
  if (!controller) return;
  mapDelete(controllers, number);
  soon(number, () => controller.abort());
}

/** A native promise for any thenable of the plugin, with optional callbacks. */
export function settled(
  value: PromiseLike<unknown>,
  then?: (value: unknown) => unknown,
  fail?: (error: unknown) => unknown,
): Promise<unknown> {
  const promise = value instanceof NativePromise ? value : new NativePromise((resolve) => resolve(value));
  return then || fail ? call(promiseThen, promise, [then, fail]) : promise;
}
