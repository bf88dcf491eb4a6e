/**
 * The method. Absolute times on a shared machine are noise: the same call takes 50 µs now and 200 µs a second later. So all contestants
 * of a case live in one process at the same time and take turns in small blocks, in a new random order each round; a ratio is formed within
 * each round, where both sides had the same weather, and the result is the median of those ratios with a bootstrap interval.
 */
import type { Contestant } from "./contestant.ts";
import { median, shuffle } from "./statistics.ts";

export interface Effort {
  readonly rounds: number;
  /** Calls per contestant before anything counts: a gateway runs for days, so what is measured is code that the compilers are done with. */
  readonly warmUpCalls: number;
  /** Enough for the slowest of them; the fast ones get through their calls sooner. */
  readonly warmUpMs: number;
}

export const FULL: Effort = { rounds: 120, warmUpCalls: 60_000, warmUpMs: 5_000 };
export const QUICK: Effort = { rounds: 30, warmUpCalls: 15_000, warmUpMs: 1_500 };

export const METHOD = [
  "all contestants take turns in small blocks, order shuffled each round; a ratio is formed inside each round",
  "the ratio shown is the median over rounds, [ ] its 95 % bootstrap interval; times are medians and only for orientation",
] as const;

/** What one contestant did. */
export interface Series {
  readonly name: string;
  readonly unit: "µs" | "ms" | "calls/ms" | "MB";
  /** Every sample of every block that counted. */
  readonly samples: number[];
  /** One number per round: the median of the block. Same position, same round, for all contestants of a case. */
  readonly rounds: number[];
}

/** A series per contestant, in their order. */
export type SeriesOf<T extends readonly Contestant[]> = { -readonly [K in keyof T]: Series };

export interface LatencyOptions {
  /** Samples per block. */
  readonly samples?: number;
  /** Calls per sample: more than one where a call is not much longer than reading the clock. */
  readonly callsPerSample?: number;
}

/** The other contestants' blocks left this one's threads asleep and its caches cold: these calls wake them and are not counted. */
const SETTLING_CALLS = 3;

/** Rounds as the counted ones, so that the pattern itself is warm. */
const UNCOUNTED_ROUNDS = 5;

/** One call after the other; how long each takes. */
export function latency<T extends readonly Contestant[]>(
  contestants: T,
  effort: Effort,
  { samples = 40, callsPerSample = 1 }: LatencyOptions = {},
): Promise<SeriesOf<T>> {
  return takeTurns(contestants, effort, "µs", async ({ call }, from) => {
    let at = from;
    for (let i = 0; i < SETTLING_CALLS; i++) await call(at++);
    const times: number[] = [];
    for (let sample = 0; sample < samples; sample++) {
      const started = performance.now();
      for (let i = 0; i < callsPerSample; i++) await call(at++);
      times.push(((performance.now() - started) * 1_000) / callsPerSample);
    }
    return times;
  });
}

/** Always `inFlight` calls open; how many are done per millisecond. */
export function throughput<T extends readonly Contestant[]>(contestants: T, effort: Effort, inFlight: number): Promise<SeriesOf<T>> {
  const calls = inFlight * 10;
  return takeTurns(contestants, effort, "calls/ms", async ({ call }, from) => {
    for (let i = 0; i < SETTLING_CALLS; i++) await call(from);
    let left = calls;
    const keepOneOpen = async (): Promise<void> => {
      while (left > 0) await call(from + left--);
    };
    const started = performance.now();
    await Promise.all(Array.from({ length: inFlight }, keepOneOpen));
    return [calls / (performance.now() - started)];
  });
}

/** Per-round values of one contestant over another's. */
export function over(subject: Series, floor: Series): number[] {
  return subject.rounds.map((value, round) => value / floor.rounds[round]!);
}

/** Several calls open, because that is the fastest way to many calls. */
async function warmUp({ call }: Contestant, { warmUpCalls, warmUpMs }: Omit<Effort, "rounds">): Promise<void> {
  const until = performance.now() + warmUpMs;
  let at = 0;
  const keepOneOpen = async (): Promise<void> => {
    while (at < warmUpCalls && performance.now() < until) await call(at++);
  };
  await Promise.all(Array.from({ length: 16 }, keepOneOpen));
}

async function takeTurns<T extends readonly Contestant[]>(
  contestants: T,
  { rounds, ...effort }: Effort,
  unit: Series["unit"],
  block: (contestant: Contestant, from: number) => Promise<number[]>,
): Promise<SeriesOf<T>> {
  const series = contestants.map(({ name }): Series => ({ name, unit, samples: [], rounds: [] }));
  const order = contestants.map((_, index) => index);
  for (const one of contestants) await warmUp(one, effort);
  for (let round = -UNCOUNTED_ROUNDS; round < rounds; round++) {
    for (const index of shuffle(order)) {
      const samples = await block(contestants[index]!, (round + UNCOUNTED_ROUNDS) * 7);
      if (round < 0) continue;
      series[index]!.samples.push(...samples);
      series[index]!.rounds.push(median(samples));
    }
  }
  return series as SeriesOf<T>;
}
