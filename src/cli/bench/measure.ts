/**
 * The method. Absolute times on a shared machine are noise: the same call takes 50 µs now and 200 µs a second later. So
 * all contestants of a case run in one process and take turns in small blocks, in a new random order each round. A
 * ratio is computed within each round, where both sides had the same conditions. The result is the median of those
 * ratios with a bootstrap interval.
 */
import type { Contestant } from "./contestant.ts";
import { median, quantile, shuffle } from "./statistics.ts";

export interface Effort {
  readonly rounds: number;
  /** Calls per contestant before measuring: a gateway runs for days, so only fully compiled code counts. */
  readonly warmUpCalls: number;
  /** Long enough for the slowest contestant; fast ones finish their calls sooner. */
  readonly warmUpMs: number;
  /** Rounds end after this time, because a contestant that starts a process per call would take minutes. */
  readonly roundsMs: number;
  /** Called with the progress. */
  readonly tell?: (step: Step) => void;
  /** Processor time of this process and of these others so far. With it, each block has its processor time per call. */
  readonly processorMs?: (pids: readonly number[]) => number;
}

export interface Step {
  readonly phase: "warm-up" | "round";
  readonly at: number;
  readonly of: number;
}

export const FULL: Effort = { rounds: 120, warmUpCalls: 60_000, warmUpMs: 3_000, roundsMs: 20_000 };
export const QUICK: Effort = { rounds: 30, warmUpCalls: 15_000, warmUpMs: 1_500, roundsMs: 5_000 };

export const METHOD = [
  "all contestants take turns in small blocks, order shuffled each round; a ratio is formed inside each round",
  "the ratio shown is the median over rounds, [ ] its 95 % bootstrap interval; times are medians and only for orientation",
] as const;

/** The measurements of one contestant. */
export interface Series {
  readonly name: string;
  readonly unit: "µs" | "ms" | "calls/ms" | "MB";
  /** Every sample of every block that counted. */
  readonly samples: number[];
  /** One number per round: the median of the block. Same position, same round, for all contestants of a case. */
  readonly rounds: number[];
  /** Processor time per call in µs, a number per round, of all calls of a block, also of those that only wake the threads. */
  readonly cpuUs?: number[];
}

/** A series per contestant, in their order. */
export type SeriesOf<T extends readonly Contestant[]> = { -readonly [K in keyof T]: Series };

export interface LatencyOptions {
  /** Samples per block. */
  readonly samples?: number;
  /** Calls per sample: more than one where a call is not much longer than reading the clock. */
  readonly callsPerSample?: number;
  /**
   * The quantile of a block's samples that represents its round; the median by default. A lower one picks calls without
   * interruptions.
   */
  readonly pick?: number;
}

/**
 * While the other contestants ran, this one's threads slept and its caches went cold. These calls wake them and are not
 * counted. (On two cores, threads need ten calls or more to settle on a core each. Another case measures the first call
 * after a pause.)
 */
const SETTLING_CALLS = 30;
const SETTLING_MS = 10;

/** Uncounted rounds warm up the pattern of the measurement itself. */
const UNCOUNTED_ROUNDS = 5;
/** Fewer do not make an interval. */
const MIN_ROUNDS = 10;

/** A block ends after this time and at least this many samples, so that all contestants have the same conditions. */
const BLOCK_MS = 100;
const MIN_SAMPLES = 3;

/** A contestant that makes fewer calls in this time is slow for other reasons than cold code. */
const SLOW_CALLS = 500;
const SLOW_MS = 1_000;

/** Calls in flight are handled in batches: the more there are, the later the code of a batch is compiled. */
const CALLS_TOGETHER = 16;

/** One call after the other; how long each takes. */
export function latency<T extends readonly Contestant[]>(
  contestants: T,
  effort: Effort,
  { samples = 40, callsPerSample = 1, pick = 0.5 }: LatencyOptions = {},
): Promise<SeriesOf<T>> {
  const block = async ({ call }: Contestant, from: number): Promise<Block> => {
    let at = from;
    const until = performance.now() + BLOCK_MS;
    await settle(() => call(at++));
    const times: number[] = [];
    for (let sample = 0; sample < samples; sample++) {
      const started = performance.now();
      if (sample >= MIN_SAMPLES && started > until) break;
      for (let i = 0; i < callsPerSample; i++) await call(at++);
      times.push(((performance.now() - started) * 1_000) / callsPerSample);
    }
    return { samples: times, calls: at - from };
  };
  return takeTurns(contestants, effort, 1, "µs", block, (times) => quantile(times, pick));
}

