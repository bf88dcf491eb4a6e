/** `creel top` as lines of a screen. Names and titles are plugins' words: they stay on their line and order the terminal nothing. */
import { oneLine } from "../../text/one-line.ts";
import { table } from "../ui/table.ts";
import type { Column } from "../ui/table.ts";
import type { Terminal } from "../ui/terminal.ts";
import { duration } from "../ui/text.ts";
import type { TopHook, TopPlugin, TopView } from "./view.ts";

const PLUGINS: readonly Column[] = [
  { head: "plugin" },
  { head: "state", style: (state) => (state.trim() === "ready" || state.trim() === "asleep" ? "gray" : "red") },
  { head: "calls/s" },
  { head: "failed/s", style: (shown) => (shown.trim() === "0" ? "gray" : "red") },
  { head: "p50" },
  { head: "p99" },
  { head: "CPU" },
  { head: "heap" },
];
const HOOKS: readonly Column[] = [
  { head: "hook" },
  { head: "runs/s" },
  { head: "stopped/s" },
  { head: "p50" },
  { head: "p99" },
  { head: "slowest plugin, mean" },
];
const RUNS: readonly Column[] = [{ head: "in flight" }, { head: "for" }, { head: "run" }, { head: "calls" }];
const APPROVALS: readonly Column[] = [{ head: "approval" }, { head: "waits" }, { head: "left" }, { head: "tool" }, { head: "asks" }];

/** Rows of hooks, runs and approvals; what is beyond is counted. */
const ROWS = 8;

/** The lines of one picture, for a screen of so many rows. */
export function topLines(view: TopView, { paint, width }: Pick<Terminal, "paint" | "width">, rows = Number.POSITIVE_INFINITY): string[] {
  const lines: string[] = [];
  const screen: Terminal = { width, paint, line: (text = "") => void lines.push(text) };
  screen.line(paint("bold", `${view.host}  `) + headline(view));
  screen.line(paint("gray", memory(view)));
  const runs = view.runs.slice(0, ROWS);
  const approvals = view.approvals.slice(0, ROWS);
  const hooks = view.hooks.slice(0, ROWS);
  const below =
    (hooks.length > 0 ? hooks.length + 3 : 0) + (runs.length > 0 ? runs.length + 3 : 0) + (approvals.length > 0 ? approvals.length + 3 : 0);
  const room = Math.max(3, rows - 6 - below);
  screen.line();
  table(PLUGINS, view.plugins.slice(0, room).map(pluginRow), screen);
  more(view.plugins.length - room, screen);
  if (hooks.length > 0) {
    screen.line();
    table(HOOKS, hooks.map(hookRow), screen);
    more(view.hooks.length - ROWS, screen);
  }
  if (approvals.length > 0) {
    screen.line();
    table(
      APPROVALS,
      approvals.map(({ id, toolName, title, ageMs, leftMs }) => [
        id,
        seconds(ageMs),
        seconds(leftMs),
        oneLine(toolName, 24),
        oneLine(title, 80),
      ]),
      screen,
    );
    more(view.approvals.length - ROWS, screen);
  }
  if (runs.length > 0) {
    screen.line();
    table(
      RUNS,
      runs.map(({ runId, hook, toolName, ageMs, plugins }) => [
        oneLine(toolName === undefined ? hook : `${hook} ${toolName}`, 48),
        duration(ageMs),
        runId,
        oneLine(plugins.join(", "), 60),
      ]),
      screen,
    );
    more(view.runs.length - ROWS, screen);
  }
  return lines;
}

function headline({ runsPerSecond, inFlight, approvals, eventLoop, isRecording, seconds: covered }: TopView): string {
  const parts = [
    `${rate(runsPerSecond)} runs/s`,
    `${inFlight} in flight`,
    `${approvals.length} ${approvals.length === 1 ? "approval" : "approvals"} pending`,
    `event loop late ${duration(eventLoop.meanMs)}, p99 ${duration(eventLoop.p99Ms)}`,
    `over ${covered < 60 ? `${covered.toFixed(0)} s` : `${(covered / 60).toFixed(0)} min`}`,
  ];
  if (isRecording) parts.push("recording events");
  return parts.join("  ");
}

function memory({ processes }: TopView): string {
  return processes
    .map(
      ({ kind, pid, rssBytes, lanes }) => `${kind} ${pid}${lanes.length > 0 ? ` (lanes ${lanes.join(", ")})` : ""} ${megabytes(rssBytes)}`,
    )
    .join("  ");
}

function pluginRow({
  plugin,
  state,
  callsPerSecond,
  failuresPerSecond,
  p50Ms,
  p99Ms,
  cpuRatio,
  heapBytes,
  heapLimitBytes,
}: TopPlugin): string[] {
  return [
    oneLine(plugin, 32),
    state,
    rate(callsPerSecond),
    rate(failuresPerSecond),
    p50Ms === undefined ? "-" : duration(p50Ms),
    p99Ms === undefined ? "-" : duration(p99Ms),
    `${(cpuRatio * 100).toFixed(1)} %`,
    heapBytes === undefined ? "-" : `${megabytes(heapBytes)}${heapLimitBytes === undefined ? "" : ` of ${megabytes(heapLimitBytes)}`}`,
  ];
}

function hookRow({ hook, runsPerSecond, stoppedPerSecond, p50Ms, p99Ms, slowest }: TopHook): string[] {
  return [
    oneLine(hook, 32),
    rate(runsPerSecond),
    rate(stoppedPerSecond),
    p50Ms === undefined ? "-" : duration(p50Ms),
    p99Ms === undefined ? "-" : duration(p99Ms),
    slowest ? `${oneLine(slowest.plugin, 32)} ${duration(slowest.meanMs)}` : "-",
  ];
}

function more(count: number, { line, paint }: Terminal): void {
  if (count > 0) line(paint("gray", `and ${count} more`));
}

function rate(perSecond: number): string {
  if (perSecond === 0) return "0";
  return perSecond >= 10 ? perSecond.toFixed(0) : perSecond.toFixed(perSecond >= 0.1 ? 1 : 2);
}

function seconds(ms: number): string {
  return `${Math.max(0, Math.round(ms / 1000))} s`;
}

function megabytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(bytes < 10 * 2 ** 20 ? 1 : 0)} MB`;
}
