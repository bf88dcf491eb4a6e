/** Inside the isolate: `async_hooks`. AsyncLocalStorage and AsyncResource hold as context.ts says; hooks never fire. */
import { checkFunction, checkString } from "../errors.ts";
import { bound, context, enter, inContext, replace } from "./context.ts";
import type { Context } from "./context.ts";

type Fn = (this: unknown, ...args: unknown[]) => unknown;

class AsyncLocalStorage {
  readonly name: string;
  readonly #default: unknown;
  /** Another key each time it is disabled, so that contexts of before no longer have it. */
  #key: object = {};

  constructor(options: { defaultValue?: unknown; name?: unknown } = {}) {
    this.#default = options.defaultValue;
    this.name = options.name === undefined ? "" : (options.name as string);
  }

  static bind(fn: unknown): unknown {
    checkFunction(fn, "fn");
    return bound(fn);
  }

  static snapshot(): Fn {
    const wanted = context();
    return function (this: unknown, fn: unknown, ...args: unknown[]): unknown {
      return inContext(wanted, () => Reflect.apply(fn as Fn, this, args));
    };
  }

  getStore(): unknown {
    const found = context();
    return found?.has(this.#key) ? found.get(this.#key) : this.#default;
  }

  /** Puts back its own store only: what `fn` entered of other storages stays, as in Node. */
  run(store: unknown, fn: Fn, ...args: unknown[]): unknown {
    const leave = this.#entered(store);
    try {
      return fn(...args);
    } finally {
      leave();
    }
  }

  /** For `using`: the store until the end of the block. */
  withScope(store: unknown): object {
    let leave: (() => void) | undefined = this.#entered(store);
    const dispose = (): void => {
      leave?.();
      leave = undefined;
    };
    return { dispose, [Symbol.dispose]: dispose };
  }

  exit(fn: Fn, ...args: unknown[]): unknown {
    return this.run(undefined, fn, ...args);
  }

  enterWith(store: unknown): void {
    enter(this.#with(store));
  }

  disable(): void {
    this.#key = {};
  }

  #entered(store: unknown): () => void {
    const key = this.#key;
    const before = context();
    const own = this.#with(store);
    replace(own);
    return () => {
      const now = context();
      if (now === own) return replace(before);
      const left = new Map(now ?? []);
      if (before?.has(key)) left.set(key, before.get(key));
      else left.delete(key);
      return replace(left);
    };
  }

  #with(store: unknown): Context {
    return new Map(context() ?? []).set(this.#key, store);
  }
}

let lastId = 1;

class AsyncResource {
  readonly #context = context();
  readonly #id = ++lastId;

  constructor(type: unknown) {
    checkString(type, "type");
  }

  static bind(fn: unknown, type?: string, thisArg?: unknown): unknown {
    return new AsyncResource(type ?? "bound-anonymous-fn").bind(fn, thisArg);
  }

  bind(fn: unknown, thisArg?: unknown): unknown {
    checkFunction(fn, "fn");
    const run = this.runInAsyncScope.bind(this);
    const made = function (this: unknown, ...args: unknown[]): unknown {
      return run(fn, thisArg ?? this, ...args);
    };
    return Object.defineProperty(made, "length", { value: fn.length, configurable: true });
  }

  runInAsyncScope(fn: unknown, thisArg?: unknown, ...args: unknown[]): unknown {
    return inContext(this.#context, () => Reflect.apply(fn as Fn, thisArg, args));
  }

  emitDestroy(): this {
    return this;
  }
  asyncId(): number {
    return this.#id;
  }
  triggerAsyncId(): number {
    return 1;
  }
}

const hook = { enable: (): object => hook, disable: (): object => hook };

export default {
  AsyncLocalStorage,
  AsyncResource,
  /** V8 does not tell code inside an isolate when a promise begins or ends, so no callback is ever called. */
  createHook: (): object => hook,
  executionAsyncId: (): number => 1,
  triggerAsyncId: (): number => 0,
  executionAsyncResource: (): object => ({}),
};
