/** What the sandbox process says on its control pipe is checked before it is believed. */
import { expect, it } from "vitest";
import { readMessage } from "../../src/host/lanes/process-unit.ts";
import { pack } from "../../src/protocol/frame.ts";

const LANES = 2;
const HELD = { kind: "held", lane: 1, cell: 3, run: 7, step: 0, begun: 12, limitMs: 250, heldMs: 40 };

it("what is in the protocol is read, and nothing that is beside it", () => {
  expect(readMessage(pack(HELD), LANES)).toEqual(HELD);
  expect(readMessage(pack({ kind: "beat", more: "x" }), LANES)).toEqual({ kind: "beat" });
});

it.each([
  ["a lane that there is not", pack({ ...HELD, lane: LANES })],
  ["a time that is none", pack({ ...HELD, heldMs: -1 })],
  ["a cell that is no number", pack({ ...HELD, cell: "3" })],
  ["a kind that there is not", pack({ kind: "__proto__" })],
  ["last words without an end", pack({ kind: "ended", why: "x".repeat(2_001) })],
  ["sizes that do not add up", `${pack({ kind: "beat" })}x`],
  ["no frame at all", "beat"],
])("%s is no message", (_, frame) => {
  expect(readMessage(frame, LANES)).toBeUndefined();
});
