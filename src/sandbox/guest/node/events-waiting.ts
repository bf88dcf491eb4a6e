/** Inside the isolate: `events.once` and `events.on`: events as promises and as an async iterator. */
import { invalidArgType, nodeError } from "./errors.ts";

type Name = string | symbol;
type Listener = (...args: unknown[]) => void;

interface Emitter {
  on?(name: Name, listener: Listener): unknown;
  once?(name: Name, listener: Listener): unknown;
  removeListener?(name: Name, listener: Listener): unknown;
  addEventListener?(name: Name, listener: Listener, options?: object): void;
  removeEventListener?(name: Name, listener: Listener): void;
}

interface Options {
  signal?: AbortSignal;
  close?: Name[];
}

function abortError(signal: AbortSignal): Error {
  const error = nodeError(Error, "ABORT_ERR", "The operation was aborted");
  error.name = "AbortError";
  (error as { cause?: unknown }).cause = signal.reason;
  return error;
}

function listen(target: Emitter, name: Name, listener: Listener): void {
  if (typeof target.on === "function") target.on(name, listener);
  else if (typeof target.addEventListener === "function") target.addEventListener(name, listener);
  else throw invalidArgType("emitter", "an instance of EventEmitter", target);
}

function unlisten(target: Emitter, name: Name, listener: Listener): void {
  if (typeof target.removeListener === "function") target.removeListener(name, listener);
  else target.removeEventListener?.(name, listener);
}

export async function once(target: Emitter, name: Name, options: Options = {}): Promise<unknown[]> {
  const { signal } = options;
  if (signal?.aborted) throw abortError(signal);
  return new Promise((resolve, reject) => {
    const end = (): void => {
      unlisten(target, name, onEvent);
      if (name !== "error" && typeof target.on === "function") unlisten(target, "error", onError);
      signal?.removeEventListener("abort", onAbort);
    };
    const onEvent = (...args: unknown[]): void => {
      end();
      resolve(args);
    };
    const onError = (error: unknown): void => {
      end();
      reject(error);
    };
    const onAbort = (): void => onError(abortError(signal!));
    listen(target, name, onEvent);
    if (name !== "error" && typeof target.on === "function") listen(target, "error", onError);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

type Events = AsyncIterableIterator<unknown[]> & AsyncDisposable;

export function on(target: Emitter, name: Name, options: Options = {}): Events {
  const { signal, close = [] } = options;
  if (signal?.aborted) throw abortError(signal);
  const events: unknown[][] = [];
  const waiting: { resolve(result: IteratorResult<unknown[]>): void; reject(error: unknown): void }[] = [];
  let failure: { error: unknown } | undefined;
  let isOver = false;

  const onEvent = (...args: unknown[]): void => {
    const first = waiting.shift();
    if (first) first.resolve({ value: args, done: false });
    else events.push(args);
  };
  const onError = (error: unknown): void => {
    const first = waiting.shift();
    if (first) first.reject(error);
    else failure = { error };
    void iterator.return!();
  };
  const onAbort = (): void => onError(abortError(signal!));
  const onClose = (): void => void iterator.return!();

  const iterator: Events = {
    next() {
      const event = events.shift();
      if (event) return Promise.resolve({ value: event, done: false });
      if (failure) {
        const { error } = failure;
        failure = undefined;
        return Promise.reject(error);
      }
      if (isOver) return Promise.resolve({ value: undefined, done: true });
      return new Promise((resolve, reject) => {
        waiting.push({ resolve, reject });
      });
    },
    return() {
      if (!isOver) {
        isOver = true;
        unlisten(target, name, onEvent);
        if (name !== "error" && typeof target.on === "function") unlisten(target, "error", onError);
        for (const one of close) unlisten(target, one, onClose);
        signal?.removeEventListener("abort", onAbort);
        for (const one of waiting.splice(0)) one.resolve({ value: undefined, done: true });
      }
      return Promise.resolve({ value: undefined, done: true });
    },
    throw(error: unknown) {
      if (!(error instanceof Error)) throw invalidArgType("EventEmitter.AsyncIterator", "an instance of Error", error);
      onError(error);
      return Promise.resolve({ value: undefined, done: true });
    },
    [Symbol.asyncIterator]() {
      return this;
    },
    async [Symbol.asyncDispose]() {
      await iterator.return!();
    },
  };
  listen(target, name, onEvent);
  if (name !== "error" && typeof target.on === "function") listen(target, "error", onError);
  for (const one of close) listen(target, one, onClose);
  signal?.addEventListener("abort", onAbort, { once: true });
  return iterator;
}
