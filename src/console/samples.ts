/**
 * Trusted side: the measurements of the last hour, so that a plot has a past when the page is opened. Each sample is what one interval
 * added: rates and quantiles of that interval, not since the host opened.
 */
import { LIMITS } from "../protocol/limits.ts";
import type { Histogram, HostStats } from "../protocol/live-report.ts";

export interface PluginSample {
  /** Calls per second. */
  readonly calls: number;
  /** Milliseconds; undefined: it was not called. */
  readonly p50?: number;
  readonly p99?: number;
  /** Share of a CPU over the last minute. */
  readonly cpu: number;
  readonly heap?: number;
}

export interface Sample {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Runs per second. */
  readonly runs: number;
  /** Of them: how many did not pass. */
  readonly stopped: number;
  readonly p50?: number;
  readonly p99?: number;
  readonly inFlight: number;
  /** Bytes of all processes. */
  readonly rss: number;
  /** Delay of the gateway's event loop, in milliseconds. */
  readonly loopP99: number;
  readonly plugins: Readonly<Record<string, PluginSample>>;
}

export class Samples {
  readonly #kept: Sample[] = [];
  #last: HostStats | undefined;

  get all(): readonly Sample[] {
    return this.#kept;
  }

  /** Undefined: it is the first of this host, and there is nothing to compare it with. */
  add(stats: HostStats): Sample | undefined {
    const before = this.#last;
    this.#last = stats;
    if (!before || before.host !== stats.host || stats.at <= before.at) return undefined;
    const sample = between(before, stats);
    this.#kept.push(sample);
    if (this.#kept.length > LIMITS.console.samples) this.#kept.shift();
    return sample;
  }
}

function between(before: HostStats, now: HostStats): Sample {
  const seconds = (now.at - before.at) / 1_000;
  const ofHook = new Map(before.hooks.map((hook) => [hook.hook, hook]));
  let runs = 0;
  let passed = 0;
  let merged: Counts | undefined;
  for (const { hook, runs: decided, duration } of now.hooks) {
    const old = ofHook.get(hook);
    for (const [decision, count] of Object.entries(decided)) {
      const more = count - (old?.runs[decision as "pass"] ?? 0);
      runs += more;
      if (decision === "pass") passed += more;
    }
    merged = sum(merged, difference(old?.duration, duration));
  }
  const ofPlugin = new Map(before.plugins.map((plugin) => [plugin.plugin, plugin]));
  return {
    at: now.at,
    runs: runs / seconds,
    stopped: (runs - passed) / seconds,
    ...quantiles(merged),
    inFlight: now.inFlight,
    rss: now.processes.reduce((bytes, { rssBytes }) => bytes + rssBytes, 0),
    loopP99: now.eventLoop.p99Ms,
    plugins: Object.fromEntries(
      now.plugins.map(({ plugin, duration, cpuRatio, heapBytes }) => {
        const added = difference(ofPlugin.get(plugin)?.duration, duration);
        const calls = added.counts.reduce((all, count) => all + count, 0) / seconds;
        return [plugin, { calls, ...quantiles(added), cpu: cpuRatio, ...(heapBytes !== undefined && { heap: heapBytes }) }];
      }),
    ),
  };
}

interface Counts {
  readonly bounds: readonly number[];
  readonly counts: readonly number[];
}

function difference(before: Histogram | undefined, { bounds, counts }: Histogram): Counts {
  return { bounds, counts: counts.map((count, at) => Math.max(0, count - (before?.counts[at] ?? 0))) };
}

function sum(one: Counts | undefined, other: Counts): Counts {
  return one ? { bounds: other.bounds, counts: other.counts.map((count, at) => count + (one.counts[at] ?? 0)) } : other;
}

function quantiles(counts: Counts | undefined): { p50?: number; p99?: number } {
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
