/** A letter holds frames, whatever is in them; what comes out of a sandbox is read as frames that add up, or refused. */
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { thrownBy } from "../support/errors.ts";
import { readLetter, writeLetter } from "../../src/protocol/letter.ts";

const paper = (bytes: number): Buffer => Buffer.alloc(bytes, "?");

function read(letter: Buffer, bytes: number | undefined): string[] | undefined {
  return bytes === undefined ? undefined : readLetter(letter.subarray(0, bytes));
}

it("what was written is read, separators and all kinds of characters too", () => {
  const unit = fc.constantFrom("a", ",", "\n", "0", "é", "漢", "😀");
  const frame = fc.oneof(fc.string({ unit, maxLength: 40 }), fc.string({ unit: "grapheme" }));
  fc.assert(
    fc.property(fc.array(frame, { maxLength: 40 }), (frames) => {
      const letter = paper(64 * 1024);
      expect(read(letter, writeLetter(letter, frames))).toEqual(frames);
    }),
  );
});

it("half a character is replaced, and nothing else is moved by that", () => {
  const letter = paper(100);
  expect(read(letter, writeLetter(letter, ["a\ud83d", "b"]))).toEqual(["a\ufffd", "b"]);
});

it("a frame in parts is for the socket, however short", () => {
  expect(writeLetter(paper(100), ["a", ["b", "c"]])).toBeUndefined();
});

it("what does not fit is not sent as a part of itself", () => {
  const unit = fc.constantFrom("a", "é", "漢", "😀");
  fc.assert(
    fc.property(fc.array(fc.string({ unit, maxLength: 20 }), { maxLength: 6 }), fc.integer({ min: 1, max: 120 }), (frames, size) => {
      const letter = paper(size);
      const found = read(letter, writeLetter(letter, frames));
      const hasRoom = size >= Buffer.byteLength(frames.join("")) + frames.length * 3 + 1 + 4;
      expect([frames, hasRoom ? frames : undefined]).toContainEqual(found);
    }),
    { numRuns: 1_000 },
  );
});

it.each([
  ["no line break", "3,"],
  ["nothing at all", ""],
  ["a size too long", "4,\nabc"],
  ["text that no size counts", "2,\nabc"],
  ["an enormous size", "9007199254740991,\nabc"],
  ["something that is no number", "x,\nabc"],
  ["a negative size", "-1,4,\nabc"],
  ["a size without its comma", "3\nabc"],
  ["another mark than a comma", "3;\nabc"],
])("a letter with %s is refused", (_, text) => {
  expect(() => readLetter(Buffer.from(text))).toThrow(RangeError);
});

it("whatever is read accounts for every character, and everything else is a RangeError", () => {
  const almost = fc.tuple(fc.array(fc.nat(9)), fc.string()).map(([sizes, rest]) => `${sizes.map((size) => `${size},`).join("")}\n${rest}`);
  fc.assert(
    fc.property(fc.oneof(fc.string(), almost), (text) => {
      const bytes = Buffer.from(text);
      let all = bytes.toString().slice(bytes.toString().indexOf("\n") + 1);
      const error = thrownBy(() => {
        all = readLetter(bytes).join("");
      });
      expect(error === undefined || error instanceof RangeError).toBe(true);
      expect(all).toBe(bytes.toString().slice(bytes.toString().indexOf("\n") + 1));
    }),
    { numRuns: 2_000 },
  );
});
