/** Inside the isolate: `timers/promises`. */
import { timerGlobals } from "../turn/timers.ts";
import { invalidArgType, nodeError } from "./errors.ts";

interface Options {
  signal?: AbortSignal;
  ref?: boolean;
}

function abortError(signal: AbortSignal): Error {
  const error = nodeError(Error, "ABORT_ERR", "The operation was aborted");
  error.name = "AbortError";
  (error as { cause?: unknown }).cause = signal.reason;
  return error;
}

function wait<T>(start: (done: () => void) => unknown, value: T, options: unknown): Promise<T> {
  if (options !== undefined && (typeof options !== "object" || options === null))
    return Promise.reject(invalidArgType("options", "of type object", options));
  const { signal } = (options ?? {}) as Options;
  if (signal !== undefined && typeof (signal as Partial<AbortSignal>).aborted !== "boolean")
    return Promise.reject(invalidArgType("options.signal", "an instance of AbortSignal", signal));
  if (signal?.aborted) return Promise.reject(abortError(signal));
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      timerGlobals.clearTimeout(timer);
      reject(abortError(signal!));
    };
    const timer = start(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve(value);
    });
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

const setTimeout = <T>(delay?: number, value?: T, options?: Options): Promise<T | undefined> =>
  wait((done) => timerGlobals.setTimeout(done, delay), value, options);

const setImmediate = <T>(value?: T, options?: Options): Promise<T | undefined> =>
  wait((done) => timerGlobals.setImmediate(done), value, options);

async function* setInterval<T>(delay?: number, value?: T, options: Options = {}): AsyncGenerator<T | undefined> {
  const { signal } = options;
  if (signal?.aborted) throw abortError(signal);
  let due = 0;
  let wake: (() => void) | undefined;
  const notify = (): void => {
    wake?.();
    wake = undefined;
  };
  const timer = timerGlobals.setInterval(() => {
    due += 1;
    notify();
  }, delay);
  signal?.addEventListener("abort", notify, { once: true });
  try {
    for (;;) {
      if (due === 0 && !signal?.aborted)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      if (signal?.aborted) throw abortError(signal);
      for (; due > 0; due--) yield value;
    }
  } finally {
    timerGlobals.clearInterval(timer);
    signal?.removeEventListener("abort", notify);
  }
}

export default {
  setTimeout,
  setImmediate,
  setInterval,
  scheduler: { wait: (delay: number, options?: Options) => setTimeout(delay, undefined, options), yield: () => setImmediate() },
};
