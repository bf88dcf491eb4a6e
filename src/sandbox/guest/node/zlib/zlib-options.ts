/** Inside the isolate: the options of `zlib`, checked as Node checks them. */
import { checkNumber, invalidArgType, nodeError, outOfRange } from "../errors.ts";
import { MAX_LENGTH } from "../buffer/buffer-class.ts";
import type { EngineOptions } from "./engine.ts";

export interface ZlibOptions {
  readonly flush?: number;
  readonly finishFlush?: number;
  readonly chunkSize?: number;
  readonly windowBits?: number;
  readonly level?: number;
  readonly memLevel?: number;
  readonly strategy?: number;
  readonly dictionary?: unknown;
  readonly info?: boolean;
  readonly maxOutputLength?: number;
}

export interface Settings extends EngineOptions {
  readonly flush: number;
  readonly finishFlush: number;
  readonly maxOutputLength: number;
}

export function settingsOf(options: ZlibOptions = {}): Settings {
  const { dictionary } = options;
  return {
    chunkSize: within(options.chunkSize, "options.chunkSize", 64, Infinity, 16_384),
    flush: within(options.flush, "options.flush", 0, 5, 0),
    finishFlush: within(options.finishFlush, "options.finishFlush", 0, 5, 4),
    maxOutputLength: within(options.maxOutputLength, "options.maxOutputLength", 1, MAX_LENGTH, MAX_LENGTH),
    // 0 means: as the header says.
    windowBits: options.windowBits === 0 ? 15 : within(options.windowBits, "options.windowBits", 8, 15, 15),
    level: within(options.level, "options.level", -1, 9, -1),
    memLevel: within(options.memLevel, "options.memLevel", 1, 9, 8),
    strategy: within(options.strategy, "options.strategy", 0, 4, 0),
    dictionary: dictionary === undefined ? undefined : bytesOf(dictionary, "options.dictionary"),
  };
}

export function within(value: unknown, name: string, min: number, max: number, usual: number): number {
  if (value === undefined || Number.isNaN(value)) return usual;
  checkNumber(value, name);
  if (value < min || value > max) throw outOfRange(name, max === Infinity ? `>= ${min}` : `>= ${min} and <= ${max}`, value);
  return value;
}

export function bytesOf(value: unknown, name = "buffer"): Uint8Array {
  if (typeof value === "string" && name === "buffer") return new TextEncoder().encode(value);
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  const expected = `${name === "buffer" ? "of type string or " : ""}an instance of Buffer, TypedArray, DataView, or ArrayBuffer`;
  throw invalidArgType(name, expected, value);
}

export function tooLarge(limit: number): Error {
  return nodeError(RangeError, "ERR_BUFFER_TOO_LARGE", `Cannot create a Buffer larger than ${limit} bytes`);
}