/** Always `inFlight` calls open; how many are done per millisecond. */
export function throughput<T extends readonly Contestant[]>(contestants: T, effort: Effort, inFlight: number): Promise<SeriesOf<T>> {
  const calls = inFlight * 10;
  return takeTurns(contestants, effort, inFlight, "calls/ms", async ({ call }, from) => {
    const until = performance.now() + BLOCK_MS;
    let settling = 0;
    await settle(() => {
      settling += 1;
      return call(from);
    });
    let begun = 0;
    const keepOneOpen = async (): Promise<void> => {
      do await call(from + begun++);
      while (begun < calls && performance.now() < until);
    };
    const started = performance.now();
    await Promise.all(Array.from({ length: inFlight }, keepOneOpen));
    return { samples: [begun / (performance.now() - started)], calls: settling + begun };
  });
}

interface Block {
  readonly samples: number[];
  /** All that were made, with those that only wake the threads. */
  readonly calls: number;
}

async function settle(call: () => unknown): Promise<void> {
  const until = performance.now() + SETTLING_MS;
  for (let i = 0; i < SETTLING_CALLS && performance.now() < until; i++) await call();
}

/** Per-round values of one contestant over another's. */
export function over(subject: Series, floor: Series): number[] {
  return subject.rounds.map((value, round) => value / floor.rounds[round]!);
}

/** Warms up with the same number of calls in flight as the measurement, since batches take another code path. */
async function warmUp({ call }: Contestant, { warmUpCalls, warmUpMs }: Effort, inFlight: number): Promise<void> {
  const calls = warmUpCalls * Math.max(1, inFlight / CALLS_TOGETHER);
  const started = performance.now();
  let at = 0;
  const isWarm = (): boolean => {
    const ms = performance.now() - started;
    return at >= calls || ms > warmUpMs || (ms > SLOW_MS && at < SLOW_CALLS);
  };
  const keepOneOpen = async (): Promise<void> => {
    while (!isWarm()) await call(at++);
  };
  await Promise.all(Array.from({ length: inFlight }, keepOneOpen));
}

async function takeTurns<T extends readonly Contestant[]>(
  contestants: T,
  effort: Effort,
  inFlight: number,
  unit: Series["unit"],
  block: (contestant: Contestant, from: number) => Promise<Block>,
  ofBlock: (samples: readonly number[]) => number = median,
): Promise<SeriesOf<T>> {
  const { rounds, roundsMs, tell } = effort;
  const series = contestants.map(({ name }): Series => ({ name, unit, samples: [], rounds: [] }));
  const order = contestants.map((_, index) => index);
  const meters = contestants.map((one) => meterOf(one, effort.processorMs));
  for (const [at, one] of contestants.entries()) {
    tell?.({ phase: "warm-up", at, of: contestants.length });
    await warmUp(one, effort, inFlight);
  }
  const until = performance.now() + roundsMs;
  for (let round = -UNCOUNTED_ROUNDS; round < rounds; round++) {
    if (round < 0 && performance.now() > until - 0.9 * roundsMs) continue;
    if (round >= MIN_ROUNDS && performance.now() > until) break;
    tell?.({ phase: "round", at: Math.max(0, round), of: rounds });
    for (const index of shuffle(order)) {
      const meter = meters[index];
      meter?.begin();
      const { samples, calls } = await block(contestants[index]!, (round + UNCOUNTED_ROUNDS) * 7);
      if (round < 0) continue;
      meter?.end(calls);
      series[index]!.samples.push(...samples);
      series[index]!.rounds.push(ofBlock(samples));
    }
  }
  return series.map((one, index) => (meters[index] ? { ...one, cpuUs: meters[index].cpuUs } : one)) as SeriesOf<T>;
}

interface Meter {
  readonly cpuUs: number[];
  /** Before the calls that wake the threads: reading the clocks of other processes takes a moment, and threads would block again. */
  begin(): void;
  end(calls: number): void;
}

function meterOf({ pids = () => [], isUnmetered }: Contestant, processorMs: Effort["processorMs"]): Meter | undefined {
  if (!processorMs || isUnmetered) return undefined;
  const cpuUs: number[] = [];
  let fromMs = 0;
  return {
    cpuUs,
    begin: () => void (fromMs = processorMs(pids())),
    end: (calls) => void cpuUs.push(((processorMs(pids()) - fromMs) * 1_000) / calls),
  };
}
