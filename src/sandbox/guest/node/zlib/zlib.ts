/**
 * Inside the isolate: `zlib`: deflate and gzip at once, with a callback and as streams; Brotli only decompresses.
 * Brotli's compressor and Zstandard are not there, and what `fetch` gets is decompressed by the host.
 */
import { checkFunction, checkInteger, refuse } from "../errors.ts";
import { nextTick } from "../next-tick.ts";
import { brotliProcessed, BrotliStream } from "./brotli-stream.ts";
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
const WITHOUT: Readonly<Record<string, string>> = {
  BrotliCompress: "Brotli's compressor is 1.3 MB of generated code; use gzip or deflate",
  ZstdCompress: "it has not been built; use gzip or deflate",
  ZstdDecompress: "it has not been built; fetch decompresses what it gets",
};

type Options = ZlibOptions | undefined;

const members: Record<string, unknown> = { crc32 };
const lower = (name: string): string => name[0]!.toLowerCase() + name.slice(1);

for (const [name, mode] of Object.entries(MODES))
  add(
    name,
    ZlibStream,
    (options) => [mode, options],
    (data, options) => processed(mode, data, options),
  );
add("BrotliDecompress", BrotliStream, (options) => [options], brotliProcessed);

function add(
  name: string,
  Base: typeof ZlibStream | typeof BrotliStream,
  argumentsOf: (options: Options) => unknown[],
  atOnce: (data: unknown, options: Options) => unknown,
): void {
  // A function and not a class: packages call it without `new` and inherit from it.
  const Class = function (this: unknown, options?: ZlibOptions): object {
    return Reflect.construct(Base, argumentsOf(options), new.target ?? Class) as object;
  };
  Object.defineProperty(Class, "name", { value: name });
  Class.prototype = Object.create(Base.prototype, { constructor: { value: Class, writable: true, configurable: true } }) as object;
  Object.setPrototypeOf(Class, Base);
  members[name] = Class;
  members[`create${name}`] = (options?: ZlibOptions) => Reflect.construct(Class, [options]) as object;
  members[`${lower(name)}Sync`] = (data: unknown, options?: ZlibOptions) => atOnce(data, options);
  members[lower(name)] = (data: unknown, options: unknown, done?: unknown) => {
    const callback = (typeof options === "function" ? options : done) as Done;
    checkFunction(callback, "callback");
    const bytes = bytesOf(data);
    nextTick(() => later(() => atOnce(bytes, typeof options === "function" ? undefined : (options as ZlibOptions)), callback));
  };
}

function later(run: () => unknown, done: Done): void {
  let result: unknown;
  try {
    result = run();
  } catch (error) {
    return done(error);
  }
  return done(null, result);
}

for (const [name, why] of Object.entries(WITHOUT)) {
  members[name] = refuse(`zlib.${name}`, why);
  members[`create${name}`] = refuse(`zlib.create${name}`, why);
  members[`${lower(name)}Sync`] = refuse(`zlib.${lower(name)}Sync`, why);
  members[lower(name)] = refuse(`zlib.${lower(name)}`, why);
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
