/** The dashboard asks Prometheus for what a host exposes. That Grafana understands it, the compiler says: scripts/grafana-dashboard.ts. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { openMetrics } from "../../src/console/metrics.ts";
import { open } from "../support/host.ts";
import { lint } from "../support/openmetrics.ts";
import { promqlComplaints } from "../support/promql.ts";
import type { Query, Series } from "../support/promql.ts";

/** All series of an idle host with a plugin, by name. */
async function exposed(): Promise<Map<string, Series>> {
  await using host = await open("thread", {
    plugins: [{ id: "p", source: `export default (api) => { api.on("before_tool_call", () => {}); };` }],
  });
  const text = openMetrics(await host.stats());
  const kinds = new Map(Array.from(text.matchAll(/^# TYPE (\S+) (\S+)$/gm), ([, family, kind]) => [family!, kind!] as const));
  return new Map(
    [...lint(text).families].flatMap(([family, samples]) =>
      samples.map(({ name, labels }) => [name, { kind: kinds.get(family)!, labels: new Set(Object.keys(labels)) }] as const),
    ),
  );
}

const series = await exposed();

it("every query of the dashboard is one, asks for series and labels that exist, and rates what grows and nothing else", () => {
  const text = readFileSync(new URL("../../docs/grafana/creel.json", import.meta.url), "utf8");
  const { panels } = JSON.parse(text) as { panels: { title: string; targets: Query[] }[] };
  const asked = panels.flatMap(({ targets }) => targets);
  expect([panels.length, asked.length]).toEqual([16, 23]);
  expect(asked.flatMap((query) => promqlComplaints(query, series).map((complaint) => `${query.expr}: ${complaint}`))).toEqual([]);
});

it.each([
  ["sum by (plugin", "not a query"],
  ["rate(creel_cals_total[5m])", "no series creel_cals_total"],
  ["creel_runs_total", "creel_runs_total is a counter"],
  ["rate(creel_runs_in_flight[5m])", "creel_runs_in_flight is a gauge"],
  ['rate(creel_calls_total{tool="x"}[5m])', "creel_calls_total has no label tool"],
  ["sum by (tool) (rate(creel_calls_total[5m]))", "no label tool to group by"],
  ["histogram_quantile(0.5, sum by (hook) (rate(creel_run_duration_seconds_bucket[5m])))", "a quantile without its buckets"],
  ["sum by (hook) (rate(creel_calls_total[5m]))", "the legend has plugin, the line has not"],
  ["1 + 1", "it asks for nothing"],
])("the check finds what is wrong with %s", (expr, complaint) => {
  expect(promqlComplaints({ expr, legendFormat: "{{plugin}}" }, series)).toContainEqual(expect.stringContaining(complaint));
});
