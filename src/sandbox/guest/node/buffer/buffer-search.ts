/** Inside the isolate: `indexOf`, `lastIndexOf` and `includes` of a Buffer. */
import { encode, encodingNamed } from "./codecs.ts";
import { invalidArgType, nodeError } from "../errors.ts";

export function find(bytes: Uint8Array, value: unknown, offset: unknown, encoding: unknown, isForward: boolean): number {
  const [from, name] = typeof offset === "string" ? [undefined, offset] : [offset, encoding];
  // Node's rule: an offset that is not a number means the whole buffer.
  let at = Number(from);
  at = at > 0x7fffffff ? 0x7fffffff : at < -0x80000000 ? -0x80000000 : at;
  if (Number.isNaN(at) || from === undefined) at = isForward ? 0 : bytes.length;
  at = Math.trunc(at);
  if (typeof value === "number") return search(bytes, [value & 255], at, isForward, 1);
  if (typeof value === "string") {
    const known = encodingNamed(name);
    if (!known) throw nodeError(TypeError, "ERR_UNKNOWN_ENCODING", `Unknown encoding: ${String(name)}`);
    return search(bytes, encode(value, known), at, isForward, known === "utf16le" ? 2 : 1);
  }
  if (value instanceof Uint8Array) return search(bytes, value, at, isForward, encodingNamed(name) === "utf16le" ? 2 : 1);
  throw invalidArgType("value", "one of type number or string or an instance of Buffer or Uint8Array", value);
}

/** `step` is 2 for text with two bytes a character: a match begins at an even index. */
function search(bytes: Uint8Array, wanted: ArrayLike<number>, offset: number, isForward: boolean, step: number): number {
  let at = offset < 0 ? offset + bytes.length : offset;
  if (at < 0) {
    if (!isForward && wanted.length > 0) return -1;
    at = 0;
  }
  if (wanted.length === 0) return Math.min(at, bytes.length);
  if (at > bytes.length) {
    if (isForward) return -1;
    at = bytes.length;
  }
  if (bytes.length < wanted.length) return -1;
  if (!isForward) at = Math.min(at, bytes.length - wanted.length);
  for (let i = at; isForward ? i + wanted.length <= bytes.length : i >= 0; i += isForward ? 1 : -1) {
    if (step === 2 && i % 2 !== 0) continue;
    let same = 0;
    while (same < wanted.length && bytes[i + same] === wanted[same]) same += 1;
    if (same === wanted.length) return i;
  }
  return -1;
}
