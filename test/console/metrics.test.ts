import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { serveConsole } from "creel/console";
import { openMetrics } from "../../src/console/metrics.ts";
import { cappedPlugins } from "../../src/console/metric-plugins.ts";
import type { HostStats, PluginStats } from "../../src/protocol/live-report.ts";
import { LIMITS } from "../../src/protocol/limits.ts";
import { folder } from "../support/files.ts";
import { open, silent } from "../support/host.ts";
import { lint } from "../support/openmetrics.ts";
import type { Linted } from "../support/openmetrics.ts";

function linted(text: string): Linted["families"] {
  const { families, complaints } = lint(text);
  expect(complaints).toEqual([]);
  return families;
}

const source = `export default (api) => {
  api.on("before_tool_call", (event) => (event.params.bad ? { block: true, blockReason: event.toolName } : undefined));
};`;

describe("/metrics", () => {
  it("has every series of every plugin at 0 from the start, and keeps the rules of the format", async () => {
    await using host = await open("thread", { plugins: [{ id: "p", source }] });
    const families = linted(openMetrics(await host.stats()));
    const ofPlugin = [...families].filter(([, samples]) => samples.some(({ labels }) => labels.plugin === "p")).map(([name]) => name);
    expect(ofPlugin).toEqual([
      "creel_calls",
      "creel_call_duration_seconds",
      "creel_call_cpu_seconds",
      "creel_plugin_cpu_ratio",
      "creel_plugin_heap_bytes",
      "creel_plugin_heap_limit_bytes",
      "creel_plugin",
      "creel_circuit_state",
      "creel_cell_replacements",
      "creel_sandbox_restarts",
      "creel_approvals",
      "creel_fetches",
      "creel_refusals",
      "creel_permission_uses",
      "creel_log_lines_dropped",
      "creel_deliveries",
    ]);
    expect([...families].filter(([, samples]) => samples.length === 0)).toEqual([]);
    expect(families.get("creel_calls")!.every(({ value }) => value === 0)).toBe(true);
    expect(families.get("creel_cell_replacements")!.map(({ labels }) => labels.reason)).toEqual(["cpu", "memory", "timeout", "other"]);
    expect(families.get("creel_permission_uses")!.map(({ labels }) => labels.kind)).toContain("fetch");
    expect(families.get("creel_runs")!.map(({ labels }) => labels)).toEqual([
      { hook: "before_tool_call", decision: "pass" },
      { hook: "before_tool_call", decision: "block" },
      { hook: "before_tool_call", decision: "aborted" },
    ]);
    // The values of labels are a promise to dashboards, as the names are.
    expect(
      Object.fromEntries([...families].map(([name, samples]) => [name, valuesOf(samples)]).filter(([, values]) => values!.length > 0)),
    ).toEqual(VALUES);
  });

  it("runs that the gateway gave up are counted, as runs that were aborted", async () => {
    await using host = await open("thread", { plugins: [{ id: "p", source: BUSY }] });
    const stop = new AbortController();
    const given = host.run("before_tool_call", { toolName: "t", params: { wait: true } }, undefined, { signal: stop.signal });
    stop.abort();
    await expect(given).rejects.toThrow("aborted");
    const runs = linted(openMetrics(await host.stats())).get("creel_runs")!;
    expect(Object.fromEntries(runs.map(({ labels, value }) => [labels.decision!, value]))).toEqual({ pass: 0, block: 0, aborted: 1 });
  });

  it("no word of an event, a result or a reason is in it, but the run's id is", async () => {
    await using host = await open("thread", { plugins: [{ id: "p", source }] });
    const { runId } = await host.run("before_tool_call", { toolName: "zebra", params: { bad: true, command: "zebra" } });
    const text = openMetrics(await host.stats());
    linted(text);
    expect(text).not.toContain("zebra");
    expect(text).toContain(`# {run_id="${runId}"}`);
    expect(text).toContain('creel_runs_total{hook="before_tool_call",decision="block"} 1\n');
  });

  it("a version that is hostile stays a label's value", async () => {
    await using host = await open("thread", { plugins: [{ id: "p", source }] });
    const stats = await host.stats();
    const version = '1"} 1\ncreel_evil{x="\\';
    const families = linted(openMetrics({ ...stats, plugins: [{ ...stats.plugins[0]!, version }] }));
    expect([...families.keys()]).not.toContain("creel_evil");
    expect(families.get("creel_plugin")![0]!.labels.version).toBe(String.raw`1\"} 1\ncreel_evil{x=\"\\`);
  });

  it("plugins beyond a number are one, and their counts add up", async () => {
    await using host = await open("thread", { plugins: [{ id: "p", source }] });
    await host.run("before_tool_call", { toolName: "t", params: {} });
    const stats: HostStats = await host.stats();
    const many: PluginStats[] = Array.from({ length: 1_003 }, (_, at) => ({ ...stats.plugins[0]!, plugin: `p${at}` }));
    const families = linted(openMetrics({ ...stats, plugins: many }));
    const ok = families.get("creel_calls")!.filter(({ labels }) => labels.status === "ok");
    expect(ok).toHaveLength(1_001);
    expect(ok.at(-1)).toMatchObject({ labels: { plugin: "other" }, value: 3 });
    expect(cappedPlugins(many, 2_000)).toHaveLength(1_003);
  });

  it("the rules themselves find what is wrong", () => {
    const { complaints } = lint(
      '# TYPE creel_x_total counter\ncreel_x_total{a=b} -1\n# TYPE creel_h histogram\ncreel_h_bucket{le="1"} 2\ncreel_h_bucket{le="+Inf"} 1\n',
    );
    expect(complaints).toHaveLength(6);
  });
});

