/** The arithmetic behind a ratio. Medians throughout: a descheduled thread is an outlier, not a result. */

/** A ratio with the interval that holds it in 95 of 100 resamplings. */
export interface Estimate {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

const RESAMPLES = 2_000;

export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return quantileOfSorted(sorted, q);
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The median over rounds, and its percentile bootstrap interval. */
export function estimate(perRound: readonly number[]): Estimate {
  const drawn = new Float64Array(perRound.length);
  const medians = new Float64Array(RESAMPLES).map(() => {
    for (let at = 0; at < drawn.length; at++) drawn[at] = perRound[Math.floor(Math.random() * perRound.length)]!;
    return quantileOfSorted(drawn.toSorted(), 0.5);
  });
  const sorted = medians.toSorted();
  return { value: median(perRound), low: quantileOfSorted(sorted, 0.025), high: quantileOfSorted(sorted, 0.975) };
}

/** Fisher-Yates, in place. */
export function shuffle<T>(items: T[]): T[] {
  for (let at = items.length - 1; at > 0; at--) {
    const other = Math.floor(Math.random() * (at + 1));
    [items[at], items[other]] = [items[other]!, items[at]!];
  }
  return items;
}

function quantileOfSorted(sorted: ArrayLike<number>, q: number): number {
  const position = (sorted.length - 1) * q;
  const below = Math.floor(position);
  const low = sorted[below]!;
  return low + ((sorted[below + 1] ?? low) - low) * (position - below);
}
