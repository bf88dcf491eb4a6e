/** A plugin's log lines are let through up to a number in a while, each plugin's by themselves. */
import { expect, it } from "vitest";
import { LogGate } from "../../../src/host/report/log-gate.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";

it("lets so many lines through in a window, says which is the last, and begins anew with the next window", () => {
  let nowMs = 0;
  const gate = new LogGate(() => nowMs);
  const admitted = Array.from({ length: LIMITS.log.linesPerWindow + 5 }, () => gate.admit("chatty"));
  expect(admitted.filter((admit) => admit === true)).toHaveLength(LIMITS.log.linesPerWindow - 1);
  expect(admitted[LIMITS.log.linesPerWindow - 1]).toBe("last");
  expect(admitted.slice(LIMITS.log.linesPerWindow)).toEqual(Array(5).fill(false));
  expect(gate.admit("quiet")).toBe(true);
  nowMs = LIMITS.log.windowMs + 1;
  expect(gate.admit("chatty")).toBe(true);
});
