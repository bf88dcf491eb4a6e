/**
 * Inside the isolate: `Event`, `CustomEvent`, `EventTarget`. There is no tree, so an event only ever reaches its
 * target.
 */
import { now } from "./clock.ts";
import { coded, constants, expose, inspectAs, missing, report, wrongThis, wrongType } from "./idl.ts";
import { str } from "./text.ts";

const PHASE = { NONE: 0, CAPTURING_PHASE: 1, AT_TARGET: 2, BUBBLING_PHASE: 3 } as const;

export interface EventInit {
  bubbles?: unknown;
  cancelable?: unknown;
  composed?: unknown;
}

interface Listener {
  readonly callback: object;
  readonly capture: boolean;
  readonly once: boolean;
  readonly passive: boolean;
  isGone: boolean;
}

/** Calls the target's listeners. Returns true unless one of them prevented the default. */
export let dispatch: (target: EventTarget, event: Event, isTrusted: boolean) => boolean;
/** An attribute like `onabort`: at most one function, which keeps its place among the listeners. */
export let handlerOf: (target: EventTarget, type: string) => unknown;
export let setHandler: (target: EventTarget, type: string, handler: unknown) => void;

/** Callbacks that run when a target's listeners change. */
export const listening = new WeakMap<EventTarget, () => void>();

export class Event {
  #type: string;
  #bubbles: boolean;
  #cancelable: boolean;
  readonly #composed: boolean;
  readonly #timeStamp = now();
  #target: EventTarget | null = null;
  #current: EventTarget | null = null;
  #isTrusted = false;
  #isPrevented = false;
  #isStopped = false;
  #isStoppedAtOnce = false;
  #isPassive = false;

