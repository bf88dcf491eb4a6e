/** Inside the isolate: numbers in a Buffer: `readInt32LE`, `writeBigUInt64BE` and sixty others, made from a table. */
import { checkNumber, invalidArgType, nodeError, outOfRange } from "../errors.ts";

type Reader = (view: DataView, at: number, isLittle: boolean) => number | bigint;
type Writer = (view: DataView, at: number, value: never, isLittle: boolean) => void;

interface Kind {
  readonly name: string;
  readonly size: number;
  readonly get: Reader;
  readonly set: Writer;
  /** Undefined for floats, which take any number. */
  readonly range?: readonly [least: number | bigint, most: number | bigint];
}

const KINDS: readonly Kind[] = [
  { name: "UInt8", size: 1, get: (v, at) => v.getUint8(at), set: (v, at, value) => v.setUint8(at, value), range: [0, 0xff] },
  { name: "Int8", size: 1, get: (v, at) => v.getInt8(at), set: (v, at, value) => v.setInt8(at, value), range: [-0x80, 0x7f] },
  {
    name: "UInt16",
    size: 2,
    get: (v, at, le) => v.getUint16(at, le),
    set: (v, at, value, le) => v.setUint16(at, value, le),
    range: [0, 0xffff],
  },
  {
    name: "Int16",
    size: 2,
    get: (v, at, le) => v.getInt16(at, le),
    set: (v, at, value, le) => v.setInt16(at, value, le),
    range: [-0x8000, 0x7fff],
  },
  {
    name: "UInt32",
    size: 4,
    get: (v, at, le) => v.getUint32(at, le),
    set: (v, at, value, le) => v.setUint32(at, value, le),
    range: [0, 0xffffffff],
  },
  {
    name: "Int32",
    size: 4,
    get: (v, at, le) => v.getInt32(at, le),
    set: (v, at, value, le) => v.setInt32(at, value, le),
    range: [-0x80000000, 0x7fffffff],
  },
  {
    name: "BigUInt64",
    size: 8,
    get: (v, at, le) => v.getBigUint64(at, le),
    set: (v, at, value, le) => v.setBigUint64(at, value, le),
    range: [0n, 2n ** 64n - 1n],
  },
  {
    name: "BigInt64",
    size: 8,
    get: (v, at, le) => v.getBigInt64(at, le),
    set: (v, at, value, le) => v.setBigInt64(at, value, le),
    range: [-(2n ** 63n), 2n ** 63n - 1n],
  },
  { name: "Float", size: 4, get: (v, at, le) => v.getFloat32(at, le), set: (v, at, value, le) => v.setFloat32(at, value, le) },
  { name: "Double", size: 8, get: (v, at, le) => v.getFloat64(at, le), set: (v, at, value, le) => v.setFloat64(at, value, le) },
];

export function addNumbers(prototype: object): void {
  const add = (name: string, value: unknown): void => {
    // Node has both spellings.
    for (const one of new Set([name, name.replace("UInt", "Uint")]))
      Object.defineProperty(prototype, one, { value, writable: true, configurable: true });
  };
  for (const { name, size, get, set, range } of KINDS)
    for (const order of size === 1 ? [""] : ["LE", "BE"]) {
      const isLittle = order === "LE";
      add(`read${name}${order}`, function (this: Uint8Array, offset: unknown = 0) {
        checkOffset(this, offset, size);
        return get(viewOf(this), offset, isLittle);
      });
      add(`write${name}${order}`, function (this: Uint8Array, value: unknown, offset: unknown = 0) {
        const isBig = typeof range?.[0] === "bigint";
        const given = isBig ? (value as bigint) : Number(value);
        if (!isBig) checkNumber(offset, "offset");
        // As in Node: mixing a number with a BigInt throws.
        if (isBig && typeof given !== "bigint") throw new TypeError("Cannot mix BigInt and other types, use explicit conversions");
        if (range) checkRange(given, range, size);
        checkOffset(this, offset, size);
        set(viewOf(this), offset, given as never, isLittle);
        return offset + size;
      });
    }
  for (const isSigned of [false, true])
    for (const order of ["LE", "BE"]) {
      const name = `${isSigned ? "Int" : "UInt"}${order}`;
      add(`read${name}`, function (this: Uint8Array, offset: unknown, size: unknown) {
        if (offset === undefined) throw invalidArgType("offset", "of type number", offset);
        checkSize(size);
        checkOffset(this, offset, size);
        let value = 0;
        for (let i = 0; i < size; i++) value = value * 256 + this[offset + (order === "LE" ? size - 1 - i : i)]!;
        return isSigned && value >= 2 ** (8 * size - 1) ? value - 2 ** (8 * size) : value;
      });
      add(`write${name}`, function (this: Uint8Array, value: unknown, offset: unknown, size: unknown) {
        checkSize(size);
        const given = Number(value);
        checkNumber(offset, "offset");
        const half = 2 ** (8 * size - 1);
        checkRange(given, isSigned ? [-half, half - 1] : [0, half * 2 - 1], size);
        checkOffset(this, offset, size);
        // As in Node: the low four bytes are cut off, the higher ones are rounded down.
        const [low, high] = [given >>> 0, Math.floor(given * 2 ** -32)];
        for (let i = 0; i < size; i++) this[offset + (order === "LE" ? i : size - 1 - i)] = i < 4 ? low >>> (8 * i) : high >> (8 * (i - 4));
        return offset + size;
      });
    }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function checkOffset(bytes: Uint8Array, offset: unknown, size: number): asserts offset is number {
  checkNumber(offset, "offset");
  if (offset >= 0 && offset + size <= bytes.length && Number.isInteger(offset)) return;
  if (Math.floor(offset) !== offset) throw outOfRange("offset", "an integer", offset);
  const most = bytes.length - size;
  if (most < 0) throw nodeError(RangeError, "ERR_BUFFER_OUT_OF_BOUNDS", "Attempt to access memory outside buffer bounds");
  throw outOfRange("offset", `>= 0 and <= ${most}`, offset);
}

function checkSize(size: unknown): asserts size is number {
  if (size === undefined) throw invalidArgType("byteLength", "of type number", size);
  checkNumber(size, "byteLength");
  if (Math.floor(size) !== size) throw outOfRange("byteLength", "an integer", size);
  if (size < 1 || size > 6) throw outOfRange("byteLength", ">= 1 and <= 6", size);
}

function checkRange(value: number | bigint, [least, most]: readonly [number | bigint, number | bigint], size: number): void {
  if (!(value > most || value < least)) return;
  const n = typeof least === "bigint" ? "n" : "";
  const isPlain = size <= 4 && n === "";
  const range = isPlain
    ? `>= ${least} and <= ${most}`
    : least === 0 || least === 0n
      ? `>= 0${n} and < 2${n} ** ${size * 8}${n}`
      : `>= -(2${n} ** ${size * 8 - 1}${n}) and < 2${n} ** ${size * 8 - 1}${n}`;
  throw outOfRange("value", range, value);
}
