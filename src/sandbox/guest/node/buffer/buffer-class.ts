/**
 * Inside the isolate: `Buffer` itself: its constructor, its static functions, and the methods that are made from
 * tables.
 */
import { FastBuffer, checkBytes, clamped, compareBytes, encodingOrThrow, made, own, plain, put } from "./buffer-methods.ts";
import type { Buffer as BufferInstance } from "./buffer-methods.ts";
import { addNumbers } from "./buffer-numbers.ts";
import { decode, encode, encodedLength, encodingNamed, ENCODINGS } from "./codecs.ts";
import { checkInteger, checkNumber, invalidArgType, nodeError, outOfRange } from "../errors.ts";

export type Buffer = BufferInstance;
export const MAX_LENGTH = 2 ** 32;

/** Old code calls it without `new`. */
function BufferFunction(value: unknown, encodingOrOffset?: unknown, length?: unknown): Buffer {
  if (typeof value !== "number") return bufferFrom(value, encodingOrOffset, length);
  if (typeof encodingOrOffset === "string") throw invalidArgType("string", "of type string", value);
  return alloc(value);
}

function checkedSize(value: unknown): number {
  checkNumber(value, "size");
  if (!(value >= 0 && value <= Number.MAX_SAFE_INTEGER)) throw outOfRange("size", `>= 0 && <= ${Number.MAX_SAFE_INTEGER}`, value);
  return value;
}

function alloc(length: unknown, value?: unknown, encoding?: unknown): Buffer {
  const buffer = made(checkedSize(length));
  if (value !== undefined && value !== 0 && buffer.length > 0) {
    if (typeof encoding === "string") buffer.fill(value, encoding);
    else buffer.fill(value);
  }
  return buffer;
}

const EXPECTED = "of type string or an instance of Buffer, ArrayBuffer, or Array or an Array-like Object";
const FIRST = "first argument";

function bufferFrom(value: unknown, encodingOrOffset?: unknown, length?: unknown): Buffer {
  if (typeof value === "string")
    return own(encode(value, encodingOrThrow(typeof encodingOrOffset === "string" ? encodingOrOffset : undefined)));
  if (typeof value === "object" && value !== null) {
    if (isArrayBuffer(value)) return view(value, encodingOrOffset, length);
    const primitive = (value as { valueOf?: () => unknown }).valueOf?.();
    if (
      primitive !== undefined &&
      primitive !== null &&
      primitive !== value &&
      (typeof primitive === "string" || typeof primitive === "object")
    )
      return bufferFrom(primitive, encodingOrOffset, length);
    const like = fromObject(value as ArrayLike<unknown> & { type?: unknown; data?: unknown });
    if (like) return like;
    const toPrimitive = (value as { [Symbol.toPrimitive]?: (hint: string) => unknown })[Symbol.toPrimitive];
    if (typeof toPrimitive === "function") {
      const text = toPrimitive.call(value, "string");
      if (typeof text === "string") return bufferFrom(text, encodingOrOffset);
    }
  }
  throw nodeError(TypeError, "ERR_INVALID_ARG_TYPE", invalidArgType(FIRST, EXPECTED, value).message);
}

function fromObject(value: ArrayLike<unknown> & { type?: unknown; data?: unknown }): Buffer | undefined {
  if (value.length !== undefined || ArrayBuffer.isView(value)) {
    if (typeof value.length !== "number") return made(0);
    return own(Uint8Array.from(value as ArrayLike<number>));
  }
  return value.type === "Buffer" && Array.isArray(value.data) ? own(Uint8Array.from(value.data as number[])) : undefined;
}

function isArrayBuffer(value: object): value is ArrayBuffer {
  try {
    // Throws unless the value really is an ArrayBuffer.
    Object.getOwnPropertyDescriptor(ArrayBuffer.prototype, "byteLength")!.get!.call(value);
    return true;
  } catch {
    return false;
  }
}

function view(buffer: ArrayBuffer, offset: unknown, length: unknown): Buffer {
  const start = offset === undefined ? 0 : Number(offset) || 0;
  const most = buffer.byteLength - start;
  if (most < 0) throw nodeError(RangeError, "ERR_BUFFER_OUT_OF_BOUNDS", '"offset" is outside of buffer bounds');
  if (length === undefined) return new FastBuffer(buffer, start, most) as Buffer;
  const count = Number(length);
  if (!(count > 0)) return new FastBuffer(buffer, start, 0) as Buffer;
  if (count > most) throw nodeError(RangeError, "ERR_BUFFER_OUT_OF_BOUNDS", '"length" is outside of buffer bounds');
  return new FastBuffer(buffer, start, count) as Buffer;
}

