/**
 * Frames as a letter has them (letter-box.ts): how long each of them is, a line break, and then all of them. It is one text, since to write or read thirty of
 * them one by one takes twice as long.
 */
import type { Frame } from "./frame.ts";
import { Numbers } from "./numbers.ts";

/** The longest character. */
const CHARACTER_BYTES = 4;

/** Gives how many bytes it takes; undefined: it does not fit for certain. A frame in parts is too long for any. */
export function writeLetter(paper: Buffer, frames: readonly Frame[]): number | undefined {
  let sizes = "";
  let all = "";
  for (const frame of frames) {
    if (typeof frame !== "string") return undefined;
    sizes += `${frame.length},`;
    all += frame;
  }
  // A character takes a byte at least.
  if (sizes.length + all.length >= paper.length) return undefined;
  const bytes = paper.write(`${sizes}\n${all}`);
  // What has no room is left out, character by character.
  return bytes > paper.length - CHARACTER_BYTES ? undefined : bytes;
}

/** SECURITY: whatever the sandbox has written is frames that add up, or a RangeError. test/protocol/letter.test.ts */
export function readLetter(bytes: Buffer): string[] {
  const text = bytes.toString();
  const end = text.indexOf("\n");
  const frames: string[] = [];
  const numbers = new Numbers(text, 0);
  let from = end + 1;
  while (numbers.at < end) {
    const to = from + numbers.upTo(",");
    frames.push(text.slice(from, to));
    from = to;
  }
  if (end < 0 || from !== text.length) throw new RangeError("a letter whose sizes do not add up");
  return frames;
}
