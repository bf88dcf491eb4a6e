/** Tails are taken over all rounds, lost calls are counted, and a call is timed from when it was due. */
import { describe, expect, it } from "vitest";
import { isKnown, pooled } from "../../bench/pooled.ts";
import { every, traffic } from "../../bench/traffic.ts";
import { contestant } from "../../src/cli/bench/contestant.ts";
import { latency } from "../../src/cli/bench/measure.ts";

const EFFORT = { rounds: 2, warmUpCalls: 1, warmUpMs: 1, roundsMs: 50 };

/** A hundred samples that no other round has. */
const inRound = (round: number): number[] => Array.from({ length: 100 }, (_, at) => round * 100 + at + 1);

describe("a pooled quantile", () => {
  const blocks = Array.from({ length: 20 }, (_, round) => inRound(round));

  it("is the quantile of the samples of all rounds, with an interval around it", () => {
    const { value, low, high } = pooled("p99", { blocks, q: 0.99 });
    expect(value).toBeCloseTo(1980, -1);
    expect(low).toBeLessThan(value);
    expect(high).toBeGreaterThanOrEqual(value);
    expect(pooled("p99 / p50", { blocks, q: 0.99 }, { blocks, q: 0.5 }).value).toBeCloseTo(1.98, 1);
  });

  it("is only told if several samples lie beyond it", () => {
    expect([0.5, 0.99, 0.999].map((q) => isKnown({ blocks, q }))).toEqual([true, true, false]);
  });
});

describe("traffic", () => {
  it("counts calls that fail, or whose answer is none, as lost, and times the others", async () => {
    let made = 0;
    const failing = {
      ...contestant("failing", () => ((made += 1) % 4 === 0 ? Promise.reject(new Error("no")) : made % 4 === 1 ? "no answer" : "ok")),
      isLost: (answer: unknown) => answer === "no answer",
    };
    const [found] = await traffic([failing], EFFORT, every(1, 8));
    expect(found!.calls).toBe(found!.blocks.length * 8);
    expect(found!.lost).toBe(found!.calls / 2);
    expect(found!.latency.samples).toHaveLength(found!.calls - found!.lost);
  });

  it("times a call from when it was due: one that keeps the thread delays the calls after it", async () => {
    const slow = contestant("slow", () => {
      const until = performance.now() + 10;
      while (performance.now() < until);
    });
    const [found] = await traffic([slow], EFFORT, every(1, 8));
    expect(Math.max(...found!.latency.samples)).toBeGreaterThan(40_000);
  });
});

it("a block has the CPU time of its calls if there is a meter, of the contestant's processes and per call", async () => {
  const asked: (readonly number[])[] = [];
  let nowMs = 0;
  const processorMs = (pids: readonly number[]): number => {
    asked.push(pids);
    return nowMs;
  };
  const served = { ...contestant("served", () => void (nowMs += 2)), pids: () => [7] };
  const hidden = { ...contestant("hidden", () => undefined), isUnmetered: true };
  const [first, second] = await latency([served, hidden], { ...EFFORT, processorMs }, { samples: 3 });
  expect(first!.cpuUs).toHaveLength(first!.rounds.length);
  expect(new Set(first!.cpuUs)).toEqual(new Set([2_000]));
  expect(second!.cpuUs).toBe(undefined);
  expect(new Set(asked.flat())).toEqual(new Set([7]));
});
