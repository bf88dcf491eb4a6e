/**
 * Inside the isolate: what `AsyncLocalStorage` knows, carried along promises, timers and ticks. Loading this file
 * replaces `then` and the functions that put work off by ones that remember. `await` does not call `then`, so the
 * bundler writes the async functions of a plugin that imports `async_hooks` as generators, which do
 * (src/bundler/child/build.ts). Code that is made at run time by `Function` keeps its own `await` and loses it there.
 */
import { nextTick } from "../next-tick.ts";
import { process } from "../process.ts";
import timers from "../timers.ts";

/** Never changed once it is made. */
export type Context = ReadonlyMap<object, unknown> | undefined;

let current: Context;

export function context(): Context {
  return current;
}

export function inContext<T>(wanted: Context, run: () => T): T {
  const before = current;
  current = wanted;
  try {
    return run();
  } finally {
    current = before;
  }
}

/** For a caller that puts back itself what it replaced. */
export function replace(wanted: Context): void {
  current = wanted;
}

/** For what is left of this turn, or of this callback, which restores what was before it. */
export function enter(wanted: Context): void {
  current = wanted;
  nextTick(() => (current = undefined));
}

type Fn = (this: unknown, ...args: unknown[]) => unknown;

/** Gives a function that runs where it was bound. */
export function bound(fn: unknown): unknown {
  if (typeof fn !== "function") return fn;
  const wanted = current;
  return function (this: unknown, ...args: unknown[]): unknown {
    return inContext(wanted, () => Reflect.apply(fn as Fn, this, args));
  };
}

function remembering(target: object, name: string): void {
  const original = Reflect.get(target, name) as Fn;
  const value = function (this: unknown, fn: unknown, ...args: unknown[]): unknown {
    return Reflect.apply(original, this, [bound(fn), ...args]);
  };
  Object.defineProperty(value, "name", { value: name });
  Object.defineProperty(target, name, { value, writable: true, configurable: true, enumerable: Object.keys(target).includes(name) });
}

const then = Reflect.get(Promise.prototype, "then") as Fn;
// oxlint-disable-next-line no-extend-native, unicorn/no-thenable -- replaces the prototype's own
void Object.defineProperty(Promise.prototype, "then", {
  value: function then_(this: unknown, fulfilled: unknown, rejected: unknown): unknown {
    return Reflect.apply(then, this, [bound(fulfilled), bound(rejected)]);
  },
  writable: true,
  configurable: true,
});
for (const name of ["setTimeout", "setInterval", "setImmediate"]) {
  remembering(globalThis, name);
  remembering(timers, name);
}
remembering(globalThis, "queueMicrotask");
remembering(process, "nextTick");
