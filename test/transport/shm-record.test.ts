/** A record holds any frames. A record from a sandbox gives frames whose sizes add up, or is refused. */
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { thrownBy } from "../support/errors.ts";
import { readRecord, writeRecord } from "../../src/transport/shm-record.ts";

const buffer = (bytes: number): Buffer => Buffer.alloc(bytes, "?");

function read(record: Buffer, bytes: number | undefined): string[] | undefined {
  return bytes === undefined ? undefined : readRecord(record.subarray(0, bytes));
}

it("what was written is read, separators and all kinds of characters too", () => {
  const unit = fc.constantFrom("a", ",", "\n", "0", "é", "漢", "😀");
  const frame = fc.oneof(fc.string({ unit, maxLength: 40 }), fc.string({ unit: "grapheme" }));
  fc.assert(
    fc.property(fc.array(frame, { maxLength: 40 }), (frames) => {
      const record = buffer(64 * 1024);
      expect(read(record, writeRecord(record, frames))).toEqual(frames);
    }),
  );
});

it("half a character is replaced, and nothing else is moved by that", () => {
  const record = buffer(100);
  expect(read(record, writeRecord(record, ["a\ud83d", "b"]))).toEqual(["a\ufffd", "b"]);
});

it("a frame in parts is for the socket, however short", () => {
  expect(writeRecord(buffer(100), ["a", ["b", "c"]])).toBeUndefined();
});

it("what does not fit is not sent as a part of itself", () => {
  const unit = fc.constantFrom("a", "é", "漢", "😀");
  fc.assert(
    fc.property(fc.array(fc.string({ unit, maxLength: 20 }), { maxLength: 6 }), fc.integer({ min: 1, max: 120 }), (frames, size) => {
      const record = buffer(size);
      const found = read(record, writeRecord(record, frames));
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
])("a record with %s is refused", (_, text) => {
  expect(() => readRecord(Buffer.from(text))).toThrow(RangeError);
});

it("whatever is read accounts for every character, and everything else is a RangeError", () => {
  const almost = fc.tuple(fc.array(fc.nat(9)), fc.string()).map(([sizes, rest]) => `${sizes.map((size) => `${size},`).join("")}\n${rest}`);
  fc.assert(
    fc.property(fc.oneof(fc.string(), almost), (text) => {
      const bytes = Buffer.from(text);
      let all = bytes.toString().slice(bytes.toString().indexOf("\n") + 1);
      const error = thrownBy(() => {
        all = readRecord(bytes).join("");
      });
      expect(error === undefined || error instanceof RangeError).toBe(true);
      expect(all).toBe(bytes.toString().slice(bytes.toString().indexOf("\n") + 1));
    }),
    { numRuns: 2_000 },
  );
});
