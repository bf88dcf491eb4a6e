/**
 * Inside the isolate: the methods of a Buffer, a Uint8Array with more of them. It follows current Node; there is no
 * pool.
 */
import { find } from "./buffer-search.ts";
import { decode, encode, encodingNamed, utf8Write } from "./codecs.ts";
import type { Encoding } from "./codecs.ts";
import { checkInteger, invalidArgType, invalidArgValue, nodeError, outOfRange } from "../errors.ts";

const BYTES = "an instance of Buffer or Uint8Array";
const INSPECT = Symbol.for("nodejs.util.inspect.custom");

export function encodingOrThrow(name: unknown): Encoding {
  const encoding = typeof name === "string" || name === undefined || name === null ? encodingNamed(name) : undefined;
  if (!encoding) throw nodeError(TypeError, "ERR_UNKNOWN_ENCODING", `Unknown encoding: ${String(name)}`);
  return encoding;
}

export function checkBytes(value: unknown, name: string): asserts value is Uint8Array {
  if (!(value instanceof Uint8Array)) throw invalidArgType(name, BYTES, value);
}

export function clamped(value: unknown, length: number, otherwise: number): number {
  if (value === undefined) return otherwise;
  const whole = Math.trunc(Number(value)) || 0;
  return Math.min(Math.max(whole < 0 ? 0 : whole, 0), length);
}

/** An index of `subarray` and `slice`. Negative ones count from the end. */
function ranged(value: unknown, length: number, otherwise: number): number {
  if (value === undefined) return otherwise;
  const whole = Math.trunc(Number(value)) || 0;
  return whole < 0 ? Math.max(whole + length, 0) : Math.min(whole, length);
}

function index(value: unknown, name: string, otherwise: number, most: number): number {
  if (value === undefined) return otherwise;
  checkInteger(value, name, 0, most);
  return value;
}

export class FastBuffer extends Uint8Array<ArrayBuffer> {
  get parent(): ArrayBuffer | undefined {
    return this instanceof FastBuffer ? this.buffer : undefined;
  }

  get offset(): number | undefined {
    return this instanceof FastBuffer ? this.byteOffset : undefined;
  }

  override toString(encoding?: unknown, start?: unknown, end?: unknown): string {
    const from = start === undefined || Number(start) <= 0 ? 0 : Math.trunc(Number(start)) || 0;
    const to = end === undefined || Number(end) > this.length ? this.length : Math.trunc(Number(end)) || 0;
    if (from >= this.length || to <= 0 || to <= from) return encoding === undefined ? "" : (encodingOrThrow(encoding), "");
    return decode(this, encodingOrThrow(encoding), from, to);
  }

  override toLocaleString(encoding?: unknown, start?: unknown, end?: unknown): string {
    return this.toString(encoding, start, end);
  }

  toJSON(): { type: "Buffer"; data: number[] } {
    return { type: "Buffer", data: Array.from(this) };
  }

  equals(other: unknown): boolean {
    checkBytes(other, "otherBuffer");
    return this === other || (this.length === other.length && compareBytes(this, other) === 0);
  }

  compare(target: unknown, targetStart?: unknown, targetEnd?: unknown, sourceStart?: unknown, sourceEnd?: unknown): number {
    checkBytes(target, "target");
    const none = Number.MAX_SAFE_INTEGER;
    const [from, to] = [index(targetStart, "targetStart", 0, none), index(targetEnd, "targetEnd", target.length, target.length)];
    const [begin, end] = [index(sourceStart, "sourceStart", 0, none), index(sourceEnd, "sourceEnd", this.length, this.length)];
    if (begin >= end) return from >= to ? 0 : -1;
    if (from >= to) return 1;
    return compareBytes(plain(this, begin, end), plain(target, from, to));
  }

  copy(target: unknown, targetStart?: unknown, sourceStart?: unknown, sourceEnd?: unknown): number {
    if (!ArrayBuffer.isView(target)) throw invalidArgType("target", BYTES, target);
    const at = targetStart === undefined ? 0 : Math.trunc(Number(targetStart)) || 0;
    if (at < 0) throw outOfRange("targetStart", ">= 0", at);
    const from = sourceStart === undefined ? 0 : Math.trunc(Number(sourceStart)) || 0;
    if (from < 0 || from > this.length) throw outOfRange("sourceStart", `>= 0 && <= ${this.length}`, from);
    const to = sourceEnd === undefined ? this.length : Math.trunc(Number(sourceEnd)) || 0;
    if (to < 0) throw outOfRange("sourceEnd", ">= 0", to);
    const into = new Uint8Array(target.buffer, target.byteOffset, target.byteLength);
    if (at >= into.length || from >= to) return 0;
    const count = Math.min(to - from, into.length - at, this.length - from);
    into.set(plain(this, from, from + count), at);
    return count;
  }

  override subarray(start?: number, end?: number): Buffer {
    const from = ranged(start, this.length, 0);
    const to = ranged(end, this.length, this.length);
    return new FastBuffer(this.buffer, this.byteOffset + from, Math.max(to - from, 0)) as Buffer;
  }

  /** A view, unlike Uint8Array's `slice`. */
  override slice(start?: number, end?: number): Buffer {
    return this.subarray(start, end);
  }

