/** Length-prefixed frames on a byte stream: however the stream is cut, the same frames come out; what is too long is refused unread. */
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { thrownBy } from "../support/errors.ts";
import { encodeFrames, FrameDecoder } from "../../src/transport/socket-framing.ts";

const MAX = 1_000;
const FRAMES = ["", "a", "ü😀", "x".repeat(300), `{"kind":"reply"}\n[1]`, ""];

function decode(chunks: Iterable<Buffer>, max = MAX): string[] {
  const decoder = new FrameDecoder(max);
  return Array.from(chunks).flatMap((chunk) => decoder.push(chunk));
}

it("frames that are sent together arrive together", () => {
  expect(new FrameDecoder(MAX).push(encodeFrames(FRAMES))).toEqual(FRAMES);
});

it("a frame in parts arrives as one", () => {
  const frames = ["a", ["b", "ü😀", "", "c"], "d", []];
  expect(new FrameDecoder(MAX).push(encodeFrames(frames))).toEqual(["a", "bü😀c", "d", ""]);
});

it("a stream that is cut at any one byte gives the same frames", () => {
  const bytes = encodeFrames(FRAMES);
  for (let at = 0; at <= bytes.length; at++) expect(decode([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(FRAMES);
});

it("a stream that comes byte by byte gives the same frames", () => {
  const bytes = encodeFrames(FRAMES);
  expect(decode(Array.from(bytes, (_, at) => bytes.subarray(at, at + 1)))).toEqual(FRAMES);
});

it("random frames, cut at random places, come out as they went in", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "grapheme", maxLength: 200 })), fc.array(fc.nat(5_000)), (frames, cuts) => {
      const bytes = encodeFrames(frames);
      const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
      const chunks = places.slice(1).map((end, i) => bytes.subarray(places[i], end));
      expect(decode(chunks, 10_000)).toEqual(frames);
    }),
    { numRuns: 500 },
  );
});

it("a lone surrogate keeps its length as text, so that sizes in headers stay right", () => {
  const [frame] = decode([encodeFrames(["a\ud800b"])]);
  expect(frame).toHaveLength(3);
});

it("a reply to a run has a limit of its own, and is refused by its first byte; other frames may be longer", () => {
  const limited = new FrameDecoder(MAX);
  limited.replyBytes = 100;
  expect(limited.push(encodeFrames([`{${"x".repeat(500)}`, `A${"1".repeat(99)}`]))).toHaveLength(2);
  const long = encodeFrames([`A${"1".repeat(500)}`]);
  limited.push(long.subarray(0, 4));
  limited.push(long.subarray(4, 5));
  expect(() => limited.push(long.subarray(5, 6))).toThrow("a reply of 501 bytes");
  const whole = new FrameDecoder(MAX);
  whole.replyBytes = 100;
  expect(() => whole.push(long)).toThrow("a reply of 501 bytes");
});

it("a frame above the limit is refused by its prefix alone, before any of it is buffered", () => {
  const prefix = Buffer.alloc(4);
  prefix.writeUInt32LE(MAX + 1);
  expect(() => new FrameDecoder(MAX).push(prefix)).toThrow(RangeError);
  const decoder = new FrameDecoder(MAX);
  decoder.push(prefix.subarray(0, 3));
  expect(() => decoder.push(prefix.subarray(3))).toThrow(RangeError);
  expect(() => decode([encodeFrames(["ok"]), encodeFrames(["x".repeat(MAX + 1)])])).toThrow(RangeError);
});

it("a frame of exactly the limit passes", () => {
  expect(decode([encodeFrames(["x".repeat(MAX)])])).toEqual(["x".repeat(MAX)]);
});

it("random bytes are decoded or refused, and never held beyond the limit", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 50 })), (chunks) => {
      let frames: string[] = [];
      const error = thrownBy(() => (frames = decode(chunks.map((chunk) => Buffer.from(chunk)))));
      expect(error === undefined || error instanceof RangeError).toBe(true);
      expect(Math.max(0, ...frames.map((frame) => frame.length))).toBeLessThanOrEqual(MAX);
    }),
    { numRuns: 1_000 },
  );
});

it("a frame that comes in crumbs is refused before it is whole, and one in ordinary pieces is not", () => {
  const bytes = encodeFrames(["x".repeat(200_000)]);
  const crumbs = new FrameDecoder(200_000);
  expect(() => {
    for (let at = 0; at < bytes.length; at++) crumbs.push(bytes.subarray(at, at + 1));
  }).toThrow(/pieces/);
  const pieces = Array.from({ length: Math.ceil(bytes.length / 300) }, (_, at) => bytes.subarray(at * 300, (at + 1) * 300));
  expect(decode(pieces, 200_000)).toEqual(["x".repeat(200_000)]);
});

it("a frame that is announced and does not come takes no memory of its length", () => {
  const prefix = Buffer.alloc(4);
  prefix.writeUInt32LE(1_000 * 2 ** 20);
  const before = process.memoryUsage().arrayBuffers;
  const decoder = new FrameDecoder(1_000 * 2 ** 20);
  decoder.push(prefix);
  decoder.push(Buffer.alloc(70_000));
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(4 * 2 ** 20);
});

it("one frame's bytes are not found in the next, though they share a buffer", () => {
  const decoder = new FrameDecoder(MAX);
  const first = encodeFrames(["a".repeat(900)]);
  const second = encodeFrames(["b".repeat(500)]);
  expect([first.subarray(0, 100), first.subarray(100)].flatMap((chunk) => decoder.push(chunk))).toEqual(["a".repeat(900)]);
  expect([second.subarray(0, 2), second.subarray(2, 50), second.subarray(50)].flatMap((chunk) => decoder.push(chunk))).toEqual([
    "b".repeat(500),
  ]);
});
