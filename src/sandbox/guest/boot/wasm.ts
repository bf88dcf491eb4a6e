/**
 * Inside the isolate, before any plugin code, and only if the operator granted WebAssembly: gives it back without shared
 * memory. A wait in shared memory blocks the lane's thread where no CPU clock runs and V8 cannot stop it. A memory is
 * shared if the plugin asks the constructor for that, or if a module defines one, so modules are looked at before they
 * are compiled. What is compiled is the copy that was looked at.
 */
import { call, isView, NativeArrayBuffer, NativeTypeError, NativeUint8Array } from "./primordials.ts";

const { construct } = Reflect;
const { defineProperty, getOwnPropertyDescriptor } = Object;

type Constructor = (new (...args: unknown[]) => object) & { readonly prototype: object };

interface Wasm {
  readonly Memory: Constructor;
  readonly Module: Constructor;
  readonly Instance: Constructor;
}

// SECURITY: every path to the native constructors leads to these instead. test/escape/wasm.test.ts
export function withoutSharedMemory(given: unknown): unknown {
  const wasm = given as Wasm;
  const { Memory: NativeMemory, Module: NativeModule, Instance: NativeInstance } = wasm;
  const bytesOf = byteReader();

  const checked = (source: unknown): unknown => {
    const bytes = bytesOf(source);
    if (bytes && definesShared(bytes)) throw new NativeTypeError(REFUSED);
    return bytes ?? source;
  };
  replace(wasm, "Memory", NativeMemory, function Memory(this: unknown, descriptor: unknown): object {
    const { initial, minimum, maximum, address, shared } = (descriptor ?? {}) as Record<string, unknown>;
    if (shared) throw new NativeTypeError(REFUSED);
    // A copy: a getter might answer otherwise the second time.
    const copy: Record<string, unknown> = { __proto__: null };
    if (initial !== undefined) copy.initial = initial;
    if (minimum !== undefined) copy.minimum = minimum;
    if (maximum !== undefined) copy.maximum = maximum;
    if (address !== undefined) copy.address = address;
    return construct(NativeMemory, [copy], new.target ?? missingNew("Memory")) as object;
  });
  replace(wasm, "Module", NativeModule, function Module(this: unknown, source: unknown): object {
    return construct(NativeModule, [checked(source)], new.target ?? missingNew("Module")) as object;
  });
  // At once: V8 would compile on another thread and leave the result to a task that no turn of the cell waits for.
  const functions = {
    compile: async (source: unknown) => new NativeModule(checked(source)),
    instantiate: async (source: unknown, imports?: unknown) => {
      const bytes = bytesOf(source);
      if (!bytes) return new NativeInstance(source, imports);
      const module = new NativeModule(checked(bytes));
      return { module, instance: new NativeInstance(module, imports) };
    },
  };
  for (const name of ["compile", "instantiate"] as const)
    defineProperty(wasm, name, { value: functions[name], writable: true, configurable: true, enumerable: true });
  return wasm;
}

const REFUSED = "shared memory is not available in the sandbox";

function missingNew(name: string): never {
  throw new NativeTypeError(`WebAssembly.${name} must be invoked with 'new'`);
}

function replace(wasm: object, name: string, native: { prototype: object }, own: { prototype: object }): void {
  const { prototype } = native;
  for (const key of ["exports", "imports", "customSections"]) {
    const property = getOwnPropertyDescriptor(native, key);
    if (property) defineProperty(own, key, property);
  }
  defineProperty(own, "prototype", { value: prototype, writable: false });
  defineProperty(prototype, "constructor", { value: own, writable: true, configurable: true, enumerable: false });
  defineProperty(wasm, name, { value: own, writable: true, configurable: true, enumerable: false });
}

type Getter = (this: unknown) => unknown;

/** Gives a copy of the bytes of a buffer or a view; undefined: it is neither. Getters that a plugin replaces later do not count. */
function byteReader(): (source: unknown) => Uint8Array | undefined {
  const typedArray = Object.getPrototypeOf(NativeUint8Array.prototype) as object;
  const kindOf = getterOf(typedArray, Symbol.toStringTag);
  const arrays = gettersOf(typedArray);
  const views = gettersOf(DataView.prototype);
  const lengthOf = getterOf(NativeArrayBuffer.prototype, "byteLength");
  return (source) => {
    if (isView(source)) {
      const [buffer, offset, length] = call(kindOf, source, []) === undefined ? views : arrays;
      const [of, at, bytes] = [call(buffer, source, []), call(offset, source, []), call(length, source, [])];
      return new NativeUint8Array(new NativeUint8Array(of as ArrayBuffer, at as number, bytes as number));
    }
    try {
      call(lengthOf, source, []);
    } catch {
      return undefined;
    }
    return new NativeUint8Array(new NativeUint8Array(source as ArrayBuffer));
  };
}

function gettersOf(view: object): [Getter, Getter, Getter] {
  return [getterOf(view, "buffer"), getterOf(view, "byteOffset"), getterOf(view, "byteLength")];
}

function getterOf(object: object, name: PropertyKey): Getter {
  const { get } = getOwnPropertyDescriptor(object, name) as { get: Getter };
  return get;
}

const HEADER_BYTES = 8;
const MEMORY_SECTION = 5;
const HAS_MAXIMUM = 1;
const IS_SHARED = 2;

/** Does a module define a memory that is shared? What is no module is left to V8, which refuses it. */
function definesShared(bytes: Uint8Array): boolean {
  const reader = new ModuleReader(bytes);
  while (reader.at < bytes.length) {
    const section = reader.number();
    const end = reader.number() + reader.at;
    if (section === MEMORY_SECTION && reader.hasShared(end)) return true;
    reader.at = end;
  }
  return false;
}

class ModuleReader {
  at = HEADER_BYTES;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** LEB128. */
  number(): number {
    let value = 0;
    for (let scale = 1; this.at < this.#bytes.length; scale *= 128) {
      const byte = this.#bytes[this.at++]!;
      value += (byte & 127) * scale;
      if (byte < 128) break;
    }
    return value;
  }

  /** Reads a memory section: the flags, the least and perhaps the most pages of each memory. */
  hasShared(end: number): boolean {
    for (let left = this.number(); left > 0 && this.at < end; left--) {
      const flags = this.number();
      if (flags & IS_SHARED) return true;
      this.number();
      if (flags & HAS_MAXIMUM) this.number();
    }
    return false;
  }
}
