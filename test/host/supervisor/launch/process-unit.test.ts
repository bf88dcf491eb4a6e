/** What the sandbox process says on its control pipe is checked before it is believed. */
import { expect, it } from "vitest";
import { readMessage } from "../../../../src/host/supervisor/launch/process-unit.ts";
import { pack } from "../../../../src/transport/frames.ts";

const LANES = 2;
const STALLED = { kind: "stalled", lane: 1, cell: 3, turn: 5, run: 7, step: 0, begun: 12, limitMs: 250, stalledMs: 40 };

it("what is in the protocol is read, and nothing that is beside it", () => {
  expect(readMessage(pack(STALLED), LANES)).toEqual(STALLED);
  expect(readMessage(pack({ kind: "beat", more: "x" }), LANES)).toEqual({ kind: "beat" });
});

it.each([
  ["a lane that there is not", pack({ ...STALLED, lane: LANES })],
  ["growth in a lane that there is not", pack({ kind: "grown", lane: LANES, cell: 1, bytes: 1, others: 0 })],
  ["growth that is none", pack({ kind: "grown", lane: 0, cell: 1, bytes: -1, others: 0 })],
  ["a time that is none", pack({ ...STALLED, stalledMs: -1 })],
  ["a cell that is no number", pack({ ...STALLED, cell: "3" })],
  ["a kind that there is not", pack({ kind: "__proto__" })],
  ["last words without an end", pack({ kind: "ended", why: "x".repeat(2_001) })],
  ["sizes that do not add up", `${pack({ kind: "beat" })}x`],
  ["no frame at all", "beat"],
])("%s is no message", (_, frame) => {
  expect(readMessage(frame, LANES)).toBeUndefined();
});
