/** Inside the isolate: `structuredClone`. V8 does this for messages between threads, which a cell does not have. */
import { transferBuffer } from "../boot/primordials.ts";
import { DOMException } from "./dom-exception.ts";
import { clonerOf, coded, missing } from "./idl.ts";

const { prototype: anyPrototype } = Object;
const getter = (prototype: object, name: string): ((self: unknown) => unknown) => {
  // oxlint-disable-next-line typescript/unbound-method -- called on the object in question
  const { get } = Object.getOwnPropertyDescriptor(prototype, name)!;
  return (self) => Reflect.apply(get!, self, []);
};
const method =
  (fn: (...args: never[]) => unknown) =>
  (self: unknown): unknown =>
    Reflect.apply(fn, self, []);

// oxlint-disable typescript/unbound-method -- called on any value, to find out whether it has the internal slot
const dateOf = method(Date.prototype.getTime);
const booleanOf = method(Boolean.prototype.valueOf);
const numberOf = method(Number.prototype.valueOf);
const stringOf = method(String.prototype.valueOf);
const bigintOf = method(BigInt.prototype.valueOf);
const symbolOf = method(Symbol.prototype.valueOf);
// oxlint-enable typescript/unbound-method
const patternOf = getter(RegExp.prototype, "source");
const flagsOf = getter(RegExp.prototype, "flags");
const mapSize = getter(Map.prototype, "size");
const setSize = getter(Set.prototype, "size");
const bufferLength = getter(ArrayBuffer.prototype, "byteLength");
const isDetached = getter(ArrayBuffer.prototype, "detached");
const viewName = getter(Object.getPrototypeOf(Uint8Array.prototype) as object, Symbol.toStringTag as unknown as string);

const { isError } = Error as unknown as { isError(this: void, value: unknown): value is Error };
const ERRORS: Readonly<Record<string, ErrorConstructor>> = { EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };
const UNCLONEABLE =
  /^\[object (?:Promise|WeakMap|WeakSet|WeakRef|(?:Async)?Generator|[\w ]+ Iterator|GeneratorFunction|Atomics|FinalizationRegistry)\]$/;

export function structuredClone(...args: unknown[]): unknown {
  if (args.length === 0) throw missing("value");
  const [value, options] = args;
  if (options !== undefined && options !== null && typeof options !== "object" && typeof options !== "function")
    throw refused("Options cannot be converted to a dictionary");
  const { transfer } = (options ?? {}) as { transfer?: unknown };
  const isList = typeof transfer === "object" && transfer !== null && Symbol.iterator in transfer;
  if (transfer !== undefined && transfer !== null && !isList) throw refused("transfer in Options cannot be converted to sequence.");
  return new Clone(isList ? [...(transfer as Iterable<unknown>)] : []).whole(value);
}
Object.defineProperty(structuredClone, "length", { value: 2 });

class Clone {
  /** Objects that were met already → their copies, so that cycles and shared parts are kept. */
  readonly #copies = new Map<unknown, unknown>();
  readonly #transfers: ReadonlySet<ArrayBuffer>;

