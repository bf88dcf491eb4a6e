/**
 * Traffic as gateways have it: calls come by themselves, one every few milliseconds or at random, whether the last one has been answered or not. Contestants take
 * turns in blocks, as everywhere here. A call is timed from when it was due, so that a contestant that keeps the gateway's thread busy pays for the calls that it delays. Beside each latency stands the processor time that a call took in all processes together, less what the same traffic of calls that
 * do nothing takes: whoever polls to be quick pays for it there.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { contestant } from "../src/cli/bench/contestant.ts";
import type { Contestant } from "../src/cli/bench/contestant.ts";
import type { Effort, Series } from "../src/cli/bench/measure.ts";
import { median, quantile, shuffle } from "../src/cli/bench/statistics.ts";
import { processorMs } from "./processor-time.ts";

/** A contestant that can tell whether an answer is one: an outcome may say that a handler was not run. */
export interface Served extends Contestant {
  readonly isLost?: (answer: unknown) => boolean;
  /** Before each of its blocks: makes what is around it as it is for this contestant. */
  readonly enter?: () => Promise<void>;
}

export interface Pattern {
  /** Gap to the next call, in milliseconds. */
  readonly gapMs: () => number;
  /** Calls of a block that count, after a few that only wake everybody. */
  readonly calls: number;
}

export const every = (ms: number, calls: number): Pattern => ({ gapMs: () => ms, calls });
export const poisson = (perSecond: number, calls: number): Pattern => ({
  gapMs: () => (-Math.log(1 - Math.random()) * 1000) / perSecond,
  calls,
});

export interface Measured {
  /** Latencies; a round is the median of its block. */
  readonly latency: Series;
  /** Processor time per call, a number per round. */
  readonly cpu: Series;
  /** The same rounds by another quantile of their samples. */
  readonly at: (q: number) => number[];
  /** The samples of each round. */
  readonly blocks: readonly number[][];
  /** Of all counted calls: how many were made, and how many failed or were not answered. */
  readonly calls: number;
  readonly lost: number;
}

/** Timers have milliseconds, and fire up to two too late; that is the bench's own lateness. */
const TIMER_MS = 2;
/** A call that has no answer by then counts as lost. */
const LOST_MS = 20_000;

const WAKING_CALLS = 3;
const UNCOUNTED_ROUNDS = 2;
const WARM_UP_CALLS = 3_000;
const MIN_ROUNDS = 5;

export async function traffic(contestants: readonly Served[], effort: Effort, pattern: Pattern): Promise<Measured[]> {
  const { rounds, roundsMs, tell } = effort;
  const { enter } = contestants[0]!;
  const nothing: Served = { ...contestant("nothing", () => undefined), ...(enter && { enter }) };
  const all = [...contestants, nothing];
  const blocks = all.map((): number[][] => []);
  const costs = all.map((): number[] => []);
  const lost = all.map(() => 0);
  for (const [at, { call }] of contestants.entries()) {
    tell?.({ phase: "warm-up", at, of: contestants.length });
    for (let i = 0; i < Math.min(WARM_UP_CALLS, effort.warmUpCalls); i++) await call(i);
  }
  const until = performance.now() + roundsMs;
  for (let round = -UNCOUNTED_ROUNDS; round < rounds; round++) {
    if (round >= MIN_ROUNDS && performance.now() > until) break;
    tell?.({ phase: "round", at: Math.max(0, round), of: rounds });
    for (const index of shuffle(all.map((_, at) => at))) {
      await all[index]!.enter?.();
      const { times, cpuUs, lost: more } = await block(all[index]!, pattern, (round + UNCOUNTED_ROUNDS) * 7);
      if (round < 0) continue;
      blocks[index]!.push(times);
      costs[index]!.push(cpuUs);
      lost[index]! += more;
    }
  }
  const idle = costs.at(-1)!;
  return contestants.map(({ name }, index) =>
    measured(
      name,
      blocks[index]!,
      costs[index]!.map((us, round) => us - idle[round]!),
      lost[index]!,
    ),
  );
}

function measured(name: string, blocks: readonly number[][], cpu: readonly number[], lost: number): Measured {
  const at = (q: number): number[] => blocks.map((times) => quantile(times, q));
  return {
    latency: { name, unit: "µs", samples: blocks.flat(), rounds: blocks.map(median) },
    cpu: { name: `${name}, processor time per call`, unit: "µs", samples: [...cpu], rounds: [...cpu] },
    at,
    blocks,
    calls: blocks.reduce((sum, times) => sum + times.length, lost),
    lost,
  };
}

async function block(
  { call, pids = () => [], isLost = () => false }: Served,
  { gapMs, calls }: Pattern,
  from: number,
): Promise<{ times: number[]; cpuUs: number; lost: number }> {
  const times: number[] = [];
  const open: Promise<void>[] = [];
  const one = async (at: number, dueMs: number, isCounted: boolean): Promise<void> => {
    const madeMs = performance.now();
    const lateMs = Math.max(0, madeMs - dueMs - TIMER_MS);
    const isAnswered = await Promise.resolve(call(from + at)).then(
      (answer) => !isLost(answer),
      () => false,
    );
    if (isAnswered && isCounted) times.push((performance.now() - madeMs + lateMs) * 1000);
  };
  let dueMs = performance.now();
  const upTo = async (count: number, isCounted: boolean): Promise<void> => {
    for (let at = 0; at < count; at++) {
      dueMs += gapMs();
      const waitMs = dueMs - performance.now();
      // Timers have milliseconds. Calls that are due within the same one are made together.
      if (waitMs > 0.5) await sleep(waitMs);
      open.push(one(at, dueMs, isCounted));
    }
    await Promise.race([Promise.all(open), sleep(LOST_MS, undefined, { ref: false })]);
  };
  await upTo(WAKING_CALLS, false);
  dueMs = performance.now();
  const beforeMs = processorMs(pids());
  await upTo(calls, true);
  return { times: [...times], cpuUs: ((processorMs(pids()) - beforeMs) * 1000) / calls, lost: calls - times.length };
}
