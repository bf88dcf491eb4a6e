/** Inside the isolate: `AbortController` and `AbortSignal`. */
import { NativeWeakRef } from "../boot/primordials.ts";
import { timerGlobals } from "../turn/timers.ts";
import { DOMException } from "./dom-exception.ts";
import { dispatch, Event, EventTarget, handlerOf, hasListeners, listening, setHandler } from "./events.ts";
import { coded, expose, inspectAs, wrongThis, wrongType } from "./idl.ts";

const OURS = Symbol("ours");
const MAX_DELAY = 4_294_967_295;

/** Calls `then` when the signal aborts, before its listeners. Returns a function that cancels this. */
export let onAbort: (signal: AbortSignal, then: () => void) => () => void;
/** Checks the private field, not the prototype. */
export let isSignal: (value: unknown) => value is AbortSignal;
let abort: (signal: AbortSignal, reason: unknown) => void;

export class AbortSignal extends EventTarget {
  #aborted = false;
  #reason: unknown = undefined;
  /**
   * Signals that depend on this one. They are linked to their sources' sources, so there is one level only. A signal
   * that lives as long as the plugin may get a dependent in every call, so dependents are held weakly.
   */
  readonly #followers = new Set<WeakRef<AbortSignal>>();
  #roomyFollowers = 64;
  /** Dependents with listeners, which are held strongly. */
  readonly #listenedTo = new Set<AbortSignal>();
  readonly #sources = new Set<AbortSignal>();
  readonly #isComposite: boolean;
  readonly #steps = new Set<() => void>();

  static {
    isSignal = (value): value is AbortSignal => typeof value === "object" && value !== null && #aborted in value;
    onAbort = (signal, then) => {
      if (signal.#aborted) then();
      else signal.#steps.add(then);
      signal.#keep();
      return () => {
        signal.#steps.delete(then);
        signal.#keep();
      };
    };
    abort = (signal, reason) => {
      if (signal.#aborted) return;
      const followers = [...signal.#followers].map((one) => one.deref());
      const all = [signal, ...followers.filter((one) => one !== undefined && !one.#aborted)] as AbortSignal[];
      // All of them are aborted before the first listener runs.
      for (const one of all) {
        one.#aborted = true;
        one.#reason = reason;
        for (const source of one.#sources) source.#listenedTo.delete(one);
        one.#sources.clear();
      }
      signal.#followers.clear();
      for (const one of all) {
        for (const step of one.#steps) step();
        one.#steps.clear();
        dispatch(one, new Event("abort"), true);
      }
    };
  }

  constructor(ours?: symbol, isComposite = false) {
    if (ours !== OURS) throw coded(TypeError, "ERR_ILLEGAL_CONSTRUCTOR", "Illegal constructor");
    super();
    this.#isComposite = isComposite;
  }

  get aborted(): boolean {
    if (!isSignal(this)) throw wrongThis("AbortSignal");
    return this.#aborted;
  }
  get reason(): unknown {
    if (!isSignal(this)) throw wrongThis("AbortSignal");
    return this.#reason;
  }
  throwIfAborted(): void {
    if (!isSignal(this)) throw wrongThis("AbortSignal");
    if (this.#aborted) throw this.#reason;
  }
  get onabort(): unknown {
    return handlerOf(this, "abort");
  }
  set onabort(handler: unknown) {
    setHandler(this, "abort", handler);
  }

  static abort(reason: unknown = new DOMException("This operation was aborted", "AbortError")): AbortSignal {
    const signal = new AbortSignal(OURS);
    signal.#aborted = true;
    signal.#reason = reason;
    return signal;
  }

  static timeout(delay: unknown): AbortSignal {
    if (typeof delay !== "number") throw wrongType("delay", "of type number", delay);
    if (!(Number.isInteger(delay) && delay >= 0 && delay <= MAX_DELAY)) {
      const rule = Number.isInteger(delay) ? `>= 0 && <= ${MAX_DELAY}` : "an integer";
      throw coded(RangeError, "ERR_OUT_OF_RANGE", `The value of "delay" is out of range. It must be ${rule}. Received ${delay}`);
    }
    const signal = new AbortSignal(OURS);
    timerGlobals.setTimeout(() => abort(signal, new DOMException("The operation was aborted due to timeout", "TimeoutError")), delay);
    return signal;
  }

  static any(signals: unknown): AbortSignal {
    if (typeof signals !== "object" || signals === null || !(Symbol.iterator in signals))
      throw coded(TypeError, "ERR_INVALID_ARG_TYPE", "signals cannot be converted to sequence.");
    const list = [...(signals as Iterable<unknown>)];
    list.forEach((one, index) => {
      if (!isSignal(one)) throw coded(TypeError, "ERR_INVALID_ARG_TYPE", `signals[${index}] is not of type AbortSignal.`);
    });
    const signal = new AbortSignal(OURS, true);
    for (const one of list as AbortSignal[]) {
      if (!one.#aborted) continue;
      signal.#aborted = true;
      signal.#reason = one.#reason;
      return signal;
    }
    for (const one of list as AbortSignal[]) for (const source of one.#isComposite ? one.#sources : [one]) signal.#sources.add(source);
    const follower = new NativeWeakRef(signal);
    for (const source of signal.#sources) source.#follow(follower);
    listening.set(signal, () => signal.#keep());
    return signal;
  }

  #follow(follower: WeakRef<AbortSignal>): void {
    this.#followers.add(follower);
    if (this.#followers.size < this.#roomyFollowers) return;
    for (const one of this.#followers) {
      const signal = one.deref();
      if (!signal || signal.#aborted) this.#followers.delete(one);
    }
    this.#roomyFollowers = Math.max(64, this.#followers.size * 2);
  }

  /** A signal with listeners lives as long as its sources. */
  #keep(): void {
    const isListenedTo = this.#steps.size > 0 || hasListeners(this, "abort");
    for (const source of this.#sources) {
      if (isListenedTo) source.#listenedTo.add(this);
      else source.#listenedTo.delete(this);
    }
  }
}

export class AbortController {
  readonly #signal = new AbortSignal(OURS);

  get signal(): AbortSignal {
    return this.#signal;
  }
  abort(reason: unknown = new DOMException("This operation was aborted", "AbortError")): void {
    abort(this.#signal, reason);
  }
}

Object.defineProperty(AbortSignal, "length", { value: 0 });
expose(AbortSignal, ["reason", "throwIfAborted"]);
expose(AbortController);
inspectAs<AbortSignal>(AbortSignal, ({ aborted }) => ({ aborted }));
inspectAs<AbortController>(AbortController, ({ signal }) => ({ signal }));
