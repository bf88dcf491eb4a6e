/** The page: latency, CPU, memory and rates over the last hour, of the host and of each plugin. */
import { Empty, PluginLink, Section, T } from "../parts.tsx";
import { Plot } from "../plot.tsx";
import type { Series } from "../plot.tsx";
import { href } from "../route.ts";
import { samples, stats } from "../store.ts";
import { bytes, ms, percent, rate, visible } from "../text.ts";
import type { HookSample } from "../../hook-samples.ts";
import type { PluginSample, Sample } from "../../samples.ts";

const LINES = 6;
/** What the table of hooks covers: a minute of samples. */
const MINUTE_MS = 60_000;

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
      <Section title="p99 of a run, the slowest hooks">
        <Plot
          times={times}
          unit={ms}
          series={top(
            ({ hooks }) => hooks,
            ({ p99 }: HookSample) => p99,
          )}
        />
      </Section>
      <Section title="p99 of a call, the slowest plugins">
        <Plot times={times} unit={ms} series={top(plugins, ({ p99 }) => p99)} />
      </Section>
      <Hooks />
      <Section title="CPU share, the busiest plugins">
        <Plot times={times} unit={percent} series={top(plugins, ({ cpu }) => cpu)} />
      </Section>
      <Section title="Heap, the largest plugins">
        <Plot times={times} unit={bytes} series={top(plugins, ({ heap }) => heap)} />
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

const plugins = (sample: Sample): Sample["plugins"] => sample.plugins;

/** One line for each plugin, or hook, that has the most of it now. */
function top<T>(of: (sample: Sample) => Readonly<Record<string, T>>, pick: (one: T) => number | undefined): Series[] {
  const all = samples.value;
  const most = new Map<string, number>();
  for (const sample of all.slice(-60))
    for (const [name, one] of Object.entries(of(sample))) most.set(name, Math.max(most.get(name) ?? 0, pick(one) ?? 0));
  const names = [...most].toSorted((one, other) => other[1] - one[1]).slice(0, LINES);
  return names.map(([name]) => ({
    label: visible(name, 40),
    values: all.map((sample) => {
      const one = of(sample)[name];
      return one === undefined ? null : (pick(one) ?? null);
    }),
  }));
}

interface HookRow {
  readonly hook: string;
  readonly runs: number;
  readonly stopped: number;
  /** Of the interval with the highest p99. */
  readonly worst: HookSample;
}

/** The slowest first. */
function lastMinute(): HookRow[] {
  const all = samples.value;
  const from = (all.at(-1)?.at ?? 0) - MINUTE_MS;
  const recent = all.filter(({ at }) => at > from);
  const names = new Set(recent.flatMap(({ hooks }) => Object.keys(hooks)));
  const rows = Array.from(names, (hook): HookRow => {
    const own = recent.flatMap(({ hooks }) => (hooks[hook] ? [hooks[hook]] : []));
    const perSecond = (pick: (one: HookSample) => number): number => own.reduce((sum, one) => sum + pick(one), 0) / recent.length;
    return {
      hook,
      runs: perSecond(({ runs }) => runs),
      stopped: perSecond(({ stopped }) => stopped),
      worst: own.reduce((worst, one) => ((one.p99 ?? 0) > (worst.p99 ?? 0) ? one : worst)),
    };
  });
  return rows.toSorted((one, other) => (other.worst.p99 ?? 0) - (one.worst.p99 ?? 0));
}

function Hooks() {
  const rows = lastMinute();
  return (
    <Section title="Hooks" aside="the last minute; times of its slowest five seconds" isWide>
      {rows.length === 0 && <p class="quiet">No hook was run in the last minute.</p>}
      {rows.length > 0 && (
        <table class="hooks">
          <thead>
            <tr>
              <th>hook</th>
              <th class="num">runs/s</th>
              <th class="num">stopped/s</th>
              <th class="num">p50</th>
              <th class="num">p99</th>
              <th>slowest plugin, mean of a call</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ hook, runs, stopped, worst: { p50, p99, slowest } }) => (
              <tr key={hook}>
                <td>
                  <a href={href("runs", "", { hook })}>
                    <T text={hook} max={80} />
                  </a>
                </td>
                <td class="num">{rate(runs)}</td>
                <td class="num">{rate(stopped)}</td>
                <td class="num">{ms(p50)}</td>
                <td class="num">{ms(p99)}</td>
                <td>
                  {slowest ? (
                    <>
                      <PluginLink id={slowest.plugin} /> {ms(slowest.meanMs)}
                    </>
                  ) : (
                    "–"
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Section>
  );
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
