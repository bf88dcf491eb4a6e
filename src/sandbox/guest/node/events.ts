/**
 * Inside the isolate: `events`. EventEmitter is a function and no class, because old code calls it on its own objects.
 */
import { postLog } from "../turn/mailbox.ts";
import { on, once } from "./events-waiting.ts";
import { checkFunction, invalidArgType, nodeError, outOfRange } from "./errors.ts";

type Listener = ((...args: unknown[]) => unknown) & { listener?: Listener };
/** `warned`: a log line said that there are too many. */
type Listeners = Listener[] & { warned?: boolean };
type Name = string | symbol;

const CAPTURE = Symbol.for("nodejs.rejection");
const MONITOR = Symbol("events.errorMonitor");
const CAPTURES = Symbol("kCapture");

export interface EventEmitter {
  _events: Record<Name, Listener | Listeners> | undefined;
  _eventsCount: number;
  _maxListeners: number | undefined;
  [CAPTURES]?: boolean;
  on(name: Name, listener: Listener): this;
  once(name: Name, listener: Listener): this;
  off(name: Name, listener: Listener): this;
  emit(name: Name, ...args: unknown[]): boolean;
  getMaxListeners(): number;
  removeListener(name: Name, listener: Listener): this;
  removeAllListeners(name?: Name): this;
}

interface Options {
  captureRejections?: boolean;
}

export function EventEmitter(this: EventEmitter, options?: Options): void {
  EventEmitter.init.call(this, options);
}

let defaultMax = 10;
const maxOfTargets = new WeakMap<EventTarget, number>();

function checkCount(count: unknown, name: string): asserts count is number {
  if (typeof count !== "number") throw invalidArgType(name, "of type number", count);
  if (count < 0 || Number.isNaN(count)) throw outOfRange(name, ">= 0", count);
}

EventEmitter.captureRejections = false;

EventEmitter.init = function (this: EventEmitter, options?: Options): void {
  if (this._events === undefined || this._events === (Object.getPrototypeOf(this) as EventEmitter)._events) {
    this._events = { __proto__: null } as unknown as Record<Name, Listener>;
    this._eventsCount = 0;
  }
  this._maxListeners ||= undefined;
  const captures = options?.captureRejections;
  if (captures !== undefined && typeof captures !== "boolean")
    throw invalidArgType("options.captureRejections", "of type boolean", captures);
  this[CAPTURES] = captures ?? EventEmitter.captureRejections;
};

