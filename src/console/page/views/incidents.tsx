/** The page: what went wrong or changed, and what plugins wrote into their logs. */
import type { Incident } from "../../incidents.ts";
import { Badge, Empty, PluginLink, RunLink, T } from "../parts.tsx";
import { incidentWords } from "../incident-words.ts";
import { route, setQuery } from "../route.ts";
import { incidents, logs } from "../store.ts";
import { clock, clockMs } from "../text.ts";

const KINDS = ["", "restart", "quarantine", "recursion", "refused", "replaced", "moved", "plugin", "approval", "delivery"];
const TONES = { restart: "bad", quarantine: "warn", recursion: "warn", refused: "warn", delivery: "warn" } as const;

export function Incidents() {
  const { kind = "" } = route.value.query;
  const shown = incidents.value.filter((incident) => kind === "" || incident.kind === kind).toReversed();
  return (
    <div class="view">
      <form class="filters">
        <select aria-label="kind" value={kind} onChange={(event) => setQuery("kind", event.currentTarget.value)}>
          {KINDS.map((one) => (
            <option key={one} value={one}>
              {one === "" ? "any kind" : one}
            </option>
          ))}
        </select>
      </form>
      {shown.length === 0 ? (
        <Empty title="No incidents.">Restarts, quarantines, loops and refused requests are listed here, since the host was opened.</Empty>
      ) : (
        <ol class="events">
          {shown.map((incident) => (
            <li key={incident.number}>
              <time>{clock(incident.at)}</time>
              <Badge word={incident.kind} tone={TONES[incident.kind as "restart"] ?? "quiet"} />
              <span>
                <T text={incidentWords(incident)} max={400} />
              </span>
              <RunOf incident={incident} />
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}

/** The run it happened in, or that caused it. */
function RunOf({ incident: { fact } }: { readonly incident: Incident }) {
  const { runId, chain } = fact as { readonly runId?: unknown; readonly chain?: { readonly runIds?: readonly string[] } };
  const id = typeof runId === "string" ? runId : chain?.runIds?.at(-1);
  return id === undefined ? null : <RunLink id={id}>run</RunLink>;
}

const MAX_LINES = 300;

export function Logs() {
  const { find = "", level = "" } = route.value.query;
  const text = find.toLowerCase();
  const shown = logs.value
    .filter((line) => (level === "" || line.level === level) && (text === "" || `${line.plugin} ${line.text}`.toLowerCase().includes(text)))
    .slice(-MAX_LINES)
    .toReversed();
  return (
    <div class="view">
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <input
          id="find"
          type="search"
          placeholder="Find in logs   /"
          aria-label="Find in logs"
          value={find}
          onInput={(event) => setQuery("find", event.currentTarget.value)}
        />
        <select aria-label="level" value={level} onChange={(event) => setQuery("level", event.currentTarget.value)}>
          {["", "debug", "info", "warn", "error"].map((one) => (
            <option key={one} value={one}>
              {one === "" ? "any level" : one}
            </option>
          ))}
        </select>
      </form>
      {shown.length === 0 ? (
        <Empty title="No log lines.">Lines that plugins write appear here; a run's own lines are on its page.</Empty>
      ) : (
        <ol class="logs">
          {shown.map((line) => (
            <li key={`${line.at} ${line.seq}`} class={line.level}>
              <time>{clockMs(line.at)}</time>
              <PluginLink id={line.plugin} />
              <Badge word={line.level} />
              <span>
                <T text={line.text} /> {line.runId !== undefined && <RunLink id={line.runId}>run</RunLink>}
              </span>
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}
