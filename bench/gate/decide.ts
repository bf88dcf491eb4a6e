/** The gate's decision, without measuring: from ratios and bounds to "go on", "once more" or "slower than it was". */
import type { Estimate } from "../../src/cli/bench/statistics.ts";

/** Times as slow as its floor, at most. */
export interface Bounds {
  readonly calm: number;
  /** Where other processes want the cores, too: waking up costs more than the work then, and Creel, with more code, loses its caches sooner. */
  readonly crowded: number;
}

export interface Finding extends Estimate {
  /** Threads per core that wanted to run meanwhile, what is measured included. */
  readonly crowd: number;
}

/** Two threads on two cores are what is measured; one more now and then is a compiler. */
const CALM = 1.5;
/** Where the wider bounds were taken. Beyond that they grow further, since hardly anything can be told there. */
const CROWDED = 5;

export function isCrowded({ crowd }: Finding): boolean {
  return crowd > CALM;
}

export function boundOf(bounds: Bounds, finding: Finding): number {
  return isCrowded(finding) ? bounds.crowded * Math.max(1, Math.sqrt(finding.crowd / CROWDED)) : bounds.calm;
}

/** The whole interval lies beyond the bound. What might be noise is none of the gate's business. */
export function isBeyond(finding: Finding, bounds: Bounds): boolean {
  return finding.low > boundOf(bounds, finding);
}

export interface Decision {
  readonly verdict: "holds" | "slower";
  /** One, or two if the first was beyond. */
  readonly findings: readonly Finding[];
}

/** Measures once, and once more before it says no. */
export async function decide(bounds: Bounds, measure: (attempt: number) => Promise<Finding>): Promise<Decision> {
  const first = await measure(1);
  if (!isBeyond(first, bounds)) return { verdict: "holds", findings: [first] };
  const second = await measure(2);
  return { verdict: isBeyond(second, bounds) ? "slower" : "holds", findings: [first, second] };
}