const methods: ThisType<EventEmitter> & Record<string, (this: EventEmitter, ...args: never[]) => unknown> = {
  setMaxListeners(count: number) {
    checkCount(count, "setMaxListeners");
    this._maxListeners = count;
    return this;
  },
  getMaxListeners() {
    return this._maxListeners ?? defaultMax;
  },
  emit(name: Name, ...args: unknown[]) {
    const events = this._events;
    if (name === "error") {
      if (events?.[MONITOR] !== undefined) this.emit(MONITOR, ...args);
      if (events?.["error"] === undefined) throw unhandled(args[0]);
    }
    const found = events?.[name];
    if (found === undefined) return false;
    for (const listener of typeof found === "function" ? [found] : [...found]) {
      const result = Reflect.apply(listener, this, args);
      if (this[CAPTURES] && result !== undefined && result !== null) capture(this, result, name, args);
    }
    return true;
  },
  addListener(name: Name, listener: Listener) {
    return add(this, name, listener, false);
  },
  on(name: Name, listener: Listener) {
    return add(this, name, listener, false);
  },
  prependListener(name: Name, listener: Listener) {
    return add(this, name, listener, true);
  },
  once(name: Name, listener: Listener) {
    checkFunction(listener, "listener");
    return this.on(name, onceOnly(this, name, listener));
  },
  prependOnceListener(name: Name, listener: Listener) {
    checkFunction(listener, "listener");
    return add(this, name, onceOnly(this, name, listener), true);
  },
  removeListener(name: Name, listener: Listener) {
    checkFunction(listener, "listener");
    const events = this._events;
    const found = events?.[name];
    if (!events || found === undefined) return this;
    let told = listener;
    if (typeof found === "function") {
      if (found !== listener && found.listener !== listener) return this;
      told = found.listener ?? listener;
      forget(this, events, name);
    } else {
      const at = found.findLastIndex((one) => one === listener || one.listener === listener);
      if (at < 0) return this;
      const rest: Listeners = found.toSpliced(at, 1);
      if (found.warned === true) rest.warned = true;
      events[name] = rest.length === 1 ? rest[0]! : rest;
    }
    if (events["removeListener"] !== undefined) this.emit("removeListener", name, told);
    return this;
  },
  removeAllListeners(...names: Name[]) {
    const events = this._events;
    if (!events) return this;
    const listed = names.length > 0 ? names : Reflect.ownKeys(events).filter((name) => name !== "removeListener");
    for (const name of listed) {
      if (events["removeListener"] === undefined) {
        if (events[name] !== undefined) forget(this, events, name);
      } else for (const listener of listOf(events[name]).toReversed()) this.removeListener(name, listener);
    }
    if (names.length === 0 && events["removeListener"] !== undefined) this.removeAllListeners("removeListener");
    return this;
  },
  listeners(name: Name) {
    return listOf(this._events?.[name]).map((one) => one.listener ?? one);
  },
  rawListeners(name: Name) {
    return listOf(this._events?.[name]);
  },
  listenerCount(name: Name, listener?: Listener) {
    const all = listOf(this._events?.[name]);
    return listener ? all.filter((one) => one === listener || one.listener === listener).length : all.length;
  },
  eventNames() {
    return this._eventsCount > 0 ? Reflect.ownKeys(this._events!) : [];
  },
};

for (const name of Object.keys(methods)) (EventEmitter.prototype as Record<string, unknown>)[name] = methods[name];
const shared = EventEmitter.prototype as unknown as Record<string, unknown>;
shared["off"] = shared["removeListener"];
shared["on"] = shared["addListener"];
shared["_events"] = undefined;
shared["_eventsCount"] = 0;
shared["_maxListeners"] = undefined;

function listOf(found: Listener | Listener[] | undefined): Listener[] {
  return found === undefined ? [] : typeof found === "function" ? [found] : [...found];
}

function forget(emitter: EventEmitter, events: Record<Name, unknown>, name: Name): void {
  if (--emitter._eventsCount === 0) emitter._events = { __proto__: null } as unknown as Record<Name, Listener>;
  else Reflect.deleteProperty(events, name);
}

function add(emitter: EventEmitter, name: Name, listener: Listener, isFirst: boolean): EventEmitter {
  checkFunction(listener, "listener");
  if (emitter._events === undefined) {
    emitter._events = { __proto__: null } as unknown as Record<Name, Listener>;
    emitter._eventsCount = 0;
  } else if (emitter._events["newListener"] !== undefined) emitter.emit("newListener", name, listener.listener ?? listener);
  const events = emitter._events;
  const found = events[name];
  if (found === undefined) {
    events[name] = listener;
    emitter._eventsCount += 1;
    return emitter;
  }
  const list: Listeners = isFirst ? [listener, ...listOf(found)] : [...listOf(found), listener];
  events[name] = list;
  const hasWarned = typeof found !== "function" && found.warned === true;
  if (hasWarned) list.warned = true;
  // `on` may be called on an object that is no emitter.
  const most = emitter._maxListeners ?? defaultMax;
  if (most > 0 && list.length > most && !hasWarned) {
    list.warned = true;
    postLog(
      2,
      `MaxListenersExceededWarning: Possible EventEmitter memory leak detected. ${list.length} ${String(name)} listeners added to an ${emitter.constructor.name}. MaxListeners is ${most}. Use emitter.setMaxListeners() to increase limit`,
    );
  }
  return emitter;
}

