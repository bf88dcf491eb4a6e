/**
 * Trusted side: the measurements of the last hour, so that a plot has a past when the page is opened. Each sample is what one interval
 * added: rates and quantiles of that interval, not since the host opened.
 */
import { LIMITS } from "../protocol/limits.ts";
import type { HostStats } from "../protocol/live-report.ts";
import { hookSamples } from "./hook-samples.ts";
import type { HookSample } from "./hook-samples.ts";
import { difference, quantiles, sum } from "./interval.ts";
import type { Counts, Quantiles } from "./interval.ts";

export interface PluginSample extends Quantiles {
  /** Calls per second. */
  readonly calls: number;
  /** Share of a CPU over the last minute. */
  readonly cpu: number;
  readonly heap?: number;
}

export interface Sample extends Quantiles {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Runs per second. */
  readonly runs: number;
  /** Of them: how many did not pass. */
  readonly stopped: number;
  readonly inFlight: number;
  /** Bytes of all processes. */
  readonly rss: number;
  /** Delay of the gateway's event loop, in milliseconds. */
  readonly loopP99: number;
  /** Those that were run. */
  readonly hooks: Readonly<Record<string, HookSample>>;
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
  const hooks = hookSamples(before, now, seconds);
  const ofHook = new Map(before.hooks.map((hook) => [hook.hook, hook]));
  const merged = now.hooks.reduce<Counts | undefined>(
    (all, { hook, duration }) => sum(all, difference(ofHook.get(hook)?.duration, duration)),
    undefined,
  );
  const total = (pick: (hook: HookSample) => number): number => Object.values(hooks).reduce((all, hook) => all + pick(hook), 0);
  const ofPlugin = new Map(before.plugins.map((plugin) => [plugin.plugin, plugin]));
  return {
    at: now.at,
    runs: total(({ runs }) => runs),
    stopped: total(({ stopped }) => stopped),
    ...quantiles(merged),
    inFlight: now.inFlight,
    rss: now.processes.reduce((bytes, { rssBytes }) => bytes + rssBytes, 0),
    loopP99: now.eventLoop.p99Ms,
    hooks,
    plugins: Object.fromEntries(
      now.plugins.map(({ plugin, duration, cpuRatio, heapBytes }) => {
        const added = difference(ofPlugin.get(plugin)?.duration, duration);
        const calls = added.counts.reduce((all, count) => all + count, 0) / seconds;
        return [plugin, { calls, ...quantiles(added), cpu: cpuRatio, ...(heapBytes !== undefined && { heap: heapBytes }) }];
      }),
    ),
  };
}
