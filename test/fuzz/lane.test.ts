/** Whatever a sandbox process sends: nothing is thrown into the gateway's event loop, every run is settled, and no message passes that the schema excludes. */
import { isDeepStrictEqual } from "node:util";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { unpack } from "../../src/transport/frames.ts";
import { isCallFrame } from "../../src/transport/call-frames.ts";
import { laneMessage } from "../../src/protocol/messages/host-lane.ts";
import { encodeFrames, FrameDecoder } from "../../src/transport/socket-framing.ts";
import { thrownBy } from "../support/errors.ts";
import { playedLane, start } from "../support/lane.ts";
import { demand, fuzz, fuzzing } from "./fuzz.ts";
import { damaged } from "./mutations.ts";
import { laneFrames } from "./samples.ts";

const frames = fc.array(damaged(laneFrames(1, 0)), { minLength: 1, maxLength: 8 });

it("a lane's frames keep to the protocol, or the lane is replaced; its runs are settled either way", fuzzing("lane"), async () => {
  const cases = await fuzz("lane", frames, async (said) => {
    const { lane, link, replaced, received } = playedLane();
    lane.connect(link, []);
    link.ready();
    const runs = [start(lane, 2), start(lane, 1, { mode: "fan" })];
    await Promise.resolve();
    link.say(...said);
    expect(received.length - 1).toBeLessThanOrEqual(said.filter((frame) => isMessage(frame)).length);
    demand(
      replaced.length > 0 || said.every((frame) => isCallFrame(frame) || isMessage(frame)),
      "a lane that breaks the protocol is replaced",
    );
    lane.disconnect({ why: "it was killed" });
    const answers = await Promise.all(runs);
    for (const { steps } of answers) expect(steps.length).toBeLessThanOrEqual(2);
  });
  expect(cases).toBeGreaterThan(0);
});

function isMessage(frame: string): boolean {
  return !isCallFrame(frame) && thrownBy(() => laneMessage.parse(unpack(frame).header)) === undefined;
}

const MAX_BYTES = 400;
const stream = fc.record({
  texts: fc.array(
    fc.oneof(
      fc.string({ unit: "binary", maxLength: 60 }),
      fc.integer({ min: 0, max: 600 }).map((length) => "é".repeat(length)),
    ),
    { maxLength: 6 },
  ),
  flips: fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 2 }),
  cuts: fc.array(fc.nat(), { maxLength: 12 }),
});

it("bytes on a socket give the same frames however they are cut, and none above the limit", fuzzing("framing"), async () => {
  const cases = await fuzz("framing", stream, ({ texts, flips, cuts }) => {
    const bytes = encodeFrames(texts);
    if (bytes.length > 0) for (const [place, byte] of flips) bytes[place % bytes.length] = byte;
    const whole = decoded([bytes]);
    const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].toSorted((a, b) => a - b);
    const parts = [0, ...places].map((from, index) => bytes.subarray(from, places[index] ?? bytes.length));
    const cut = decoded(parts);
    for (const frame of [...whole.frames, ...cut.frames]) expect(Buffer.byteLength(frame)).toBeLessThanOrEqual(MAX_BYTES * 3);
    expect(cut.isBroken).toBe(whole.isBroken);
    demand(whole.isBroken || isDeepStrictEqual(cut.frames, whole.frames), "the frames are the same");
  });
  expect(cases).toBeGreaterThan(0);
});

function decoded(parts: readonly Buffer[]): { frames: string[]; isBroken: boolean } {
  const decoder = new FrameDecoder(MAX_BYTES);
  const found: string[] = [];
  const error = thrownBy(() => {
    for (const part of parts) found.push(...decoder.push(Buffer.from(part)));
  });
  expect(error === undefined || error instanceof RangeError).toBe(true);
  return { frames: found, isBroken: error !== undefined };
}
