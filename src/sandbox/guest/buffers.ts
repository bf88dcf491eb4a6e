/**
 * Inside the isolate, before any plugin code: buffers of one fixed size only. A buffer that can grow reserves and takes memory
 * that the heap limit does not count: 2.6 GB were measured inside a limit of 32 MB.
 */
import { isView, NativeArrayBuffer, NativeTypeError } from "./primordials.ts";

const { construct } = Reflect;

/** As ArrayBuffer, without a second argument. A function, so that classes can extend it. */
function FixedArrayBuffer(this: unknown, length: unknown): object {
  if (new.target === undefined) throw new NativeTypeError("Constructor ArrayBuffer requires 'new'");
  return construct(NativeArrayBuffer, [length], new.target) as object;
}

// SECURITY: whatever leads to the native constructor leads to this one instead. test/escape/buffers.test.ts
export function fixBuffers(): void {
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
  Object.defineProperty(globalThis, "ArrayBuffer", { value: FixedArrayBuffer, writable: true, configurable: true });
}
