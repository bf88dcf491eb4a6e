/**
 * Quantiles of the tail, over the samples of all rounds together: a block has too few for its own. The interval comes from drawing whole
 * rounds again, since a stall delays many calls of one round; the draws count in bins of a hundredth, so that they need not sort.
 */
import type { Ratio, RatioUnit, Target } from "./case.ts";
import { quantile } from "../src/cli/bench/statistics.ts";

export type Blocks = readonly (readonly number[])[];

/** A quantile of some blocks. */
export interface Tail {
  readonly blocks: Blocks;
  readonly q: number;
}

const RESAMPLES = 500;
const BINS_PER_E = 100;
/** From 0.1 µs to 22 s. */
const FIRST = Math.log(0.1);
const BINS = Math.ceil((Math.log(22e6) - FIRST) * BINS_PER_E);

/** So many samples must lie beyond a quantile, or it is the luck of one call. */
const BEYOND = 5;

export function isKnown({ blocks, q }: Tail): boolean {
  return samplesOf(blocks) * (1 - q) >= BEYOND;
}

export function samplesOf(blocks: Blocks): number {
  return blocks.reduce((sum, samples) => sum + samples.length, 0);
}

/** One pooled quantile, or one over another that had the same rounds. */
export function pooled(what: string, tail: Tail, below?: Tail, target?: Target, unit?: RatioUnit): Ratio {
  const of = ({ blocks, q }: Tail): number => quantile(blocks.flat(), q);
  const value = of(tail) / (below ? of(below) : 1);
  const [counts, others] = [binned(tail.blocks), below && binned(below.blocks)];
  const drawn = new Float64Array(RESAMPLES).map(() => {
    const rounds = counts.map(() => Math.floor(Math.random() * counts.length));
    return ofBins(counts, rounds, tail.q) / (others ? ofBins(others, rounds, below!.q) : 1);
  });
  const sorted = [...drawn];
  return {
    what,
    target,
    ...(unit && { unit }),
    value,
    low: Math.min(value, quantile(sorted, 0.025)),
    high: Math.max(value, quantile(sorted, 0.975)),
  };
}

function binned(blocks: Blocks): Uint32Array[] {
  return blocks.map((samples) => {
    const counts = new Uint32Array(BINS);
    for (const us of samples) counts[Math.min(BINS - 1, Math.max(0, Math.floor((Math.log(us) - FIRST) * BINS_PER_E)))]! += 1;
    return counts;
  });
}

function ofBins(counts: readonly Uint32Array[], rounds: readonly number[], q: number): number {
  const sum = new Uint32Array(BINS);
  let all = 0;
  for (const round of rounds) {
    const one = counts[round]!;
    for (let bin = 0; bin < BINS; bin++) sum[bin]! += one[bin]!;
  }
  for (let bin = 0; bin < BINS; bin++) all += sum[bin]!;
  let left = q * (all - 1);
  for (let bin = 0; bin < BINS; bin++) {
    left -= sum[bin]!;
    if (left < 0) return Math.exp((bin + 0.5) / BINS_PER_E + FIRST);
  }
  return Infinity;
}
