/**
 * Inside the isolate: `zlib`: deflate and gzip at once, with a callback and as streams. Brotli and Zstandard are not
 * there: no kept package has them in JavaScript, and what `fetch` gets is decompressed by the host.
 */
import { checkFunction, checkInteger, refuse } from "../errors.ts";
import { nextTick } from "../next-tick.ts";
import type { Mode } from "./engine.ts";
import { codes, constants } from "./zlib-constants.ts";
import { bytesOf } from "./zlib-options.ts";
import type { ZlibOptions } from "./zlib-options.ts";
import { processed, ZlibStream } from "./zlib-stream.ts";

type Done = (error: unknown, result?: unknown) => void;

const MODES: Readonly<Record<string, Mode>> = {
  Deflate: 1,
  Inflate: 2,
  Gzip: 3,
  Gunzip: 4,
  DeflateRaw: 5,
  InflateRaw: 6,
  Unzip: 7,
};
const WITHOUT = ["BrotliCompress", "BrotliDecompress", "ZstdCompress", "ZstdDecompress"];
const WHY = "no kept package has it in JavaScript; use gzip or deflate; fetch decompresses what it gets";

const members: Record<string, unknown> = { crc32 };
const lower = (name: string): string => name[0]!.toLowerCase() + name.slice(1);

for (const [name, mode] of Object.entries(MODES)) {
  // A function and not a class: packages call it without `new` and inherit from it.
  const Class = function (this: unknown, options?: ZlibOptions): object {
    return Reflect.construct(ZlibStream, [mode, options], new.target ?? Class) as object;
  };
  Object.defineProperty(Class, "name", { value: name });
  Class.prototype = Object.create(ZlibStream.prototype, { constructor: { value: Class, writable: true, configurable: true } }) as object;
  Object.setPrototypeOf(Class, ZlibStream);
  members[name] = Class;
  members[`create${name}`] = (options?: ZlibOptions) => Reflect.construct(Class, [options]) as object;
  members[`${lower(name)}Sync`] = (data: unknown, options?: ZlibOptions) => processed(mode, data, options);
  members[lower(name)] = (data: unknown, options: unknown, done?: unknown) => {
    const callback = (typeof options === "function" ? options : done) as Done;
    checkFunction(callback, "callback");
    const bytes = bytesOf(data);
    nextTick(() => later(mode, bytes, typeof options === "function" ? undefined : (options as ZlibOptions), callback));
  };
}

function later(mode: Mode, bytes: Uint8Array, options: ZlibOptions | undefined, done: Done): void {
  let result: unknown;
  try {
    result = processed(mode, bytes, options);
  } catch (error) {
    return done(error);
  }
  return done(null, result);
}

for (const name of WITHOUT) {
  members[name] = refuse(`zlib.${name}`, WHY);
  members[`create${name}`] = refuse(`zlib.create${name}`, WHY);
  members[`${lower(name)}Sync`] = refuse(`zlib.${lower(name)}Sync`, WHY);
  members[lower(name)] = refuse(`zlib.${lower(name)}`, WHY);
}

let table: Uint32Array | undefined;

function crc32(data: unknown, value: unknown = 0): number {
  const bytes = bytesOf(data);
  checkInteger(value, "value", 0, 0xffffffff);
  table ??= crcTable();
  let crc = ~value;
  for (const byte of bytes) crc = (crc >>> 8) ^ table[(crc ^ byte) & 0xff]!;
  return ~crc >>> 0;
}

function crcTable(): Uint32Array {
  return Uint32Array.from({ length: 256 }, (_, at) => {
    let crc = at;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
    return crc;
  });
}

export default Object.assign(members, { constants, codes });
