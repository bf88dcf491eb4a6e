/** Trusted side: a snapshot of everything a host measures, made when a reader asks for it. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { bundler } from "../../bundler/bundler.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { AnyHook, HookTable } from "../../protocol/catalog.ts";
import type { HostStats, PluginStats } from "../../protocol/live-report.ts";
import { CALL_STATUSES } from "../../protocol/messages/host-lane.ts";
import type { Decision } from "../../protocol/outcome.ts";
import type { Audit } from "../audit/audit.ts";
import type { CallCounts } from "../plugins/call-counts.ts";
import type { Plugin } from "../plugins/plugin.ts";
import type { Plugins } from "../plugins/plugins.ts";
import type { Registry } from "../plugins/registry.ts";
import type { Recorder } from "../record/recorder.ts";
import type { Supervisor } from "../supervisor/supervisor.ts";
import type { HostEvents } from "./events.ts";
import type { Measurements } from "./measurements.ts";

/** One for all hosts of the process, which share the event loop. It does not keep the process alive. */
const loop = monitorEventLoopDelay({ resolution: LIMITS.report.eventLoopMs });

export interface StatsParts {
  readonly id: string;
  readonly hooks: HookTable;
  readonly events: HostEvents;
  readonly measurements: Measurements;
  readonly callCounts: CallCounts;
  readonly plugins: Plugins;
  readonly registry: Registry;
  readonly supervisor: Supervisor;
  readonly audit: Audit | undefined;
  readonly recorder: Recorder | undefined;
  readonly runs: { readonly inFlight: number };
}

/** Begins to watch the event loop; once per process. */
export function watchEventLoop(): void {
  loop.enable();
}

export function hostStats(parts: StatsParts): HostStats {
  const { id, hooks, events, measurements, plugins, registry, supervisor, audit, recorder, runs } = parts;
  const all = plugins.list();
  const names = new Set(all.flatMap((plugin) => hooksOf(plugin, registry)));
  const listened = new Map([...names].flatMap((name) => (hooks[name] ? [[name, decisionsOf(hooks[name])] as const] : [])));
  return {
    seq: events.seq,
    at: Date.now(),
    host: id,
    openedAt: measurements.openedAt,
    hooks: measurements.hooks(listened),
    plugins: all.map((plugin) => pluginStats(plugin, parts)),
    processes: [
      { kind: "gateway", pid: process.pid, rssBytes: process.memoryUsage.rss(), lanes: [] },
      ...supervisor.processes(),
      // It serves all hosts of the gateway.
      ...bundler.processes().map((one) => ({ kind: "bundler" as const, ...one, lanes: [] })),
    ],
    lanes: supervisor.lanes.map(({ index, waiting }) => ({ lane: index, waiting })),
    inFlight: runs.inFlight,
    eventLoop: loopDelay(),
    restarts: measurements.restarts(),
    recursions: { ...measurements.recursions },
    approvals: { pending: measurements.pendingApprovals, wait: measurements.approvalWait.report() },
    auditDropped: audit?.dropped ?? 0,
    isRecording: recorder !== undefined,
  };
}

function pluginStats(plugin: Plugin, { measurements, callCounts, registry }: StatsParts): PluginStats {
  const { id, version, bundle, circuit, cpuShare, budget } = plugin;
  const counts = measurements.plugin(id);
  const cost = callCounts.cost(id);
  for (const hook of hooksOf(plugin, registry)) callCounts.of(id, hook);
  return {
    plugin: id,
    ...(version !== undefined && { version }),
    ...(bundle && { digest: bundle.digest }),
    status: plugin.status,
    calls: [...callCounts.hooks(id)].flatMap(([hook, count]) =>
      CALL_STATUSES.map((status) => ({ hook, status, count: count.ended(status) })),
    ),
    duration: cost.duration.report(),
    hooks: Array.from(callCounts.hooks(id), ([hook, { timed, wallMs }]) => ({ hook, calls: timed, seconds: wallMs / 1000 })),
    cpuSeconds: cost.cpuMs / 1000,
    cpuRatio: cpuShare.charge(0),
    ...(plugin.status === "ready" && counts.heapBytes !== undefined && { heapBytes: counts.heapBytes }),
    heapLimitBytes: budget.heapMb.value * 2 ** 20,
    circuit: circuit.state,
    replacements: { ...counts.replacements },
    approvals: { ...counts.approvals },
    fetches: { ...counts.fetches },
    refusals: { ...counts.refusals },
    permissionUses: { ...counts.permissionUses },
    permissions: Array.from(counts.uses, ([key, { count, at }]) => ({ key, uses: count, lastUsedAt: at })),
    droppedLogLines: counts.droppedLogLines,
    deliveries: { ...counts.deliveries },
  };
}

function hooksOf(plugin: Plugin, registry: Registry): string[] {
  return (plugin.status === "asleep" ? registry.asAccepted(plugin) : registry.handlersOf(plugin)).map(({ key }) => key);
}

/** Where the hook has no terminal decision, the failure of a required plugin still blocks. */
function decisionsOf({ terminal }: AnyHook): Decision[] {
  return ["pass", "block", ...(terminal ? [terminal.decision] : [])];
}

let loopSinceMs = performance.now();

/** How much later than it should the event loop came round, over about the last minute. The timer's own pace is not delay. */
function loopDelay(): HostStats["eventLoop"] {
  if (loop.count === 0) return { meanMs: 0, p99Ms: 0, maxMs: 0 };
  const delay = { meanMs: late(loop.mean), p99Ms: late(loop.percentile(99)), maxMs: late(loop.max) };
  if (performance.now() - loopSinceMs > LIMITS.report.eventLoopWindowMs) {
    loop.reset();
    loopSinceMs = performance.now();
  }
  return delay;
}

function late(ns: number): number {
  return Math.max(0, ns / 1e6 - LIMITS.report.eventLoopMs);
}
