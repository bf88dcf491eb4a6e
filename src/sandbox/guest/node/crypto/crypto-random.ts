/** Inside the isolate: the random functions of `crypto`. */
import { Buffer } from "../buffer/buffer-class.ts";
import { viewBytes } from "./crypto-bytes.ts";
import { checkFunction, checkNumber, invalidArgType, nodeError, outOfRange } from "../errors.ts";
import { fillRandom, randomUuid } from "./random.ts";
import { nextTick } from "../next-tick.ts";

const MOST = 2 ** 31 - 1;
/** Six bytes. */
const RANGE = 2 ** 48 - 1;

function checkSize(value: unknown, name: string, most: number): asserts value is number {
  checkNumber(value, name);
  if (!(value >= 0 && value <= most))
    throw nodeError(
      RangeError,
      "ERR_OUT_OF_RANGE",
      `The value of "${name}" is out of range. It must be >= 0 && <= ${most}. Received ${value}`,
    );
}

export function randomBytes(size: unknown, callback?: unknown): Buffer | undefined {
  checkSize(size, "size", MOST);
  if (callback !== undefined) checkFunction(callback, "callback");
  const bytes = Buffer.alloc(Math.floor(size));
  fillRandom(bytes);
  if (callback === undefined) return bytes;
  nextTick(callback, null, bytes);
  return undefined;
}

export function randomFillSync<T>(target: T, offset?: unknown, size?: unknown): T {
  const bytes = viewBytes(target);
  if (!bytes) throw invalidArgType("buf", "an instance of ArrayBuffer or ArrayBufferView", target);
  // Both count items, not bytes.
  const unit = (target as { BYTES_PER_ELEMENT?: number }).BYTES_PER_ELEMENT ?? 1;
  const length = bytes.length / unit;
  if (offset !== undefined) checkSize(offset, "offset", length);
  const start = offset ?? 0;
  if (size !== undefined) checkSize(size, "size", MOST);
  const count = size ?? length - start;
  if (start + count > length) throw outOfRange("size + offset", `<= ${length}`, start + count);
  fillRandom(bytes.subarray(start * unit, (start + count) * unit));
  return target;
}

export function randomFill(target: unknown, ...rest: unknown[]): void {
  const callback = rest.pop();
  checkFunction(callback, "callback");
  randomFillSync(target, rest[0], rest[1]);
  nextTick(callback, null, target);
}

export function randomInt(...args: unknown[]): number | undefined {
  const callback = typeof args.at(-1) === "function" ? args.pop() : undefined;
  const [min, max] = args.length < 2 ? [0, args[0]] : args;
  for (const [value, name] of [
    [min, "min"],
    [max, "max"],
  ] as const)
    if (!Number.isSafeInteger(value)) throw invalidArgType(name, "a safe integer", value);
  const [least, most] = [min as number, max as number];
  if (most <= least) throw outOfRange("max", `greater than the value of "min" (${least})`, most);
  const range = most - least;
  if (range > RANGE) throw outOfRange("max - min", `<= ${RANGE}`, range);
  // Values beyond the last whole multiple of the range would favour small results.
  const limit = 2 ** 48 - (2 ** 48 % range);
  const bytes = new Uint8Array(6);
  let drawn: number;
  do {
    fillRandom(bytes);
    drawn = bytes.reduce((sum, byte) => sum * 256 + byte, 0);
  } while (drawn >= limit);
  const number = least + (drawn % range);
  if (callback === undefined) return number;
  nextTick(callback, undefined, number);
  return undefined;
}

export function randomUUID(options?: { disableEntropyCache?: unknown }): string {
  if (options !== undefined && (typeof options !== "object" || options === null))
    throw invalidArgType("options", "of type object", options);
  const disabled = options?.disableEntropyCache;
  if (disabled !== undefined && typeof disabled !== "boolean")
    throw invalidArgType("options.disableEntropyCache", "of type boolean", disabled);
  return randomUuid();
}