  write(text: unknown, offset?: unknown, length?: unknown, encoding?: unknown): number {
    if (typeof text !== "string") throw nodeError(TypeError, "ERR_INVALID_ARG_TYPE", "argument must be a string");
    // Node's rule: without an offset, the other arguments are ignored.
    if (offset === undefined) return put(this, text, 0, this.length, "utf8");
    let [at, most, name] = [offset, length, encoding];
    if (most === undefined && typeof at === "string") [at, name] = [0, at];
    else if (typeof most === "string") [most, name] = [undefined, most];
    const start = position(at, "offset", this.length);
    const room = this.length - start;
    const count = most === undefined ? room : Math.min(position(most, "length", this.length), room);
    return put(this, text, start, count, encodingOrThrow(name));
  }

  override fill(value: unknown, offset?: unknown, end?: unknown, encoding?: unknown): this {
    let [from, to, name] = [offset, end, encoding];
    if (typeof value === "string") {
      if (from === undefined || typeof from === "string") [from, to, name] = [undefined, undefined, from];
      else if (typeof to === "string") [to, name] = [undefined, to];
    }
    const known = typeof value === "string" ? encodingOrThrow(name) : "utf8";
    // As in `write`.
    if (from === undefined) to = undefined;
    const begin = from === undefined ? 0 : position(from, "offset", Number.MAX_SAFE_INTEGER);
    const stop = to === undefined ? this.length : position(to, "end", this.length);
    if (begin >= stop) return this;
    let bytes: Uint8Array;
    if (typeof value === "string") {
      bytes = encode(value, known);
      if (bytes.length === 0 && value !== "") throw invalidArgValue("value", value);
    } else if (value instanceof Uint8Array) {
      bytes = value;
      if (bytes.length === 0) throw invalidArgValue("value", value);
    } else bytes = Uint8Array.of(typeof value === "boolean" ? Number(value) : Number(value) & 255);
    if (bytes.length < 2) Uint8Array.prototype.fill.call(this, bytes[0] ?? 0, begin, stop);
    else for (let i = begin; i < stop; i++) this[i] = bytes[(i - begin) % bytes.length]!;
    return this;
  }

  override indexOf(value: unknown, offset?: unknown, encoding?: unknown): number {
    return find(this, value, offset, encoding, true);
  }

  override lastIndexOf(value: unknown, offset?: unknown, encoding?: unknown): number {
    return find(this, value, offset, encoding, false);
  }

  override includes(value: unknown, offset?: unknown, encoding?: unknown): boolean {
    return find(this, value, offset, encoding, true) !== -1;
  }

  swap16(): this {
    return swapped(this, 2);
  }

  swap32(): this {
    return swapped(this, 4);
  }

  swap64(): this {
    return swapped(this, 8);
  }

  [INSPECT](_depth?: unknown, options?: unknown, inspect?: (value: unknown, options?: object) => string): string {
    const most = inspection.maxBytes;
    let text = decode(this, "hex", 0, Math.min(most, this.length))
      .replaceAll(/(.{2})/g, "$1 ")
      .trim();
    const rest = this.length - most;
    if (rest > 0) text += ` ... ${rest} more byte${rest > 1 ? "s" : ""}`;
    // Properties that the plugin added.
    const added = Object.keys(this).filter((key) => !/^\d+$/.test(key));
    if (added.length > 0 && inspect) {
      const extras = Object.fromEntries(added.map((key) => [key, (this as unknown as Record<string, unknown>)[key]]));
      text += `${this.length > 0 ? ", " : ""}${inspect({ __proto__: null, ...extras }, { ...(options as object), breakLength: Infinity, compact: true }).slice(27, -2)}`;
    }
    return `<${this.constructor.name} ${text}>`;
  }
}

/** A plain Uint8Array, so that a plugin that changed Buffer's methods does not affect ours. */
export function plain(bytes: Uint8Array, start: number, end: number): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset + start, Math.max(end - start, 0));
}

function position(value: unknown, name: string, most: number): number {
  checkInteger(value, name, 0, most);
  return value;
}

export function put(into: Uint8Array, text: string, start: number, count: number, encoding: Encoding): number {
  if (encoding === "utf8") return utf8Write(text, into, start, start + count);
  const bytes = encode(text, encoding);
  const whole = encoding === "utf16le" ? count & ~1 : count;
  into.set(bytes.subarray(0, whole), start);
  return Math.min(bytes.length, whole);
}

function swapped<B extends Uint8Array>(bytes: B, size: number): B {
  if (bytes.length % size !== 0)
    throw nodeError(RangeError, "ERR_INVALID_BUFFER_SIZE", `Buffer size must be a multiple of ${size * 8}-bits`);
  for (let i = 0; i < bytes.length; i += size) plain(bytes, i, i + size).reverse();
  return bytes;
}

export function compareBytes(a: Uint8Array, b: Uint8Array): -1 | 0 | 1 {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) if (a[i] !== b[i]) return a[i]! < b[i]! ? -1 : 1;
  return a.length === b.length ? 0 : a.length < b.length ? -1 : 1;
}

/** Set through `buffer.INSPECT_MAX_BYTES`. */
export const inspection = { maxBytes: 50 };

export type Buffer = FastBuffer &
  Record<`read${string}`, (offset?: number, size?: number) => number> &
  Record<`write${string}`, (value: unknown, offset?: number, size?: number) => number>;

export function made(length: number): Buffer {
  return new (FastBuffer as unknown as new (length: number) => Buffer)(length);
}

/** A Buffer over bytes that no one else holds, without a copy. */
export function own(bytes: Uint8Array<ArrayBuffer>): Buffer {
  return new FastBuffer(bytes.buffer, bytes.byteOffset, bytes.length) as Buffer;
}
