/** Does a series rise? The slope is the median of the slopes between all pairs (Theil and Sen), so that a few spikes do not make one. */
import { median } from "../../src/cli/bench/statistics.ts";

export interface Sample {
  readonly atMs: number;
  readonly value: number;
}

export interface Trend {
  readonly first: number;
  readonly last: number;
  readonly median: number;
  /** By the slope, over the time that was looked at. */
  readonly growth: number;
  /** From the median of the first third to that of the last: what a step amounts to, wherever it is. */
  readonly rise: number;
}

export function trend(samples: readonly Sample[]): Trend {
  const values = samples.map(({ value }) => value);
  const slopes = samples.flatMap((from, at) =>
    samples.slice(at + 1).flatMap((to) => (to.atMs > from.atMs ? [(to.value - from.value) / (to.atMs - from.atMs)] : [])),
  );
  const third = Math.ceil(values.length / 3);
  const spanMs = samples.at(-1)!.atMs - samples[0]!.atMs;
  return {
    first: values[0]!,
    last: values.at(-1)!,
    median: median(values),
    growth: slopes.length === 0 ? 0 : median(slopes) * spanMs,
    rise: median(values.slice(-third)) - median(values.slice(0, third)),
  };
}

const BLOCKS = "▁▂▃▄▅▆▇█";

/** The series in so many blocks, each the median of its part. */
export function sparkline(samples: readonly Sample[], width: number): string {
  const columns = Math.min(width, samples.length);
  const values = Array.from({ length: columns }, (_, at) =>
    median(
      samples
        .slice(Math.floor((at * samples.length) / columns), Math.floor(((at + 1) * samples.length) / columns))
        .map(({ value }) => value),
    ),
  );
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return values.map((value) => BLOCKS[high === low ? 0 : Math.round(((value - low) / (high - low)) * (BLOCKS.length - 1))]).join("");
}
