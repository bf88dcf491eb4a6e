/** The page: the live timeline of runs, with its filters in the address. */
import { useComputed } from "@preact/signals";
import { Empty } from "../parts.tsx";
import { route, setQuery } from "../route.ts";
import type { RunRow } from "../../page-lines.ts";
import { RunList } from "../run-list.tsx";
import { flying, plugins, runs, runsVersion } from "../store.ts";
import { count } from "../text.ts";

const DECISIONS = ["", "trouble", "pass", "block", "cancel", "abort", "handled"];

export function Runs() {
  const rows = useComputed(() => {
    void runsVersion.value;
    const wanted = matcher(route.value.query);
    return [...flying.value.filter(wanted), ...runs.filter(wanted).toReversed()];
  });
  const hooks = useComputed(() => {
    void runsVersion.value;
    return [...new Set(runs.map(({ hook }) => hook))].toSorted();
  });
  const { query } = route.value;
  const isFiltered = Object.values(query).some((value) => value !== "");
  return (
    <div class="view fill">
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <input
          id="find"
          type="search"
          placeholder="Find in runs   /"
          aria-label="Find in runs"
          value={query.find ?? ""}
          onInput={(event) => setQuery("find", event.currentTarget.value)}
        />
        <Choice name="decision" all="any decision" values={DECISIONS} />
        <Choice name="hook" all="any hook" values={["", ...hooks.value]} />
        <Choice name="plugin" all="any plugin" values={["", ...plugins.value.map(({ id }) => id)]} />
        <span class="aside">
          {count(rows.value.length, "run")}
          {isFiltered && ` of ${(runs.length + flying.value.length).toLocaleString("en")}`}
        </span>
      </form>
      {rows.value.length > 0 ? (
        <RunList rows={rows.value} label="runs, the latest first" />
      ) : isFiltered ? (
        <Empty title="No run matches these filters.">Runs that come will appear here.</Empty>
      ) : (
        <Empty title="No runs yet.">A run appears here as soon as the gateway calls a hook that a plugin listens to.</Empty>
      )}
    </div>
  );
}

function Choice({ name, all, values }: { readonly name: string; readonly all: string; readonly values: readonly string[] }) {
  const value = route.value.query[name] ?? "";
  const listed = values.includes(value) ? values : [...values, value];
  return (
    <select aria-label={all} value={value} onChange={(event) => setQuery(name, event.currentTarget.value)}>
      {listed.map((one) => (
        <option key={one} value={one}>
          {one === "" ? all : one}
        </option>
      ))}
    </select>
  );
}

function matcher({ find = "", decision = "", hook = "", plugin = "" }: Readonly<Record<string, string>>): (run: RunRow) => boolean {
  const text = find.toLowerCase();
  return (run) => {
    if (hook !== "" && run.hook !== hook) return false;
    if (decision === "trouble" ? !isTrouble(run) : decision !== "" && run.decision !== decision) return false;
    // A run in flight has no calls yet, but plugins that are called.
    if (plugin !== "" && !run.calls.some((call) => call.plugin === plugin) && !run.plugins?.includes(plugin)) return false;
    const { runId, toolName = "", by = "", reason = "", cause } = run;
    return text === "" || `${runId} ${run.hook} ${toolName} ${by} ${reason} ${cause?.path.join(" ") ?? ""}`.toLowerCase().includes(text);
  };
}

export function isTrouble({ decision, wallMs, calls }: RunRow): boolean {
  return (wallMs !== undefined && decision !== "pass" && decision !== "handled") || calls.some(({ error }) => error !== undefined);
}
