/**
 * Trusted side: what an open page is told of each run and of the measurements: what its lists and tiles show, and no more, so that a page
 * that is open on a busy host costs the host little. A run that a person opens is asked for by itself, with everything.
 */
import { LIMITS } from "../protocol/limits.ts";
import type { HostStats, PluginStats, RunRecord } from "../protocol/live-report.ts";

/** A run in a list. Times are rounded to microseconds, texts of plugins are cut. */
export interface RunRow extends Pick<
  RunRecord,
  "seq" | "at" | "runId" | "hook" | "toolName" | "number" | "wallMs" | "decision" | "by" | "plugins"
> {
  readonly reason?: string;
  /** What caused it; absent at the root. */
  readonly cause?: { readonly by?: string | undefined; readonly path: readonly string[] };
  readonly calls: readonly CallOfRow[];
}

interface CallOfRow {
  readonly plugin: string;
  readonly wallMs: number;
  /** Why it failed. */
  readonly error?: string;
}

export interface PageStats extends Pick<HostStats, "inFlight" | "eventLoop" | "processes" | "isRecording"> {
  readonly plugins: readonly Pick<
    PluginStats,
    "plugin" | "cpuRatio" | "heapBytes" | "heapLimitBytes" | "permissions" | "refusals" | "fetches"
  >[];
}

/** Keys without a value are not in the JSON. */
type Line<T> = { readonly [K in keyof T]: T[K] | undefined };

/** Several hundred a second. */
export function rowOf({
  seq,
  at,
  runId,
  hook,
  toolName,
  number,
  wallMs,
  decision,
  by,
  reason,
  chain,
  calls,
  plugins,
}: RunRecord): Line<RunRow> {
  const cause = chain.depth === 0 ? undefined : { by: chain.by, path: chain.path };
  return {
    seq,
    at,
    runId,
    hook,
    toolName,
    number,
    wallMs: wallMs === undefined ? undefined : rounded(wallMs),
    decision,
    by,
    reason: cut(reason),
    cause,
    calls: calls.map(callOf),
    plugins,
  };
}

function callOf({ plugin, wallMs, error }: RunRecord["calls"][number]): CallOfRow {
  return error ? { plugin, wallMs: rounded(wallMs), error: cut(error.message)! } : { plugin, wallMs: rounded(wallMs) };
}

export function pageStats({ inFlight, eventLoop, processes, isRecording, plugins }: HostStats): PageStats {
  return {
    inFlight,
    eventLoop,
    processes,
    isRecording,
    plugins: plugins.map(({ plugin, cpuRatio, heapBytes, heapLimitBytes, permissions, refusals, fetches }) => ({
      plugin,
      cpuRatio,
      ...(heapBytes !== undefined && { heapBytes }),
      ...(heapLimitBytes !== undefined && { heapLimitBytes }),
      permissions,
      refusals,
      fetches,
    })),
  };
}

function rounded(ms: number): number {
  return Math.round(ms * 1_000) / 1_000;
}

function cut(text: string | undefined): string | undefined {
  return text === undefined || text.length <= LIMITS.console.rowChars ? text : `${text.slice(0, LIMITS.console.rowChars)}…`;
}
