/**
 * The dashboard that docs/grafana/creel.json holds, in Grafana's own types: what Grafana would not understand does not compile. `npm run docs`
 * writes it. Its queries: test/docs/grafana.test.ts, and in a real Prometheus, scripts/prometheus.ts.
 */
import type { Dashboard, DataSourceRef, Panel } from "@grafana/schema";

interface Query {
  readonly expr: string;
  readonly legend: string;
  /** Points of the line lead to the run they are of. */
  readonly hasRuns?: boolean;
}

interface Plot {
  readonly title: string;
  readonly unit: "reqps" | "s" | "percentunit" | "bytes" | "short";
  readonly description?: string;
  readonly queries: readonly Query[];
}

const EVERY = "$__rate_interval";
const rate = (series: string): string => `rate(${series}[${EVERY}])`;
const increase = (series: string): string => `increase(${series}[${EVERY}])`;
const quantile = (q: number, histogram: string, by: string): string =>
  `histogram_quantile(${q}, sum by (le, ${by}) (${rate(`${histogram}_bucket`)}))`;

const PLOTS: readonly Plot[] = [
  {
    title: "Runs per second by decision",
    unit: "reqps",
    queries: [{ expr: `sum by (decision) (${rate("creel_runs_total")})`, legend: "{{decision}}" }],
  },
  {
    title: "Run duration, p50 and p99 by hook",
    unit: "s",
    description: "A point of the p99 line carries the id of its run: creel explain <run_id>",
    queries: [
      { expr: quantile(0.5, "creel_run_duration_seconds", "hook"), legend: "p50 {{hook}}", hasRuns: true },
      { expr: quantile(0.99, "creel_run_duration_seconds", "hook"), legend: "p99 {{hook}}", hasRuns: true },
    ],
  },
  {
    title: "Calls per second by plugin",
    unit: "reqps",
    queries: [{ expr: `sum by (plugin) (${rate("creel_calls_total")})`, legend: "{{plugin}}" }],
  },
  {
    title: "Failed calls per second",
    unit: "reqps",
    queries: [
      { expr: `sum by (plugin, status) (${rate('creel_calls_total{status!~"ok|skipped|recursion"}')})`, legend: "{{plugin}} {{status}}" },
    ],
  },
  {
    title: "Call duration p99 by plugin",
    unit: "s",
    queries: [{ expr: quantile(0.99, "creel_call_duration_seconds", "plugin"), legend: "{{plugin}}", hasRuns: true }],
  },
  {
    title: "CPU of calls by plugin",
    unit: "percentunit",
    queries: [{ expr: `sum by (plugin) (${rate("creel_call_cpu_seconds_total")})`, legend: "{{plugin}}" }],
  },
  {
    title: "Heap of cells against their limit",
    unit: "bytes",
    queries: [
      { expr: "creel_plugin_heap_bytes", legend: "{{plugin}}" },
      { expr: "max by (plugin) (creel_plugin_heap_limit_bytes)", legend: "limit of {{plugin}}" },
    ],
  },
  {
    title: "CPU share over the last minute",
    unit: "percentunit",
    queries: [{ expr: "creel_plugin_cpu_ratio", legend: "{{plugin}}" }],
  },
  {
    title: "Memory of processes",
    unit: "bytes",
    queries: [{ expr: "sum by (process, lane) (creel_sandbox_resident_bytes)", legend: "{{process}} {{lane}}" }],
  },
  {
    title: "Event loop delay of the gateway",
    unit: "s",
    queries: [{ expr: "creel_event_loop_delay_seconds", legend: "{{stat}}" }],
  },
  {
    title: "Runs in flight and waiting for lanes",
    unit: "short",
    queries: [
      { expr: "creel_runs_in_flight", legend: "in flight" },
      { expr: "creel_lane_waiting_runs", legend: "lane {{lane}}" },
    ],
  },
  {
    title: "Approvals",
    unit: "short",
    queries: [
      { expr: "creel_approvals_pending", legend: "pending" },
      { expr: `sum by (resolution) (${increase("creel_approvals_total")})`, legend: "{{resolution}}" },
    ],
  },
  {
    title: "Breakers that are not closed",
    unit: "short",
    queries: [{ expr: 'creel_circuit_state{creel_circuit_state!="closed"} == 1', legend: "{{plugin}} {{creel_circuit_state}}" }],
  },
  {
    title: "Rebuilt cells and restarted sandboxes",
    unit: "short",
    queries: [
      { expr: `sum by (plugin) (${increase("creel_cell_replacements_total")})`, legend: "cell of {{plugin}}" },
      { expr: `sum by (plugin, reason) (${increase("creel_sandbox_restarts_total")})`, legend: "sandbox: {{reason}} {{plugin}}" },
    ],
  },
  {
    title: "Refusals and stopped loops",
    unit: "short",
    queries: [
      { expr: `sum by (plugin, service) (${increase("creel_refusals_total")})`, legend: "{{plugin}} {{service}}" },
      { expr: `sum by (limit) (${increase("creel_recursions_total")})`, legend: "loop: {{limit}}" },
    ],
  },
  {
    title: "Use of permissions",
    unit: "reqps",
    queries: [
      { expr: `sum by (plugin, kind) (${rate("creel_permission_uses_total")})`, legend: "{{plugin}} {{kind}}" },
      { expr: `sum by (plugin, outcome) (${rate("creel_fetches_total")})`, legend: "{{plugin}} fetch {{outcome}}" },
    ],
  },
];

/** All queries, with the variable in them that Grafana replaces: {@link EVERY}. */
export const queries = (): string[] => PLOTS.flatMap((plot) => plot.queries.map(({ expr }) => expr));

/** Grafana asks which Prometheus when it is imported into one with several. */
const SOURCE: DataSourceRef = { type: "prometheus", uid: "${datasource}" };
const [HEIGHT, WIDTH, COLUMNS] = [8, 12, 2];

function panel({ title, unit, description, queries: asked }: Plot, at: number): Panel {
  return {
    id: at + 1,
    type: "timeseries",
    title,
    ...(description !== undefined && { description }),
    datasource: SOURCE,
    gridPos: { h: HEIGHT, w: WIDTH, x: WIDTH * (at % COLUMNS), y: HEIGHT * Math.floor(at / COLUMNS) },
    fieldConfig: { defaults: { unit }, overrides: [] },
    targets: asked.map(({ expr, legend, hasRuns = false }, number) => ({
      refId: String.fromCodePoint("A".codePointAt(0)! + number),
      expr,
      legendFormat: legend,
      exemplar: hasRuns,
    })),
  };
}

function dashboard(): Dashboard {
  return {
    title: "Creel",
    uid: "creel",
    tags: ["creel"],
    schemaVersion: 39,
    version: 1,
    editable: true,
    refresh: "10s",
    time: { from: "now-1h", to: "now" },
    templating: { list: [{ name: "datasource", type: "datasource", query: "prometheus", label: "Prometheus" }] },
    panels: PLOTS.map(panel),
  };
}

export const dashboardFile = (): string => `${JSON.stringify(dashboard(), undefined, 2)}\n`;
