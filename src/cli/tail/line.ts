/** One line per fact: time, fact, plugin, status and details. */
import type { FactName, Facts } from "../../host/report/events.ts";
import type { Stamp } from "../../protocol/live-report.ts";
import { duration, escaped } from "../ui/text.ts";
import type { Style, Terminal } from "../ui/terminal.ts";

interface Row {
  readonly plugin: string | undefined;
  readonly status: string;
  readonly text: string;
}

const ROWS: { readonly [K in FactName]: (fact: Facts[K]) => Row } = {
  begun: ({ hook, plugins }) => ({ plugin: undefined, status: "begun", text: `${hook}  ${plugins.join(", ")}` }),
  aborted: ({ hook, wallMs }) => ({ plugin: undefined, status: "aborted", text: `${hook}  ${duration(wallMs)}` }),
  call: ({ hook, call }) => ({
    plugin: call.plugin,
    status: call.status,
    text: `${hook}  ${duration(call.wallMs)}${call.error ? `  ${call.error.message}` : ""}`,
  }),
  run: ({ outcome, wallMs }) => ({
    plugin: outcome.by,
    status: outcome.decision,
    text: `${outcome.hook}  ${duration(wallMs)}  ${outcome.calls.length} ${outcome.calls.length === 1 ? "call" : "calls"}${outcome.reason ? `  ${outcome.reason}` : ""}  ${outcome.runId}`,
  }),
  log: ({ plugin, level, text }) => ({ plugin, status: level, text }),
  plugin: ({ plugin, status, error, diagnostics }) => ({ plugin, status, text: [error, ...diagnostics].filter(Boolean).join("; ") }),
  replaced: ({ plugin, why }) => ({ plugin, status: "rebuilt", text: why }),
  moved: ({ plugin, why }) => ({ plugin, status: "slow lane", text: why }),
  recursion: ({ plugin, limit, chain }) => ({ plugin, status: limit, text: chain.path.join(" → ") }),
  quarantine: ({ plugin, state, why }) => ({ plugin, status: state, text: why }),
  secret: ({ plugin, what, secret, origin }) => ({ plugin, status: what, text: `${secret}  ${origin}` }),
  refused: ({ plugin, service, message }) => ({ plugin, status: "refused", text: `${service}  ${message}` }),
  delivery: ({ plugin, hook, id, attempt, status, why }) => ({
    plugin,
    status,
    text: `${hook}  ${id}  attempt ${attempt}${why === undefined ? "" : `  ${why}`}`,
  }),
  approval: ({ what, id, toolName, plugins, pending, resolution, by, from }) => ({
    plugin: plugins[0],
    status: resolution ?? what,
    text:
      what === "asked"
        ? `${id}  ${toolName}  ${pending?.requests[0]?.title ?? ""}`
        : `${id}  ${toolName}${by === undefined ? "" : `  by ${by}`}${from === undefined || from === "none" ? "" : `  (${from})`}`,
  }),
  restart: ({ culprit, why }) => ({ plugin: culprit, status: "restarted", text: why }),
};

const GOOD = new Set(["ok", "pass", "ready", "info", "debug", "closed", "released", "sent", "delivered", "allow-once", "allow-always"]);
const WIDTH = { fact: 10, plugin: 20, status: 11 };

export function factLine<K extends FactName>(name: K, fact: Facts[K] & Stamp, { paint }: Pick<Terminal, "paint">): string {
  const { plugin, status, text } = ROWS[name](fact);
  const style: Style = GOOD.has(status) ? "green" : "yellow";
  const time = new Date(fact.at).toISOString().slice(11, 23);
  return [
    paint("gray", time),
    name.padEnd(WIDTH.fact),
    paint("cyan", escaped(plugin ?? "–").padEnd(WIDTH.plugin)),
    paint(style, escaped(status).padEnd(WIDTH.status)),
    escaped(text),
  ]
    .join(" ")
    .trimEnd();
}
