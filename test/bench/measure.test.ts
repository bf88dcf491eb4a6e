/** The method's arithmetic and its patience: distributions in few numbers, rounds that end, progress that a person can read. With contestants that only pretend to work. */
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { contestant } from "../../src/cli/bench/contestant.ts";
import { histogram, sparklines } from "../../src/cli/bench/histogram.ts";
import { latency, over, throughput } from "../../src/cli/bench/measure.ts";
import type { Effort, Step } from "../../src/cli/bench/measure.ts";
import { clock, Progress } from "../../src/cli/bench/progress.ts";
import { estimate } from "../../src/cli/bench/statistics.ts";
import { series } from "./fixture.ts";

const paint = (_: unknown, text: string): string => text;
const EFFORT: Effort = { rounds: 12, warmUpCalls: 10, warmUpMs: 50, roundsMs: 100 };

/** How many calls one that takes no time makes before the rounds. */
async function warmUpOf(inFlight: number): Promise<number> {
  let calls = 0;
  let warm = 0;
  const one = contestant("one", () => void (calls += 1));
  await throughput([one] as const, { ...EFFORT, tell: ({ phase }) => void (warm ||= phase === "round" ? calls : 0) }, inFlight);
  return warm;
}

describe("a measurement", () => {
  it("gives everybody the same number of rounds, counts every sample, and tells how far it is", async () => {
    const steps: Step[] = [];
    const calls = [0, 0];
    const pair = [contestant("a", () => calls[0]!++), contestant("b", () => calls[1]!++)] as const;
    const [a, b] = await latency(pair, { ...EFFORT, tell: (step) => void steps.push(step) }, { samples: 5 });
    expect([a.rounds.length, b.rounds.length, a.samples.length, b.samples.length]).toEqual([12, 12, 60, 60]);
    expect(over(a, b)).toHaveLength(12);
    expect(calls[0]).toBe(calls[1]);
    expect(steps.filter(({ phase }) => phase === "warm-up")).toHaveLength(2);
    expect(steps.at(-1)).toEqual({ phase: "round", at: 11, of: 12 });
  });

  it("a slow contestant makes fewer calls, and the rounds end when their time is over", async () => {
    let slow = 0;
    const pair = [contestant("quick", () => {}), contestant("slow", () => sleep(20).then(() => (slow += 1)))] as const;
    const [quick] = await latency(pair, { ...EFFORT, rounds: 1_000 }, { samples: 40 });
    // Ten rounds make an interval; a block ends after a tenth of a second, not with its forty samples.
    expect(quick.rounds).toHaveLength(10);
    expect(slow).toBeLessThan(3 + 15 * 10);
  });

  it("keeps as many calls open as it says, when it measures and when it warms up", async () => {
    let open = 0;
    let phase: Step["phase"] = "warm-up";
    const most = { "warm-up": 0, round: 0 };
    const busy = contestant("busy", async () => {
      most[phase] = Math.max(most[phase], ++open);
      await Promise.resolve();
      open -= 1;
    });
    const effort = { ...EFFORT, tell: (step: Step) => void (phase = step.phase) };
    const [one] = await throughput([busy] as const, effort, 7);
    expect(most).toEqual({ "warm-up": 7, round: 7 });
    expect(one.unit).toBe("calls/ms");
    most["warm-up"] = most.round = 0;
    await latency([busy] as const, effort);
    expect(most).toEqual({ "warm-up": 1, round: 1 });
  });

  it("warms up with more calls where many are open", async () => {
    expect(await warmUpOf(16)).toBe(10);
    expect(await warmUpOf(64)).toBe(40);
    expect(await warmUpOf(4)).toBe(10);
  });
});

describe("the arithmetic", () => {
  it("a distribution keeps nearly all samples, between its ends", () => {
    const { samples } = series("x", 50);
    const { from, to, counts } = histogram(samples);
    const inside = samples.filter((sample) => sample >= from && sample <= to);
    expect(counts.reduce((sum, count) => sum + count)).toBe(inside.length);
    expect(inside.length).toBeGreaterThan(samples.length * 0.97);
    expect(histogram([5, 5, 5])).toEqual({ from: 5, to: 5, counts: [3] });
    expect(histogram([])).toEqual({ from: 1, to: 1, counts: [0] });
  });

  it("lines of blocks share an axis: what is less stands to the left", () => {
    const [less, more] = sparklines([series("less", 10), series("more", 100)].map(({ samples }) => histogram(samples))) as [string, string];
    expect(less.indexOf("█")).toBeLessThan(more.indexOf("█"));
    expect([less.length, more.length]).toEqual([24, 24]);
  });

  it("an interval holds the median, and is narrow where rounds agree", () => {
    const { value, low, high } = estimate(Array.from({ length: 101 }, (_, at) => at));
    expect(value).toBe(50);
    expect(low > 30 && low < 50 && high > 50 && high < 70).toBe(true);
    expect(estimate([2, 2, 2])).toEqual({ value: 2, low: 2, high: 2 });
  });
});

describe("progress", () => {
  it("rewrites one line on a terminal, and is a line per part elsewhere", () => {
    const shown: string[] = [];
    const rewriting = new Progress({ width: 80, paint, line: () => {}, rewrite: (text) => void shown.push(text) }, () => 90_000);
    rewriting.begin("[1/2] one");
    rewriting.step({ phase: "round", at: 0, of: 9 });
    expect(shown).toEqual(["[1/2] one, about 1 min 30 s left"]);
    const lines: string[] = [];
    const plain = new Progress({ width: 80, paint, line: (text = "") => void lines.push(text) });
    plain.begin("one");
    plain.step({ phase: "round", at: 0, of: 9 });
    plain.end("one: done");
    plain.clear();
    expect(lines).toEqual(["one", "one: done"]);
    expect([clock(0), clock(59_000), clock(61_000)]).toEqual(["0 s", "59 s", "1 min 1 s"]);
  });
});