const statics = {
  poolSize: 8192,
  from: bufferFrom,
  alloc,
  // Functions, not arrows: packages such as cbor-x call them with `new`, as Node lets them.
  allocUnsafe: function allocUnsafe(this: void, length: unknown): Buffer {
    return alloc(length);
  },
  allocUnsafeSlow: function allocUnsafeSlow(this: void, length: unknown): Buffer {
    return alloc(length);
  },
  of: (...items: number[]): Buffer => own(Uint8Array.from(items)),
  copyBytesFrom(source: unknown, offset?: unknown, length?: unknown): Buffer {
    if (!ArrayBuffer.isView(source) || source instanceof DataView) throw invalidArgType("view", "an instance of TypedArray", source);
    const items = source as Uint8Array;
    if (offset !== undefined) checkInteger(offset, "offset", 0);
    if (length !== undefined) checkInteger(length, "length", 0);
    const start = offset ?? 0;
    const part = items.slice(start, length === undefined ? items.length : start + length);
    return own(new Uint8Array(part.buffer, part.byteOffset, part.byteLength).slice());
  },
  isBuffer: (value: unknown): value is Buffer => value instanceof BufferFunction,
  isEncoding: (name: unknown): boolean => typeof name === "string" && name !== "" && encodingNamed(name) !== undefined,
  byteLength(value: unknown, encoding?: unknown): number {
    if (typeof value === "string") return encodedLength(value, (typeof encoding === "string" && encodingNamed(encoding)) || "utf8");
    if (ArrayBuffer.isView(value) || (typeof value === "object" && value !== null && isArrayBuffer(value)))
      return (value as ArrayBuffer).byteLength;
    throw invalidArgType("string", "of type string or an instance of Buffer or ArrayBuffer", value);
  },
  compare(a: unknown, b: unknown): number {
    checkBytes(a, "buf1");
    checkBytes(b, "buf2");
    return compareBytes(a, b);
  },
  concat(list: unknown, length?: unknown): Buffer {
    if (!Array.isArray(list)) throw invalidArgType("list", "an instance of Array", list);
    for (const [i, one] of (list as unknown[]).entries()) checkBytes(one, `list[${i}]`);
    const all = list as Uint8Array[];
    const total = length === undefined ? all.reduce((sum, one) => sum + one.length, 0) : (length as number);
    if (length !== undefined) checkInteger(length, "length", 0);
    const whole = made(all.length === 0 ? 0 : total);
    let at = 0;
    for (const one of all) {
      if (at >= total) break;
      const part = plain(one, 0, Math.min(one.length, total - at));
      whole.set(part, at);
      at += part.length;
    }
    return whole;
  },
};

type BufferStatics = typeof statics & {
  (value: unknown, encodingOrOffset?: unknown, length?: unknown): Buffer;
  new (value: unknown, encodingOrOffset?: unknown, length?: unknown): Buffer;
  readonly prototype: Buffer;
};

for (const name of Object.keys(statics) as (keyof typeof statics)[])
  Object.defineProperty(BufferFunction, name, { value: statics[name], writable: true, configurable: true, enumerable: true });
Object.defineProperties(BufferFunction, {
  name: { value: "Buffer" },
  prototype: { value: FastBuffer.prototype, writable: true, enumerable: false },
  [Symbol.species]: { get: () => FastBuffer, configurable: true, enumerable: false },
});
Object.setPrototypeOf(BufferFunction, Uint8Array);
Object.defineProperty(FastBuffer.prototype, "constructor", {
  value: BufferFunction,
  writable: true,
  configurable: true,
  enumerable: false,
});

addNumbers(FastBuffer.prototype);

function addMethod(name: string, value: unknown): void {
  Object.defineProperty(FastBuffer.prototype, name, { value, writable: true, configurable: true });
}

for (const encoding of ENCODINGS) {
  const short = encoding === "utf16le" ? "ucs2" : encoding;
  addMethod(`${short}Slice`, function (this: Uint8Array, start?: number, end?: number) {
    return decode(this, encoding, clamped(start, this.length, 0), clamped(end, this.length, this.length));
  });
  addMethod(`${short}Write`, function (this: Uint8Array, text: string, start?: number, count?: number) {
    const at = clamped(start, this.length, 0);
    return put(this, text, at, clamped(count, this.length - at, this.length - at), encoding);
  });
}

export const Buffer = BufferFunction as unknown as BufferStatics;

// As in Node: packages list the methods with `for … in`.
for (const name of Object.getOwnPropertyNames(FastBuffer.prototype))
  if (name !== "constructor") Object.defineProperty(FastBuffer.prototype, name, { enumerable: true });
