/** The page: is everything well, and what needs a person first. */
import { useComputed } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { Badge, Empty, PluginLink, Section, T } from "../parts.tsx";
import { href } from "../route.ts";
import { RunList } from "../run-list.tsx";
import { approvals, incidents, now, plugins, runs, runsVersion, samples, stats } from "../store.ts";
import { ago, bytes, count, ms, percent, rate } from "../text.ts";
import { incidentWords } from "../incident-words.ts";
import { Spark } from "../plot.tsx";
import { isTrouble } from "./runs.tsx";

const SHOWN = 200;
const GRAVE = new Set(["restart", "recursion", "quarantine"]);
const RECENT_MS = 3_600_000;

export function Overview() {
  const trouble = useComputed(() => {
    void runsVersion.value;
    const found = [];
    for (let at = runs.length - 1; at >= 0 && found.length < SHOWN; at--) if (isTrouble(runs[at]!)) found.push(runs[at]!);
    return found;
  });
  const last = samples.value.at(-1);
  const busiest = (stats.value?.plugins ?? []).toSorted((one, other) => other.cpuRatio - one.cpuRatio).slice(0, 6);
  return (
    <div class="view">
      <Attention />
      <div class="tiles">
        <Tile name="runs per second" value={rate(last?.runs)} plot={samples.value.map(({ runs: perSecond }) => perSecond)} />
        <Tile name="stopped per second" value={rate(last?.stopped)} plot={samples.value.map(({ stopped }) => stopped)} />
        <Tile name="p99 of a run" value={ms(last?.p99)} plot={samples.value.map(({ p99 }) => p99 ?? 0)} />
        <Tile
          name="in flight"
          value={stats.value === undefined ? "–" : stats.value.inFlight.toLocaleString("en")}
          plot={samples.value.map(({ inFlight }) => inFlight)}
        />
        <Tile name="memory, all processes" value={bytes(last?.rss)} plot={samples.value.map(({ rss }) => rss)} />
        <Tile name="event loop p99" value={ms(stats.value?.eventLoop.p99Ms)} plot={samples.value.map(({ loopP99 }) => loopP99)} />
      </div>
      <Section title="Stopped or failed" aside={<a href={href("runs", "", { decision: "trouble" })}>all of them</a>}>
        {trouble.value.length === 0 ? (
          <p class="quiet">No run was stopped and no plugin failed, as far as the host remembers.</p>
        ) : (
          <div class="short">
            <RunList rows={trouble.value} label="runs that were stopped or failed" />
          </div>
        )}
      </Section>
      <Section title="Busiest plugins" aside={<a href={href("plugins")}>{count(plugins.value.length, "plugin")}</a>}>
        <table>
          <thead>
            <tr>
              <th>plugin</th>
              <th class="num">CPU</th>
              <th class="num">heap</th>
              <th class="num">calls/s</th>
              <th class="num">p99</th>
            </tr>
          </thead>
          <tbody>
            {busiest.map(({ plugin, cpuRatio, heapBytes }) => (
              <tr key={plugin}>
                <td>
                  <PluginLink id={plugin} />
                </td>
                <td class="num">{percent(cpuRatio)}</td>
                <td class="num">{bytes(heapBytes)}</td>
                <td class="num">{rate(last?.plugins[plugin]?.calls)}</td>
                <td class="num">{ms(last?.plugins[plugin]?.p99)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Section>
    </div>
  );
}

function Tile({ name, value, plot }: { readonly name: string; readonly value: string; readonly plot: readonly number[] }) {
  return (
    <a class="tile" href={href("measurements")}>
      <span class="label">{name}</span>
      <strong>{value}</strong>
      <Spark values={plot} />
    </a>
  );
}

function Attention() {
  const items: ComponentChildren[] = [];
  for (const { id, toolName, requests, expiresAt } of approvals.value)
    items.push(
      <li key={id} class="warn">
        <Badge word="approval" tone="warn" />
        <a href={href("approvals")}>
          <T text={requests[0]?.title ?? toolName} max={120} />
        </a>
        <span class="quiet">
          <T text={toolName} max={60} />, expires in {ms(Math.max(0, expiresAt - now.value))}
        </span>
      </li>,
    );
  for (const { id, status, error, circuit } of plugins.value) {
    const isBroken = status === "failed" || status === "quarantined";
    if (!isBroken && circuit.state === "closed") continue;
    items.push(
      <li key={`p${id}`} class={isBroken ? "bad" : "warn"}>
        <Badge word={isBroken ? status : circuit.state} tone={isBroken ? "bad" : "warn"} />
        <PluginLink id={id} />
        <span class="quiet">
          <T text={error?.message ?? circuit.why ?? ""} max={200} />
        </span>
      </li>,
    );
  }
  for (const incident of incidents.value.filter(({ kind, at }) => GRAVE.has(kind) && at > now.value - RECENT_MS).slice(-3))
    items.push(
      <li key={`i${incident.number}`} class="quiet">
        <Badge word={incident.kind} />
        <a href={href("incidents")}>
          <T text={incidentWords(incident)} max={200} />
        </a>
        <span class="quiet">{ago(incident.at, now.value)}</span>
      </li>,
    );
  if (plugins.value.length === 0)
    return <Empty title="This host has no plugins.">Install one with "creel install", or list it in creel.json.</Empty>;
  if (items.length === 0)
    return (
      <p class="calm">
        <i class="dot good" /> Nothing needs you.{" "}
        {count(plugins.value.filter(({ status }) => status === "ready" || status === "asleep").length, "plugin")} in service.
      </p>
    );
  return <ul class="attention">{items}</ul>;
}
