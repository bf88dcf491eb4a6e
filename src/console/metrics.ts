/**
 * Trusted side: a host's measurements as OpenMetrics text, for Prometheus and what reads it. A pure function: the console serves it at
 * /metrics, `creel metrics` prints it. SECURITY: labels come from the host's own lists alone: ids of plugins and names of hooks, statuses and
 * services. Nothing of an event becomes a label: its values are a model's words, and without end. test/console/metrics.test.ts
 */
import { LIMITS } from "../protocol/limits.ts";
import type { Histogram, HostStats, PluginStats } from "../protocol/live-report.ts";
import { cappedPlugins } from "./metric-plugins.ts";

type Labels = Readonly<Record<string, string>>;
type Kind = "counter" | "gauge" | "histogram" | "info" | "stateset";

const CIRCUITS = ["closed", "open", "half-open", "quarantined"] as const;

export function openMetrics(stats: HostStats): string {
  const text = new Exposition();
  const plugins = cappedPlugins(stats.plugins, LIMITS.report.metricPlugins);
  runs(text, stats);
  calls(text, plugins);
  health(text, plugins, stats);
  machine(text, stats);
  approvals(text, plugins, stats);
  services(text, plugins, stats);
  deliveries(text, plugins, stats);
  return text.end();
}

function runs(text: Exposition, { hooks, inFlight }: HostStats): void {
  text.family("creel_runs", "counter", "Runs that have ended, by hook and decision; aborted: the gateway gave them up.");
  for (const { hook, runs: ended } of hooks) text.counts("creel_runs", { hook }, "decision", ended);
  text.family("creel_run_duration_seconds", "histogram", "Wall time of a run, with the wait for lazy plugins and users.", "seconds");
  for (const { hook, duration } of hooks) text.histogram("creel_run_duration_seconds", { hook }, duration);
  text.family("creel_runs_in_flight", "gauge", "Runs that have begun and not ended.");
  text.sample("creel_runs_in_flight", {}, inFlight);
}

function calls(text: Exposition, plugins: readonly PluginStats[]): void {
  text.family("creel_calls", "counter", "Calls of handlers, by plugin, hook and status.");
  for (const { plugin, calls: all } of plugins)
    for (const { hook, status, count } of all) text.sample("creel_calls_total", { plugin, hook, status }, count);
  text.family("creel_call_duration_seconds", "histogram", "Wall time of a call.", "seconds");
  for (const { plugin, duration } of plugins) text.histogram("creel_call_duration_seconds", { plugin }, duration);
  text.family("creel_call_cpu_seconds", "counter", "CPU time of calls.", "seconds");
  for (const { plugin, cpuSeconds } of plugins) text.sample("creel_call_cpu_seconds_total", { plugin }, cpuSeconds);
}

