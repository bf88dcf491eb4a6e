/** The page: latency, CPU, memory and rates over the last hour, of the host and of each plugin. */
import { Empty, Section } from "../parts.tsx";
import { Plot } from "../plot.tsx";
import type { Series } from "../plot.tsx";
import { samples, stats } from "../store.ts";
import { bytes, ms, percent, rate, visible } from "../text.ts";
import type { PluginSample } from "../../samples.ts";

const LINES = 6;

export function Measurements() {
  const all = samples.value;
  if (all.length < 2) return <Empty title="Measuring …">The first points of the plots appear in a few seconds.</Empty>;
  const times = all.map(({ at }) => at);
  const of = (label: string, pick: (sample: (typeof all)[number]) => number | undefined): Series => ({
    label,
    values: all.map((sample) => pick(sample) ?? null),
  });
  return (
    <div class="view plots">
      <Section title="Runs per second">
        <Plot times={times} unit={rate} series={[of("runs", ({ runs }) => runs), of("stopped", ({ stopped }) => stopped)]} />
      </Section>
      <Section title="Duration of a run">
        <Plot times={times} unit={ms} series={[of("p50", ({ p50 }) => p50), of("p99", ({ p99 }) => p99)]} />
      </Section>
      <Section title="p99 of a call, the slowest plugins">
        <Plot times={times} unit={ms} series={top(({ p99 }) => p99)} />
      </Section>
      <Section title="CPU share, the busiest plugins">
        <Plot times={times} unit={percent} series={top(({ cpu }) => cpu)} />
      </Section>
      <Section title="Heap, the largest plugins">
        <Plot times={times} unit={bytes} series={top(({ heap }) => heap)} />
      </Section>
      <Section title="Memory of all processes">
        <Plot times={times} unit={bytes} series={[of("RSS", ({ rss }) => rss)]} />
      </Section>
      <Section title="Delay of the gateway's event loop">
        <Plot times={times} unit={ms} series={[of("p99", ({ loopP99 }) => loopP99)]} />
      </Section>
      <Processes />
    </div>
  );
}

export function pluginPlots(plugin: string) {
  const all = samples.value;
  if (all.length < 2) return null;
  const times = all.map(({ at }) => at);
  const of = (label: string, pick: (sample: PluginSample) => number | undefined): Series => ({
    label,
    values: all.map(({ plugins }) => (plugins[plugin] ? (pick(plugins[plugin]) ?? null) : null)),
  });
  return (
    <div class="plots">
      <Plot times={times} unit={ms} series={[of("p50 of a call", ({ p50 }) => p50), of("p99", ({ p99 }) => p99)]} />
      <Plot times={times} unit={rate} series={[of("calls per second", ({ calls }) => calls)]} />
      <Plot times={times} unit={percent} series={[of("CPU share", ({ cpu }) => cpu)]} />
      <Plot times={times} unit={bytes} series={[of("heap", ({ heap }) => heap)]} />
    </div>
  );
}

/** One line for each plugin that has the most of it now. */
function top(pick: (sample: PluginSample) => number | undefined): Series[] {
  const all = samples.value;
  const most = new Map<string, number>();
  for (const { plugins } of all.slice(-60))
    for (const [plugin, sample] of Object.entries(plugins)) most.set(plugin, Math.max(most.get(plugin) ?? 0, pick(sample) ?? 0));
  const names = [...most].toSorted((one, other) => other[1] - one[1]).slice(0, LINES);
  return names.map(([plugin]) => ({
    label: visible(plugin, 40),
    values: all.map(({ plugins }) => (plugins[plugin] ? (pick(plugins[plugin]) ?? null) : null)),
  }));
}

function Processes() {
  return (
    <Section title="Processes">
      <table>
        <thead>
          <tr>
            <th>process</th>
            <th class="num">pid</th>
            <th class="num">memory</th>
            <th>lanes</th>
          </tr>
        </thead>
        <tbody>
          {(stats.value?.processes ?? []).map(({ kind, pid, rssBytes, lanes }) => (
            <tr key={pid}>
              <td>{kind}</td>
              <td class="num">{pid}</td>
              <td class="num">{bytes(rssBytes)}</td>
              <td>{lanes.join(", ")}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Section>
  );
}
