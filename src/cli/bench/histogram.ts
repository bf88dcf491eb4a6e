/** A distribution as bins on a logarithmic axis, without outliers, and as one line of block characters. */
import { quantile } from "./statistics.ts";

export interface Histogram {
  readonly from: number;
  readonly to: number;
  /** Of the samples in each bin; bins are of equal width on a logarithmic axis. */
  readonly counts: readonly number[];
}

const BINS = 40;
/** A few samples beyond would leave the rest to three bins. */
const TAILS = [0.005, 0.98] as const;

export function histogram(samples: readonly number[]): Histogram {
  const positive = samples.filter((sample) => sample > 0);
  if (positive.length === 0) return { from: 1, to: 1, counts: [0] };
  const [from, to] = TAILS.map((q) => quantile(positive, q)) as [number, number];
  const counts = Array.from({ length: from === to ? 1 : BINS }, () => 0);
  for (const sample of positive) {
    if (sample < from || sample > to) continue;
    counts[binOf(sample, from, to, counts.length)]! += 1;
  }
  return { from, to, counts };
}

function binOf(value: number, from: number, to: number, bins: number): number {
  return Math.min(bins - 1, Math.floor((Math.log(value / from) / (Math.log(to / from) || 1)) * bins));
}

const BLOCKS = "▁▂▃▄▅▆▇█";
const COLUMNS = 24;

/** All on one axis, so that shifts can be seen. Left is less. */
export function sparklines(all: readonly Histogram[]): string[] {
  const from = Math.min(...all.map((one) => one.from));
  const to = Math.max(...all.map((one) => one.to));
  return all.map((one) => {
    const columns = Array.from({ length: COLUMNS }, () => 0);
    const width = Math.log(one.to / one.from) / one.counts.length;
    for (const [at, count] of one.counts.entries()) columns[binOf(one.from * Math.exp((at + 0.5) * width), from, to, COLUMNS)]! += count;
    const most = Math.max(...columns, 1);
    return columns.map((count) => (count === 0 ? " " : BLOCKS[Math.ceil((count / most) * BLOCKS.length) - 1])).join("");
  });
}