function health(text: Exposition, plugins: readonly PluginStats[], { restarts }: HostStats): void {
  text.family("creel_plugin_cpu_ratio", "gauge", "Share of a CPU over the last minute, 0 to 1.");
  for (const { plugin, cpuRatio } of plugins) text.sample("creel_plugin_cpu_ratio", { plugin }, cpuRatio);
  text.family("creel_plugin_heap_bytes", "gauge", "Memory of the plugin's cell when it was last measured; 0: it has none.", "bytes");
  for (const { plugin, heapBytes = 0 } of plugins) text.sample("creel_plugin_heap_bytes", { plugin }, heapBytes);
  text.family("creel_plugin_heap_limit_bytes", "gauge", "What the cell's memory may grow to.", "bytes");
  for (const { plugin, heapLimitBytes = 0 } of plugins) text.sample("creel_plugin_heap_limit_bytes", { plugin }, heapLimitBytes);
  const own = plugins.filter(({ plugin }) => plugin !== "other");
  text.family("creel_plugin", "info", "Version and digest of the code of a plugin.");
  for (const { plugin, version = "", digest = "" } of own) text.sample("creel_plugin_info", { plugin, version, digest }, 1);
  text.family("creel_circuit_state", "stateset", "The state of a plugin's breaker.");
  for (const { plugin, circuit } of own)
    for (const state of CIRCUITS) text.sample("creel_circuit_state", { plugin, creel_circuit_state: state }, circuit === state ? 1 : 0);
  text.family("creel_cell_replacements", "counter", "Cells that were rebuilt, by reason.");
  for (const { plugin, replacements } of plugins) text.counts("creel_cell_replacements", { plugin }, "reason", replacements);
  text.family("creel_sandbox_restarts", "counter", "Sandboxes that were replaced, by reason and by the plugin to blame, if one is.");
  const known = new Set(own.map(({ plugin }) => plugin));
  // Each reason is there at 0 for each plugin, as the host lists it for none.
  const reasons = new Set(restarts.map(({ reason }) => reason));
  const never = plugins.flatMap(({ plugin }) => Array.from(reasons, (reason) => ({ plugin, reason, count: 0 })));
  const counted = Map.groupBy(
    [...never, ...restarts],
    ({ plugin = "", reason }) => `${plugin === "" || known.has(plugin) ? plugin : "other"}\n${reason}`,
  );
  for (const [key, same] of counted) {
    const [plugin = "", reason = ""] = key.split("\n");
    const count = same.reduce((sum, one) => sum + one.count, 0);
    text.sample("creel_sandbox_restarts_total", { plugin, reason }, count);
  }
}

function machine(text: Exposition, { processes, lanes, eventLoop }: HostStats): void {
  text.family("creel_sandbox_resident_bytes", "gauge", "Resident memory of processes; 0: there is none.", "bytes");
  // The bundler's process comes and goes, and there may be two.
  const all = [...processes, { kind: "bundler", lanes: [], rssBytes: 0 }];
  for (const same of Map.groupBy(all, ({ kind, lanes: served }) => `${kind} ${served.join("+")}`).values()) {
    const [{ kind, lanes: served }] = same as [(typeof all)[number]];
    const rssBytes = same.reduce((sum, one) => sum + one.rssBytes, 0);
    text.sample("creel_sandbox_resident_bytes", { process: kind, lane: served.join("+") }, rssBytes);
  }
  text.family("creel_lane_waiting_runs", "gauge", "Runs in a lane, or waiting for it.");
  for (const { lane, waiting } of lanes) text.sample("creel_lane_waiting_runs", { lane: String(lane) }, waiting);
  text.family("creel_event_loop_delay_seconds", "gauge", "How late the gateway's event loop comes round.", "seconds");
  for (const [stat, ms] of Object.entries({ mean: eventLoop.meanMs, p99: eventLoop.p99Ms, max: eventLoop.maxMs }))
    text.sample("creel_event_loop_delay_seconds", { stat }, ms / 1000);
}

function approvals(text: Exposition, plugins: readonly PluginStats[], { approvals: { pending, wait } }: HostStats): void {
  text.family("creel_approvals_pending", "gauge", "Approvals that wait for an answer.");
  text.sample("creel_approvals_pending", {}, pending);
  text.family("creel_approvals", "counter", "Approvals that have ended, by the plugin that asked and how they ended.");
  for (const { plugin, approvals: ended } of plugins) text.counts("creel_approvals", { plugin }, "resolution", ended);
  text.family("creel_approval_wait_seconds", "histogram", "How long approvals waited for their answer.", "seconds");
  text.histogram("creel_approval_wait_seconds", {}, wait);
}

