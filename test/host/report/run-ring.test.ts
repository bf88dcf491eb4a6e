import { expect, it } from "vitest";
import type { Outcome } from "../../../src/protocol/outcome.ts";
import { RunRing } from "../../../src/host/report/run-ring.ts";
import type { RunInput } from "../../../src/host/run/run-input.ts";

const input = (runId: string, chars = 0): RunInput => ({ runId, eventText: "x".repeat(chars), contextText: "" }) as RunInput;
const outcome = {} as Outcome;
const ids = (ring: RunRing): string[] => Array.from(ring.latest(), (run) => run.input.runId);

it("keeps the latest runs, up to a number", () => {
  const ring = new RunRing(3, 1e9);
  expect(ids(ring)).toEqual([]);
  for (let at = 1; at <= 8; at++) ring.add(at, input(`r${at}`), outcome, 0);
  expect(ids(ring)).toEqual(["r8", "r7", "r6"]);
  expect(ring.find("r7")?.seq).toBe(7);
  expect(ring.find("r5")).toBeUndefined();
});

it("keeps fewer if they are large, and not even one that is too large by itself", () => {
  const ring = new RunRing(100, 50_000);
  for (let at = 1; at <= 10; at++) ring.add(at, input(`r${at}`, 3_000), outcome, 0);
  expect(ids(ring)).toEqual(["r10", "r9", "r8"]);
  ring.add(11, input("r11", 100_000), outcome, 0);
  expect(ids(ring)).toEqual([]);
  ring.add(12, input("r12"), outcome, 0);
  expect(ids(ring)).toEqual(["r12"]);
});

it("counts what handlers answered, too", () => {
  const ring = new RunRing(100, 50_000);
  const steps = [{ status: "ok", body: "x".repeat(11_000), wallUs: 0, cpuUs: 0 }] as const;
  ring.add(1, { ...input("r1"), firstAnswers: { steps } }, outcome, 0);
  ring.add(2, { ...input("r2"), later: [{ answers: { steps }, at: 0, from: 0, sentMs: 0 }] }, outcome, 0);
  expect(ids(ring)).toEqual(["r2"]);
});
