/**
 * Both sides: the body of a record of the shared-memory channel (shm-channel.ts): the lengths of its frames, a line
 * break, and then the frames. It is one text, since writing or reading thirty frames one by one takes twice as long.
 */
import type { Frame } from "./frames.ts";
import { NumberReader } from "../protocol/messages/number-reader.ts";

/** Bytes of the longest character. */
const CHARACTER_BYTES = 4;

/** Gives how many bytes it wrote; undefined: the frames may not fit. A frame in parts never does. */
export function writeRecord(into: Buffer, frames: readonly Frame[]): number | undefined {
  let sizes = "";
  let all = "";
  for (const frame of frames) {
    if (typeof frame !== "string") return undefined;
    sizes += `${frame.length},`;
    all += frame;
  }
  // A character takes at least one byte.
  if (sizes.length + all.length >= into.length) return undefined;
  const bytes = into.write(`${sizes}\n${all}`);
  // `write` leaves out whole characters that have no room.
  return bytes > into.length - CHARACTER_BYTES ? undefined : bytes;
}

/**
 * SECURITY: whatever the sandbox has written gives frames whose sizes add up, or a RangeError.
 * test/transport/shm-record.test.ts
 */
export function readRecord(bytes: Buffer): string[] {
  const text = bytes.toString();
  const end = text.indexOf("\n");
  const frames: string[] = [];
  const numbers = new NumberReader(text, 0);
  let from = end + 1;
  while (numbers.at < end) {
    const to = from + numbers.upTo(",");
    frames.push(text.slice(from, to));
    from = to;
  }
  if (end < 0 || from !== text.length) throw new RangeError("a record whose sizes do not add up");
  return frames;
}