function onceOnly(emitter: EventEmitter, name: Name, listener: Listener): Listener {
  let isDone = false;
  const wrapped: Listener = (...args) => {
    if (isDone) return undefined;
    isDone = true;
    emitter.removeListener(name, wrapped);
    return Reflect.apply(listener, emitter, args);
  };
  wrapped.listener = listener;
  return wrapped;
}

function unhandled(error: unknown): unknown {
  if (error instanceof Error) return error;
  const text =
    typeof error === "string" ? `'${error}'` : typeof error === "object" && error !== null ? JSON.stringify(error) : String(error);
  const made = nodeError(Error, "ERR_UNHANDLED_ERROR", error === undefined ? "Unhandled error. (undefined)" : `Unhandled error. (${text})`);
  return Object.assign(made, { context: error });
}

/** A listener returned a promise, and the emitter captures rejections. */
function capture(emitter: EventEmitter, result: unknown, name: Name, args: unknown[]): void {
  const { then } = result as { then?: unknown };
  if (typeof then !== "function") return;
  Reflect.apply(then, result, [
    undefined,
    (error: unknown) => {
      const own = (emitter as unknown as Record<symbol, unknown>)[CAPTURE];
      if (typeof own === "function") {
        Reflect.apply(own, emitter, [error, name, ...args]);
        return;
      }
      emitter[CAPTURES] = false;
      try {
        emitter.emit("error", error);
      } finally {
        emitter[CAPTURES] = true;
      }
    },
  ]);
}

function isEmitter(value: unknown): value is EventEmitter & { listeners(name: Name): Listener[]; listenerCount(name: Name): number } {
  return typeof (value as EventEmitter | null)?.on === "function" && typeof (value as EventEmitter).emit === "function";
}

const statics = {
  once,
  on,
  EventEmitter,
  usingDomains: false,
  captureRejectionSymbol: CAPTURE,
  errorMonitor: MONITOR,
  getEventListeners(target: unknown, name: Name): Listener[] {
    if (isEmitter(target)) return target.listeners(name);
    throw invalidArgType("emitter", "an instance of EventEmitter", target);
  },
  getMaxListeners(target: unknown): number {
    if (isEmitter(target)) return target.getMaxListeners();
    if (target instanceof EventTarget) return maxOfTargets.get(target) ?? (target instanceof AbortSignal ? 0 : defaultMax);
    throw invalidArgType("emitter", "an instance of EventEmitter or EventTarget", target);
  },
  listenerCount: (emitter: { listenerCount(name: Name): number }, name: Name): number => emitter.listenerCount(name),
  setMaxListeners(count: number = defaultMax, ...targets: { setMaxListeners?: (count: number) => void }[]): void {
    checkCount(count, "setMaxListeners");
    if (targets.length === 0) defaultMax = count;
    for (const target of targets)
      if (target instanceof EventTarget) maxOfTargets.set(target, count);
      else if (typeof target?.setMaxListeners === "function") target.setMaxListeners(count);
      else throw invalidArgType("eventTargets", "an instance of EventEmitter or EventTarget", target);
  },
  addAbortListener(signal: AbortSignal, listener: (event: unknown) => void): Disposable {
    checkFunction(listener, "listener");
    if (typeof (signal as AbortSignal | null)?.aborted !== "boolean") throw invalidArgType("signal", "an instance of AbortSignal", signal);
    if (signal.aborted) queueMicrotask(() => listener({ type: "abort", target: signal }));
    else signal.addEventListener("abort", listener, { once: true });
    return { [Symbol.dispose]: () => signal.removeEventListener("abort", listener) };
  },
};

Object.assign(EventEmitter, statics);
Object.defineProperty(EventEmitter, "defaultMaxListeners", {
  get: () => defaultMax,
  set(count: unknown) {
    checkCount(count, "defaultMaxListeners");
    defaultMax = count;
  },
  enumerable: true,
  configurable: true,
});

export default EventEmitter as unknown as typeof statics & { new (options?: Options): EventEmitter; prototype: EventEmitter };