  static {
    dispatch = (target, event, isTrusted) => {
      event.#isTrusted = isTrusted;
      event.#target = event.#current = target;
      for (const listener of listenersOf(target, event.#type)) {
        if (listener.isGone) continue;
        if (listener.once) dropListener(target, event.#type, listener);
        event.#isPassive = listener.passive;
        invoke(listener.callback, target, event);
        event.#isPassive = false;
        if (event.#isStoppedAtOnce) break;
      }
      event.#current = null;
      event.#isStopped = event.#isStoppedAtOnce = false;
      return !event.#isPrevented;
    };
  }

  constructor(type: unknown, init: EventInit | null = null) {
    if (arguments.length === 0) throw missing("type");
    if (init !== null && typeof init !== "object" && typeof init !== "function") throw wrongType("options", "of type object", init);
    this.#type = str(type);
    this.#bubbles = Boolean(init?.bubbles);
    this.#cancelable = Boolean(init?.cancelable);
    this.#composed = Boolean(init?.composed);
  }

  initEvent(type: unknown, bubbles: unknown = false, cancelable: unknown = false): void {
    if (arguments.length === 0) throw missing("type");
    if (this.#current !== null) return;
    this.#type = str(type);
    this.#bubbles = Boolean(bubbles);
    this.#cancelable = Boolean(cancelable);
  }
  stopImmediatePropagation(): void {
    this.#isStopped = this.#isStoppedAtOnce = true;
  }
  preventDefault(): void {
    if (this.#cancelable && !this.#isPassive) this.#isPrevented = true;
  }
  get target(): EventTarget | null {
    return this.#target;
  }
  get currentTarget(): EventTarget | null {
    return this.#current;
  }
  get srcElement(): EventTarget | null {
    return this.#target;
  }
  get type(): string {
    return this.#type;
  }
  get cancelable(): boolean {
    return this.#cancelable;
  }
  get defaultPrevented(): boolean {
    return this.#isPrevented;
  }
  get timeStamp(): number {
    return this.#timeStamp;
  }
  composedPath(): EventTarget[] {
    return this.#current === null ? [] : [this.#current];
  }
  get returnValue(): boolean {
    return !this.#isPrevented;
  }
  set returnValue(value: unknown) {
    if (!value) this.preventDefault();
  }
  get bubbles(): boolean {
    return this.#bubbles;
  }
  get composed(): boolean {
    return this.#composed;
  }
  get eventPhase(): number {
    return this.#current === null ? PHASE.NONE : PHASE.AT_TARGET;
  }
  get cancelBubble(): boolean {
    return this.#isStopped;
  }
  set cancelBubble(value: unknown) {
    if (value) this.stopPropagation();
  }
  stopPropagation(): void {
    this.#isStopped = true;
  }
  get isTrusted(): boolean {
    return this.#isTrusted;
  }
}

export class CustomEvent extends Event {
  readonly #detail: unknown;

  constructor(type: unknown, init: (EventInit & { detail?: unknown }) | null = null) {
    if (arguments.length === 0) throw missing("type");
    super(type, init);
    this.#detail = init?.detail ?? null;
  }
  get detail(): unknown {
    return this.#detail;
  }
}

export function hasListeners(target: EventTarget, type: string): boolean {
  return listenersOf(target, type).length > 0;
}

let listenersOf: (target: EventTarget, type: string) => Listener[];
let dropListener: (target: EventTarget, type: string, listener: Listener) => void;

export class EventTarget {
  /** Lists are replaced, never changed, so that a running dispatch keeps the list it started with. */
  readonly #listeners = new Map<string, Listener[]>();
  readonly #handlers = new Map<string, { value: unknown; call: (event: Event) => void }>();

  static {
    listenersOf = (target, type) => target.#listeners.get(type) ?? [];
    dropListener = (target, type, listener) => {
      listener.isGone = true;
      const left = listenersOf(target, type).filter((one) => one !== listener);
      if (left.length > 0) target.#listeners.set(type, left);
      else target.#listeners.delete(type);
      listening.get(target)?.();
    };
    handlerOf = (target, type) => target.#handlers.get(type)?.value ?? null;
    setHandler = (target, type, handler) => {
      const known = target.#handlers.get(type);
      if (typeof handler !== "function") {
        if (known) target.removeEventListener(type, known.call);
        target.#handlers.delete(type);
      } else if (known) {
        known.value = handler;
      } else {
        const entry = { value: handler as unknown, call: (event: Event) => Reflect.apply(entry.value as () => void, target, [event]) };
        target.#handlers.set(type, entry);
        target.addEventListener(type, entry.call);
      }
    };
  }

  addEventListener(type: unknown, callback: unknown, ...[options]: unknown[]): void {
    if (!(#listeners in this)) throw wrongThis("EventTarget");
    if (arguments.length < 2) throw missing("type", "listener");
    const { capture, once, passive, signal } = optionsOf(options);
    if (signal !== undefined && !isSignal(signal)) throw wrongType("options.signal", "an instance of AbortSignal", signal);
    if (!isListener(callback) || signal?.aborted) return;
    const name = str(type);
    if (this.#find(name, callback, capture)) return;
    const listener: Listener = { callback, capture, once, passive, isGone: false };
    this.#listeners.set(name, [...listenersOf(this, name), listener]);
    listening.get(this)?.();
    signal?.addEventListener("abort", () => dropListener(this, name, listener), { once: true });
  }

  removeEventListener(type: unknown, callback: unknown, ...[options]: unknown[]): void {
    if (!(#listeners in this)) throw wrongThis("EventTarget");
    if (arguments.length < 2) throw missing("type", "listener");
    if (!isListener(callback)) return;
    const name = str(type);
    const listener = this.#find(name, callback, optionsOf(options).capture);
    if (listener) dropListener(this, name, listener);
  }

  dispatchEvent(event: unknown): boolean {
    if (!(#listeners in this)) throw wrongThis("EventTarget");
    if (arguments.length === 0) throw missing("event");
    if (!(event instanceof Event)) throw wrongType("event", "an instance of Event", event);
    if (event.currentTarget !== null) throw coded(Error, "ERR_EVENT_RECURSION", `The event "${event.type}" is already being dispatched`);
    return dispatch(this, event, false);
  }

  #find(type: string, callback: object, capture: boolean): Listener | undefined {
    return listenersOf(this, type).find((one) => one.callback === callback && one.capture === capture);
  }
}

interface Options {
  capture: boolean;
  once: boolean;
  passive: boolean;
  signal: (EventTarget & { aborted: boolean }) | undefined;
}

function optionsOf(options: unknown): Options {
  if (typeof options !== "object" || options === null) return { capture: Boolean(options), once: false, passive: false, signal: undefined };
  const { capture, once, passive, signal } = options as Partial<Options>;
  return { capture: Boolean(capture), once: Boolean(once), passive: Boolean(passive), signal };
}

/** abort.ts imports this file, so a signal is recognised by its `aborted` member. */
function isSignal(value: unknown): boolean {
  return value instanceof EventTarget && "aborted" in value;
}

function isListener(value: unknown): value is object {
  if (value === null || value === undefined) return false;
  if (typeof value === "function" || typeof value === "object") return true;
  throw wrongType("listener", "an instance of EventListener", value);
}

function invoke(callback: object, target: EventTarget, event: Event): void {
  try {
    let result: unknown;
    if (typeof callback === "function") {
      result = Reflect.apply(callback as () => unknown, target, [event]);
    } else {
      const { handleEvent } = callback as { handleEvent?: unknown };
      if (typeof handleEvent === "function") result = Reflect.apply(handleEvent as () => unknown, callback, [event]);
    }
    // As in Node: an async listener's rejection is not lost.
    const { then } = (result ?? {}) as { then?: unknown };
    if (typeof then === "function") Reflect.apply(then as () => unknown, result, [undefined, report]);
  } catch (error) {
    report(error);
  }
}

constants([Event], PHASE);
expose(Event);
Object.defineProperty(Event.prototype, "isTrusted", { configurable: false });
expose(CustomEvent);
expose(EventTarget);
inspectAs<Event>(Event, ({ type, defaultPrevented, cancelable, timeStamp }) => ({ type, defaultPrevented, cancelable, timeStamp }));
inspectAs<EventTarget>(EventTarget, () => ({}));
