/**
 * Inside the isolate, before any plugin code: makes the global object what a plugin may see. Timers are added; whatever
 * would give a plugin threads, exact clocks or memory beyond the heap limit is taken away.
 */
import { call, isView, NativeArrayBuffer, NativePromise, NativeTypeError, promiseThen } from "./primordials.ts";
import { notCallable, timerGlobals } from "../turn/timers.ts";
import { withoutSharedMemory } from "./wasm.ts";

const { construct } = Reflect;
const wasm = Reflect.get(globalThis, "WebAssembly") as unknown;

export function installGlobals(): void {
  const globals: Record<string, unknown> = {
    ...timerGlobals,
    queueMicrotask: (fn: unknown) => {
      if (typeof fn !== "function") throw notCallable(fn);
      void call(promiseThen, NativePromise.resolve(), [() => call(fn as () => void, undefined, [])]);
    },
  };
  for (const name of Object.keys(globals)) define(name, globals[name]);
  // SECURITY: shared memory gives threads and clocks, WebAssembly memory that the heap limit does not count.
  // test/escape/globals.test.ts
  for (const name of ["gc", "WebAssembly", "SharedArrayBuffer", "Atomics", "WeakRef", "FinalizationRegistry"])
    // `gc` cannot be deleted when the gateway runs with --expose-gc, but it can be replaced.
    if (!Reflect.deleteProperty(globalThis, name)) (globalThis as Record<string, unknown>)[name] = undefined;
  fixBuffers();
}

/** Called only if the operator granted WebAssembly. */
export function restoreWasm(): void {
  define("WebAssembly", withoutSharedMemory(wasm));
}

function define(name: string, value: unknown): void {
  Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
}

/**
 * ArrayBuffer without its second argument. A buffer that can grow reserves and takes memory that the heap limit does
 * not count: 2.6 GB were measured inside a limit of 32 MB. A function, so that classes can extend it.
 */
function FixedArrayBuffer(this: unknown, length: unknown): object {
  if (new.target === undefined) throw new NativeTypeError("Constructor ArrayBuffer requires 'new'");
  return construct(NativeArrayBuffer, [length], new.target) as object;
}

// SECURITY: every path to the native constructor leads to this one instead. test/escape/buffers.test.ts
function fixBuffers(): void {
  const { prototype } = NativeArrayBuffer;
  for (const name of ["resize", "transfer", "transferToFixedLength"]) Reflect.deleteProperty(prototype, name);
  const species = Object.getOwnPropertyDescriptor(NativeArrayBuffer, Symbol.species)!;
  Object.defineProperties(FixedArrayBuffer, {
    name: { value: "ArrayBuffer" },
    prototype: { value: prototype, writable: false },
    isView: { value: isView, writable: true, configurable: true },
    [Symbol.species]: species,
  });
  Object.defineProperty(prototype, "constructor", { value: FixedArrayBuffer, writable: true, configurable: true });
  define("ArrayBuffer", FixedArrayBuffer);
}
