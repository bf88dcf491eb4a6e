/**
 * Trusted side: a histogram of durations in fixed buckets, on the path of every call: typed arrays and a short loop, nothing is
 * allocated. Each bucket remembers its latest run, so that a spike in a dashboard leads to `creel explain`.
 */
import type { Histogram } from "../../protocol/live-report.ts";
import { epochMs } from "./epoch.ts";

/** Upper bounds in milliseconds: a quick handler takes 10 µs, a model or a user seconds. */
const BOUNDS_MS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000] as const;
const BOUNDS_SECONDS: readonly number[] = BOUNDS_MS.map((ms) => ms / 1000);

const BUCKETS = BOUNDS_MS.length + 1;

export class BucketCounts {
  readonly #counts = new Float64Array(BUCKETS);
  readonly #values = new Float64Array(BUCKETS);
  readonly #endedMs = new Float64Array(BUCKETS);
  readonly #runIds: (string | undefined)[] = Array.from({ length: BUCKETS });
  #sumMs = 0;

  /** `nowMs`: by performance.now(). */
  add(ms: number, runId: string | undefined, nowMs: number): void {
    let bucket = 0;
    while (bucket < BUCKETS - 1 && ms > BOUNDS_MS[bucket]!) bucket += 1;
    this.#counts[bucket]! += 1;
    this.#sumMs += ms;
    this.#values[bucket] = ms;
    this.#endedMs[bucket] = nowMs;
    this.#runIds[bucket] = runId;
  }

  report(): Histogram {
    const counts = Array.from(this.#counts);
    return {
      bounds: BOUNDS_SECONDS,
      counts,
      sum: this.#sumMs / 1000,
      count: counts.reduce((sum, count) => sum + count, 0),
      exemplars: this.#runIds.map((runId, at) =>
        runId === undefined ? undefined : { runId, value: this.#values[at]! / 1000, at: epochMs(this.#endedMs[at]!) },
      ),
    };
  }
}