/** Labels whose values are not the names of plugins, hooks and buckets, on an idle host with threads. */
const OPEN_LABELS: ReadonlySet<string> = new Set(["plugin", "hook", "le", "version", "digest"]);

function valuesOf(samples: readonly { readonly labels: Readonly<Record<string, string>> }[]): string[] {
  const pairs = samples.flatMap(({ labels }) => Object.entries(labels).filter(([label]) => !OPEN_LABELS.has(label)));
  return [...new Set(pairs.map(([label, value]) => `${label}=${value}`))];
}

const SERVICES = ["fetch", "connect", "kv", "schedule", "session:get", "session:patch", "fs"];
const named = (label: string, ...values: readonly string[]): string[] => values.map((value) => `${label}=${value}`);
const VALUES: Readonly<Record<string, readonly string[]>> = {
  creel_runs: named("decision", "pass", "block", "aborted"),
  creel_calls: named("status", "ok", "skipped", "failed", "timeout", "cpu", "memory", "crashed", "recursion", "quarantined"),
  creel_circuit_state: named("creel_circuit_state", "closed", "open", "half-open", "quarantined"),
  creel_cell_replacements: named("reason", "cpu", "memory", "timeout", "other"),
  creel_sandbox_restarts: named("reason", "died", "frozen", "link", "memory", "protocol", "stuck", "wedged"),
  creel_sandbox_resident_bytes: [...named("process", "gateway"), "lane=", ...named("process", "bundler")],
  creel_lane_waiting_runs: named("lane", "0", "1"),
  creel_event_loop_delay_seconds: named("stat", "mean", "p99", "max"),
  creel_approvals: named("resolution", "allow-once", "allow-always", "deny", "timeout", "cancelled"),
  creel_fetches: named("outcome", "granted", "refused"),
  creel_refusals: named("service", ...SERVICES, "other"),
  creel_permission_uses: named("kind", ...SERVICES),
  creel_recursions: named("limit", "depth", "rate"),
  creel_deliveries: named("status", "delivered", "failed", "dead", "dropped"),
};