  constructor(transfers: readonly unknown[]) {
    this.#transfers = new Set(transfers as ArrayBuffer[]);
    for (const one of this.#transfers) if (!has(bufferLength, one)) throw notCloned("Found invalid value in transferList.");
    if (this.#transfers.size < transfers.length) throw notCloned("Transfer list contains duplicate ArrayBuffer");
    for (const one of this.#transfers) if (isDetached(one)) throw notCloned("An ArrayBuffer is detached and could not be cloned.");
  }

  whole(value: unknown): unknown {
    const copy = this.#copy(value);
    // Transfers only after everything was cloned: on failure the owner keeps its buffers. Buffers that the value does
    // not mention are detached, too.
    for (const one of this.#transfers) transferBuffer(one);
    return copy;
  }

  #copy(value: unknown): unknown {
    if (typeof value === "symbol" || typeof value === "function") throw notCloned(`${String(value)} could not be cloned.`);
    if (typeof value !== "object" || value === null) return value;
    const known = this.#copies.get(value);
    if (known !== undefined) return known;
    const copy = this.#make(value);
    this.#copies.set(value, copy);
    this.#fill(value, copy);
    return copy;
  }

  /** The empty copy. */
  #make(value: object): object {
    const cloner = clonerOf(value);
    if (cloner) {
      const made = cloner(value);
      if (!made) throw notCloned("Cannot clone object of unsupported type.");
      return made;
    }
    if (Array.isArray(value)) return Array.from({ length: value.length });
    if (ArrayBuffer.isView(value)) return this.#view(value);
    if (has(bufferLength, value)) return copyBuffer(value as ArrayBuffer);
    if (has(mapSize, value)) return new Map();
    if (has(setSize, value)) return new Set();
    if (has(dateOf, value)) return new Date(dateOf(value) as number);
    if (value !== RegExp.prototype && has(patternOf, value)) return new RegExp(patternOf(value) as string, flagsOf(value) as string);
    for (const read of [booleanOf, numberOf, stringOf, bigintOf]) if (has(read, value)) return Object(read(value)) as object;
    if (has(symbolOf, value) || UNCLONEABLE.test(tagOf(value))) throw notCloned(`${nameOf(value)} could not be cloned.`);
    if (isError(value)) return copyError(value);
    return {};
  }

  #view(view: ArrayBufferView): object {
    const buffer = this.#copy(view.buffer) as ArrayBuffer;
    const name = viewName(view) as string | undefined;
    if (name === undefined) return new DataView(buffer, view.byteOffset, view.byteLength);
    const Typed = (globalThis as unknown as Record<string, Uint8ArrayConstructor>)[name]!;
    return new Typed(buffer, view.byteOffset, (view as Uint8Array).length);
  }

  /** Fills the copy, which is registered by then. */
  #fill(value: object, copy: object): void {
    if (has(mapSize, value)) {
      // A snapshot: a getter met below may change the map.
      const pairs = Array.from(Map.prototype.entries.call(value));
      for (const [key, one] of pairs) (copy as Map<unknown, unknown>).set(this.#copy(key), this.#copy(one));
    } else if (has(setSize, value)) {
      const members = Array.from(Set.prototype.values.call(value));
      for (const one of members) (copy as Set<unknown>).add(this.#copy(one));
    } else if (isError(value)) {
      const cause = Object.getOwnPropertyDescriptor(value, "cause");
      if (cause && "value" in cause && !clonerOf(value))
        Object.defineProperty(copy, "cause", { value: this.#copy(cause.value), writable: true, configurable: true });
    } else if (Array.isArray(value) || isPlain(copy)) {
      for (const key of Object.keys(value)) {
        const data = (value as Record<string, unknown>)[key];
        Object.defineProperty(copy, key, { value: this.#copy(data), writable: true, enumerable: true, configurable: true });
      }
      // Holes are not copied.
      if (Array.isArray(value)) for (let i = 0; i < value.length; i++) if (!Object.hasOwn(value, i)) Reflect.deleteProperty(copy, i);
    }
  }
}

function copyBuffer(buffer: ArrayBuffer): ArrayBuffer {
  if (isDetached(buffer)) throw notCloned("An ArrayBuffer is detached and could not be cloned.");
  return ArrayBuffer.prototype.slice.call(buffer, 0);
}

function copyError(error: Error): Error {
  const { name } = error;
  const Class = Object.hasOwn(ERRORS, name) ? ERRORS[name]! : Error;
  const made = new Class();
  const { stack } = error;
  Object.defineProperty(made, "stack", { value: typeof stack === "string" ? stack : undefined, writable: true, configurable: true });
  const message = Object.getOwnPropertyDescriptor(error, "message");
  if (message && "value" in message)
    Object.defineProperty(made, "message", { value: String(message.value), writable: true, configurable: true });
  return made;
}

function has(read: (self: unknown) => unknown, value: unknown): boolean {
  try {
    read(value);
    return true;
  } catch {
    return false;
  }
}

function isPlain(copy: object): boolean {
  return Object.getPrototypeOf(copy) === anyPrototype;
}

function tagOf(value: object): string {
  return anyPrototype.toString.call(value);
}

function nameOf(value: object): string {
  const name = value.constructor?.name;
  const isNamed = typeof name === "string" && name !== "" && !/Generator|Symbol/.test(tagOf(value));
  return isNamed ? `#<${name}>` : tagOf(value);
}

function notCloned(message: string): DOMException {
  return new DOMException(message, "DataCloneError");
}

function refused(what: string): TypeError {
  return coded(TypeError, "ERR_INVALID_ARG_TYPE", `Failed to execute 'structuredClone': ${what}`);
}
