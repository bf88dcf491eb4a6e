/** Inside the isolate: `buffer`. */
import { Buffer, MAX_LENGTH } from "./buffer-class.ts";
import { inspection } from "./buffer-methods.ts";
import { utf8Text } from "./codecs.ts";
import { invalidArgType } from "../errors.ts";

const MAX_STRING = 2 ** 29 - 24;

function bytesOf(value: unknown): Uint8Array {
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  throw invalidArgType("input", "an instance of ArrayBuffer, Buffer, or TypedArray", value);
}

function isUtf8(value: unknown): boolean {
  const bytes = bytesOf(value);
  let isFine = true;
  utf8Text(bytes, 0, bytes.length, () => (isFine = false));
  return isFine;
}

const buffer = {
  Buffer,
  SlowBuffer: Buffer.allocUnsafeSlow,
  isUtf8,
  isAscii: (value: unknown): boolean => bytesOf(value).every((byte) => byte < 128),
  kMaxLength: MAX_LENGTH,
  kStringMaxLength: MAX_STRING,
  constants: { MAX_LENGTH, MAX_STRING_LENGTH: MAX_STRING },
  get INSPECT_MAX_BYTES(): number {
    return inspection.maxBytes;
  },
  set INSPECT_MAX_BYTES(count: number) {
    inspection.maxBytes = count;
  },
};

// These are lazily made globals of the guest.
for (const name of ["atob", "btoa", "Blob", "File"])
  Object.defineProperty(buffer, name, { get: () => Reflect.get(globalThis, name) as unknown, enumerable: true, configurable: true });

export { Buffer };
export default buffer;