function services(text: Exposition, plugins: readonly PluginStats[], { recursions, auditDropped }: HostStats): void {
  text.family("creel_fetches", "counter", "Requests of plugins to servers: granted or refused.");
  for (const { plugin, fetches } of plugins) text.counts("creel_fetches", { plugin }, "outcome", fetches);
  text.family("creel_refusals", "counter", "Requests to services that were refused, by service.");
  for (const { plugin, refusals } of plugins) text.counts("creel_refusals", { plugin }, "service", refusals);
  text.family("creel_permission_uses", "counter", "Uses of permissions, by kind.");
  for (const { plugin, permissionUses } of plugins) text.counts("creel_permission_uses", { plugin }, "kind", permissionUses);
  text.family("creel_recursions", "counter", "Loops that were stopped, by the limit they hit.");
  text.counts("creel_recursions", {}, "limit", recursions);
  text.family("creel_audit_dropped", "counter", "Lines that the audit log has left out.");
  text.sample("creel_audit_dropped_total", {}, auditDropped);
  text.family("creel_log_lines_dropped", "counter", "Log lines of plugins beyond their limit.");
  for (const { plugin, droppedLogLines } of plugins) text.sample("creel_log_lines_dropped_total", { plugin }, droppedLogLines);
}

function deliveries(text: Exposition, plugins: readonly PluginStats[], { outbox }: HostStats): void {
  text.family("creel_deliveries", "counter", "Attempts to deliver events of durable hooks, by how they ended.");
  for (const { plugin, deliveries: ended } of plugins) text.counts("creel_deliveries", { plugin }, "status", ended);
  if (!outbox) return;
  text.family("creel_outbox_events", "gauge", "Events of durable hooks that wait, and that were given up.");
  text.sample("creel_outbox_events", { state: "waiting" }, outbox.waiting);
  text.sample("creel_outbox_events", { state: "dead" }, outbox.dead);
  text.family("creel_outbox_bytes", "gauge", "Size of these events.", "bytes");
  text.sample("creel_outbox_bytes", {}, outbox.bytes);
  text.family("creel_outbox_limit_bytes", "gauge", "What they may take now; an event beyond it is refused.", "bytes");
  text.sample("creel_outbox_limit_bytes", {}, outbox.limitBytes);
}

class Exposition {
  readonly #lines: string[] = [];

  family(name: string, kind: Kind, help: string, unit?: string): void {
    this.#lines.push(`# TYPE ${name} ${kind}`);
    if (unit !== undefined) this.#lines.push(`# UNIT ${name} ${unit}`);
    this.#lines.push(`# HELP ${name} ${help}`);
  }

  sample(name: string, labels: Labels, value: number, exemplar = ""): void {
    const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
    this.#lines.push(`${name}${pairs.length > 0 ? `{${pairs.join(",")}}` : ""} ${value}${exemplar}`);
  }

  /** One sample of a counter for each key. */
  counts(name: string, labels: Labels, label: string, counts: Readonly<Record<string, number>>): void {
    for (const [key, count] of Object.entries(counts)) this.sample(`${name}_total`, { ...labels, [label]: key }, count);
  }

  histogram(name: string, labels: Labels, { bounds, counts, sum, count, exemplars }: Histogram): void {
    let below = 0;
    for (const [at, inBucket] of counts.entries()) {
      below += inBucket;
      const exemplar = exemplars?.[at];
      const le = bounds[at] === undefined ? "+Inf" : String(bounds[at]);
      const shown = exemplar && ` # {run_id="${escaped(exemplar.runId)}"} ${exemplar.value} ${(exemplar.at / 1000).toFixed(3)}`;
      this.sample(`${name}_bucket`, { ...labels, le }, below, shown ?? "");
    }
    this.sample(`${name}_count`, labels, count);
    this.sample(`${name}_sum`, labels, sum);
  }

  end(): string {
    return `${this.#lines.join("\n")}\n# EOF\n`;
  }
}

const SPECIAL = /[\\"\n]/;

/** Of tens of thousands of labels hardly one needs it. */
function escaped(text: string): string {
  if (!SPECIAL.test(text)) return text;
  return text
    .replaceAll("\\", String.raw`\\`)
    .replaceAll('"', String.raw`\"`)
    .replaceAll("\n", String.raw`\n`);
}