/** The families of an idle host, with a plugin and nothing that has happened; a new one is added here by hand. */
const FAMILIES = [
  "creel_runs",
  "creel_run_duration_seconds",
  "creel_runs_in_flight",
  "creel_calls",
  "creel_call_duration_seconds",
  "creel_call_cpu_seconds",
  "creel_plugin_cpu_ratio",
  "creel_plugin_heap_bytes",
  "creel_plugin_heap_limit_bytes",
  "creel_plugin",
  "creel_circuit_state",
  "creel_cell_replacements",
  "creel_sandbox_restarts",
  "creel_sandbox_resident_bytes",
  "creel_lane_waiting_runs",
  "creel_event_loop_delay_seconds",
  "creel_approvals_pending",
  "creel_approvals",
  "creel_approval_wait_seconds",
  "creel_fetches",
  "creel_refusals",
  "creel_permission_uses",
  "creel_recursions",
  "creel_audit_dropped",
  "creel_log_lines_dropped",
  "creel_deliveries",
];

const BUSY = `export default (api) => {
  api.on("before_tool_call", (event) => {
    if (event.params.wait) return new Promise((done) => setTimeout(done, 200));
    let sum = 0;
    for (let at = 0; at < 3e6; at++) sum += Math.sqrt(at);
    return { params: { sum } };
  });
};`;

function valueOf(families: Linted["families"], family: string, labels: Record<string, string>): number {
  return families.get(family)!.find((sample) => Object.entries(labels).every(([label, value]) => sample.labels[label] === value))!.value;
}

it("over HTTP an idle host lists every family, each with a sample, and under load the gauges have its values", async () => {
  await using host = await open("thread", { plugins: [{ id: "p", source: BUSY }] });
  const tokenFile = join(folder({}), "token");
  await using server = await serveConsole(host, { logger: silent, tokenFile });
  const headers = { authorization: `Bearer ${readFileSync(tokenFile, "utf8").trim()}` };
  const scraped = async () => {
    const response = await fetch(`${server.origin}/metrics`, { headers });
    expect([response.status, response.headers.get("content-type")]).toEqual([200, expect.stringContaining("openmetrics-text")]);
    return linted(await response.text());
  };

  const idle = await scraped();
  expect([...idle.keys()]).toEqual(FAMILIES);
  expect([...idle].filter(([, samples]) => samples.length === 0)).toEqual([]);
  expect([valueOf(idle, "creel_lane_waiting_runs", { lane: "0" }), valueOf(idle, "creel_runs_in_flight", {})]).toEqual([0, 0]);

  const waiting = Array.from({ length: 3 }, () => host.run("before_tool_call", { toolName: "t", params: { wait: true } }));
  // Not over HTTP, which may take longer than they do.
  const loaded = linted(openMetrics(await host.stats()));
  expect([valueOf(loaded, "creel_lane_waiting_runs", { lane: "0" }), valueOf(loaded, "creel_runs_in_flight", {})]).toEqual([3, 3]);
  await Promise.all(waiting);

  // A lane reports the time of its cells in portions.
  const portion = LIMITS.lane.cpuReportUs / 1e6;
  const cpuSeconds = async () => (await host.stats()).plugins[0]!.cpuSeconds;
  while ((await cpuSeconds()) < 2.5 * portion) await host.run("before_tool_call", { toolName: "t", params: {} });
  // The gateway itself is busy, and comes round late once.
  const beganMs = performance.now();
  while (performance.now() - beganMs < 400);
  await sleep(2 * LIMITS.report.eventLoopMs);
  const after = await scraped();
  const spent = valueOf(after, "creel_call_cpu_seconds", { plugin: "p" });
  expect(spent).toBeGreaterThanOrEqual(2.5 * portion);
  // All of it was in the last minute, and all but the last portion was reported.
  const used = (valueOf(after, "creel_plugin_cpu_ratio", { plugin: "p" }) * LIMITS.blame.cpuShareMs) / 1_000;
  expect(used).toBeGreaterThan(spent - 1.5 * portion);
  expect(used).toBeLessThan(spent + 2 * portion);
  expect(valueOf(after, "creel_event_loop_delay_seconds", { stat: "max" })).toBeGreaterThan(0.25);
  expect([valueOf(after, "creel_lane_waiting_runs", { lane: "0" }), valueOf(after, "creel_runs_in_flight", {})]).toEqual([0, 0]);
});
