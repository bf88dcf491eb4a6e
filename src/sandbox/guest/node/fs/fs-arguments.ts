/** Inside the isolate: the arguments of Node's file functions: paths in several forms, data, encodings, flags. */
import { encodingNamed } from "../buffer/codecs.ts";
import { invalidArgType, invalidArgValue, nodeError, outOfRange } from "../errors.ts";
import { bufferClass } from "./fs-content.ts";
import type { Data } from "./fs-content.ts";
import { calling } from "./fs-errors.ts";

const PATH = "of type string or an instance of Buffer or URL";

export function pathOfArgument(value: unknown, name = "path"): string {
  let path: string;
  if (typeof value === "string") path = value.toWellFormed();
  else if (value instanceof Uint8Array) path = bufferClass().from(value).toString("utf8");
  else if (isUrl(value)) path = fileOfUrl(value);
  else throw invalidArgType(name, PATH, value);
  if (path.includes("\0")) throw invalidArgValue(name, path, "must be a string, Uint8Array, or URL without null bytes");
  return path;
}

interface UrlLike {
  readonly href: string;
  readonly protocol: string;
  readonly hostname: string;
  readonly pathname: string;
}

function isUrl(value: unknown): value is UrlLike {
  const { href, protocol } = (value ?? {}) as Partial<UrlLike>;
  return typeof value === "object" && typeof href === "string" && typeof protocol === "string";
}

function fileOfUrl({ protocol, hostname, pathname }: UrlLike): string {
  if (protocol !== "file:") throw nodeError(TypeError, "ERR_INVALID_URL_SCHEME", "The URL must be of scheme file");
  if (hostname !== "") throw nodeError(TypeError, "ERR_INVALID_FILE_URL_HOST", 'File URL host must be "localhost" or empty on linux');
  if (/%2f/i.test(pathname)) throw nodeError(TypeError, "ERR_INVALID_FILE_URL_PATH", "File URL path must not include encoded / characters");
  return decodeURIComponent(pathname);
}

/** An argument that is either an encoding or an object of options. */
export function optionsOf(options: unknown): Record<string, unknown> {
  if (options === undefined || options === null || typeof options === "function") return {};
  const found = typeof options === "string" ? { encoding: options } : options;
  if (typeof found !== "object") throw invalidArgType("options", "one of type string or an instance of Object", options);
  const { encoding } = found as { encoding?: unknown };
  if (
    encoding !== undefined &&
    encoding !== null &&
    encoding !== "buffer" &&
    (typeof encoding !== "string" || encodingNamed(encoding) === undefined)
  )
    throw invalidArgValue("encoding", encoding, "is invalid encoding");
  return found as Record<string, unknown>;
}

/** Data to write, copied so that the plugin cannot change it later. */
export function dataOfArgument(value: unknown, encoding: unknown): Data {
  if (typeof value === "string") {
    const named = encodingNamed(encoding);
    return named === "utf8" ? value.toWellFormed() : bufferClass().from(value, named as BufferEncoding);
  }
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength).slice();
  throw invalidArgType("data", "of type string or an instance of Buffer, TypedArray, or DataView", value);
}

/** A new Buffer, or text. */
export function dataFor(data: Data, encoding: unknown): Buffer | string {
  if (typeof data === "string" && typeof encoding === "string" && encodingNamed(encoding) === "utf8" && encoding !== "buffer") return data;
  const bytes = bufferClass().from(data as string);
  return typeof encoding === "string" && encoding !== "buffer" ? bytes.toString(encodingNamed(encoding)) : bytes;
}

function checkDescriptor(value: unknown): number {
  if (typeof value !== "number") throw invalidArgType("fd", "of type number", value);
  if (!Number.isInteger(value)) throw outOfRange("fd", "an integer", value);
  if (value < 0 || value > 2_147_483_647) throw outOfRange("fd", ">= 0 && <= 2147483647", value);
  return value;
}

/** Milliseconds since 1970. */
export function timeOf(value: unknown): number {
  const time = value instanceof Date ? value.getTime() : Number(value) * 1000;
  if (Number.isNaN(time)) throw invalidArgType("time", "an instance of Date", value);
  return time;
}

/** A number, or octal digits. */
export function modeOf(value: unknown, usual: number): number {
  if (value === undefined || value === null) return usual;
  if (typeof value === "string" && /^[0-7]+$/.test(value)) return Number.parseInt(value, 8);
  if (typeof value === "number" && Number.isInteger(value) && value >= 0) return value;
  throw typeof value === "number" || typeof value === "string"
    ? invalidArgValue("mode", value, "must be a 32-bit unsigned integer or an octal string")
    : invalidArgType("mode", "of type number", value);
}

/** Runs a function on a path argument. A fault becomes Node's error, with the name of the system call and the path. */
export function onPath<T>(syscall: string, value: unknown, work: (path: string) => T): T {
  const path = pathOfArgument(value);
  return calling(syscall, path, () => work(path));
}

export function onDescriptor<T>(syscall: string, value: unknown, work: (fd: number) => T): T {
  const fd = checkDescriptor(value);
  return calling(syscall, undefined, () => work(fd));
}
