/** Trusted side: what one interval added to a histogram that only grows, and the quantiles of that. */
import type { Histogram } from "../protocol/live-report.ts";

export interface Counts {
  readonly bounds: readonly number[];
  readonly counts: readonly number[];
}

export interface Quantiles {
  /** Milliseconds; undefined: there was nothing to measure. */
  readonly p50?: number;
  readonly p99?: number;
}

export function difference(before: Histogram | undefined, { bounds, counts }: Histogram): Counts {
  return { bounds, counts: counts.map((count, at) => Math.max(0, count - (before?.counts[at] ?? 0))) };
}

export function sum(one: Counts | undefined, other: Counts): Counts {
  return one ? { bounds: other.bounds, counts: other.counts.map((count, at) => count + (one.counts[at] ?? 0)) } : other;
}

export function quantiles(counts: Counts | undefined): Quantiles {
  const p50 = counts && quantile(counts, 0.5);
  const p99 = counts && quantile(counts, 0.99);
  return { ...(p50 !== undefined && { p50 }), ...(p99 !== undefined && { p99 }) };
}

/** In milliseconds, by the straight line inside its bucket. */
function quantile({ bounds, counts }: Counts, q: number): number | undefined {
  const all = counts.reduce((total, count) => total + count, 0);
  if (all === 0) return undefined;
  let left = q * all;
  for (const [at, count] of counts.entries()) {
    if (count > 0 && left <= count) {
      const low = at === 0 ? 0 : bounds[at - 1]!;
      const high = bounds[at] ?? low;
      return (low + (high - low) * (left / count)) * 1_000;
    }
    left -= count;
  }
  return bounds.at(-1)! * 1_000;
}
