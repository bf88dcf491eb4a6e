/** Trusted side: what `creel top` shows, worked out of two snapshots of a host: rates and percentiles between them. */
import { hookSamples } from "../../console/hook-samples.ts";
import type { Histogram, HostStats, PendingApproval, PluginStats, RunRecord } from "../../protocol/live-report.ts";

export interface TopPlugin {
  readonly plugin: string;
  /** Its status; its breaker's state, if that is not closed. */
  readonly state: string;
  readonly callsPerSecond: number;
  readonly failuresPerSecond: number;
  /** Of the calls between the snapshots; undefined: there were none. */
  readonly p50Ms?: number;
  readonly p99Ms?: number;
  readonly cpuRatio: number;
  readonly heapBytes?: number;
  readonly heapLimitBytes?: number;
}

export interface TopHook {
  readonly hook: string;
  readonly runsPerSecond: number;
  /** Of them: those that did not pass. */
  readonly stoppedPerSecond: number;
  /** Of whole runs, as the gateway waits for them. */
  readonly p50Ms?: number;
  readonly p99Ms?: number;
  /** The plugin that took the longest per call in it. */
  readonly slowest?: { readonly plugin: string; readonly meanMs: number };
}

export interface TopRun extends Pick<RunRecord, "runId" | "hook" | "toolName"> {
  readonly ageMs: number;
  readonly plugins: readonly string[];
}

export interface TopView {
  readonly host: string;
  readonly at: number;
  /** What the rates and percentiles cover. */
  readonly seconds: number;
  readonly runsPerSecond: number;
  readonly inFlight: number;
  /** Whole events are recorded. */
  readonly isRecording: boolean;
  readonly eventLoop: HostStats["eventLoop"];
  readonly processes: HostStats["processes"];
  /** The busiest first. */
  readonly plugins: readonly TopPlugin[];
  /** Hooks that were run, the slowest first. */
  readonly hooks: readonly TopHook[];
  /** Runs in flight, the oldest first. */
  readonly runs: readonly TopRun[];
  readonly approvals: readonly {
    readonly id: string;
    readonly toolName: string;
    readonly title: string;
    readonly ageMs: number;
    readonly leftMs: number;
  }[];
}

export interface TopInput {
  readonly stats: HostStats;
  /** Undefined: everything since the host opened. */
  readonly before: HostStats | undefined;
  readonly runs: readonly RunRecord[];
  readonly approvals: readonly PendingApproval[];
}

export function topView({ stats, before, runs, approvals }: TopInput): TopView {
  const { at } = stats;
  const seconds = Math.max(0.001, (at - (before?.at ?? stats.openedAt)) / 1000);
  const earlier = new Map(before?.plugins.map((plugin) => [plugin.plugin, plugin]));
  return {
    host: stats.host,
    at,
    seconds,
    runsPerSecond: (runCount(stats) - (before ? runCount(before) : 0)) / seconds,
    inFlight: stats.inFlight,
    isRecording: stats.isRecording,
    eventLoop: stats.eventLoop,
    processes: stats.processes,
    plugins: stats.plugins
      .map((plugin) => topPlugin(plugin, earlier.get(plugin.plugin), seconds))
      .toSorted((a, b) => b.cpuRatio - a.cpuRatio || b.callsPerSecond - a.callsPerSecond || (a.plugin < b.plugin ? -1 : 1)),
    hooks: topHooks(before, stats, seconds),
    runs: runs
      .filter(({ wallMs }) => wallMs === undefined)
      .map(({ runId, hook, toolName, at: beganAt, plugins = [] }) => {
        const tool = toolName !== undefined && { toolName };
        return { runId, hook, ...tool, ageMs: at - beganAt, plugins };
      })
      .toSorted((a, b) => b.ageMs - a.ageMs),
    approvals: approvals.map(({ id, toolName, requests, askedAt, expiresAt }) => ({
      id,
      toolName,
      title: requests[0]?.title ?? "",
      ageMs: at - askedAt,
      leftMs: expiresAt - at,
    })),
  };
}

function topHooks(before: HostStats | undefined, stats: HostStats, seconds: number): TopHook[] {
  return Object.entries(hookSamples(before, stats, seconds))
    .map(([hook, { runs, stopped, p50, p99, slowest }]) => ({
      hook,
      runsPerSecond: runs,
      stoppedPerSecond: stopped,
      ...(p50 !== undefined && { p50Ms: p50 }),
      ...(p99 !== undefined && { p99Ms: p99 }),
      ...(slowest && { slowest }),
    }))
    .toSorted((a, b) => (b.p99Ms ?? 0) - (a.p99Ms ?? 0) || (a.hook < b.hook ? -1 : 1));
}

function runCount({ hooks }: HostStats): number {
  return hooks.reduce((sum, { duration }) => sum + duration.count, 0);
}

/** Neither called nor failed. */
const UNCALLED: ReadonlySet<string> = new Set(["skipped", "recursion"]);

function topPlugin(now: PluginStats, before: PluginStats | undefined, seconds: number): TopPlugin {
  const duration = between(now.duration, before?.duration);
  return {
    plugin: now.plugin,
    state: now.circuit === "closed" ? now.status : now.circuit,
    callsPerSecond: duration.count / seconds,
    failuresPerSecond: (failures(now) - (before ? failures(before) : 0)) / seconds,
    ...(duration.count > 0 && { p50Ms: percentile(duration, 0.5), p99Ms: percentile(duration, 0.99) }),
    cpuRatio: now.cpuRatio,
    ...(now.heapBytes !== undefined && { heapBytes: now.heapBytes }),
    ...(now.heapLimitBytes !== undefined && { heapLimitBytes: now.heapLimitBytes }),
  };
}

function failures({ calls }: PluginStats): number {
  return calls.reduce((sum, { status, count }) => (status === "ok" || UNCALLED.has(status) ? sum : sum + count), 0);
}

function between(now: Histogram, before: Histogram | undefined): Histogram {
  if (!before) return now;
  return {
    bounds: now.bounds,
    counts: now.counts.map((count, at) => count - (before.counts[at] ?? 0)),
    sum: now.sum - before.sum,
    count: now.count - before.count,
  };
}

/** In milliseconds; as if the values of a bucket were spread evenly. Above the last bound it is that bound. */
export function percentile({ bounds, counts, count }: Histogram, share: number): number {
  const wanted = share * count;
  let below = 0;
  for (const [at, inBucket] of counts.entries()) {
    if (inBucket === 0 || below + inBucket < wanted) {
      below += inBucket;
      continue;
    }
    const from = bounds[at - 1] ?? 0;
    const to = bounds[at] ?? from;
    return (from + ((to - from) * (wanted - below)) / inBucket) * 1000;
  }
  return (bounds.at(-1) ?? 0) * 1000;
}
