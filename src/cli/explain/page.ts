/**
 * One run for people: the decision and its reason, the cause, what each plugin saw, returned and used, and what to do.
 */
import { oneLine } from "../../text/one-line.ts";
import type { AuditCall, AuditRun, AuditShown, AuditState } from "../../protocol/audit-line.ts";
import { approvalLines } from "../ui/approval-lines.ts";
import type { Advice } from "../../text/run-advice.ts";
import type { LivePart } from "./live-run.ts";
import { duration, escaped, printableJson, wrap } from "../ui/text.ts";
import { table } from "../ui/table.ts";
import type { Terminal } from "../ui/terminal.ts";

const LABEL = 10;

/** SECURITY: third parties wrote the texts, and the file may be forged. test/cli/verbs/host/explain.test.ts */
export function explainPage(
  run: AuditRun,
  why: string,
  advice: readonly Advice[],
  states: readonly AuditState[],
  terminal: Terminal,
  live?: LivePart,
): void {
  const { line, paint, width } = terminal;
  const rows = (label: string, lines: readonly string[], margin = 2): void => {
    for (const [at, text] of lines.entries()) line(`${" ".repeat(margin)}${paint("gray", (at === 0 ? label : "").padEnd(LABEL))}${text}`);
  };
  const row = (label: string, text: string, margin = 2): void => rows(label, wrap(oneLine(text, 4_000), width - LABEL - margin), margin);
  const { hook, decision, by, reason, runId, at, host, pid, chain, event, context, result, calls, more, unknown, approval } = run;
  const decided = `${paint(decision === "pass" ? "green" : "yellow", oneLine(decision))}${by === undefined ? "" : ` by ${paint("bold", oneLine(by))}`}`;
  line(`${paint("bold", oneLine(hook))}  ${decided}`);
  row("why", why);
  if (reason !== undefined) row("reason", reason);
  if (approval) for (const [index, text] of approvalLines(approval).entries()) row(index === 0 ? "approval" : "", text);
  row("run", `${runId}, ${at}, host ${host}, process ${pid}`);
  if (live) row("took", live.wallMs === undefined ? "it is still running" : took(live));
  if (chain.depth > 0) row("caused by", `${chain.path.join(" → ")}, starting with ${chain.rootRunId}${parent(live)}`);
  if (live && live.caused.length > 0) row("caused", live.caused.join(", "));
  if (event) rows("event", shown(event, width - LABEL - 2));
  if (context) rows("context", shown(context, width - LABEL - 2));
  if (result) rows("result", shown(result, width - LABEL - 2));
  line();
  line(paint("bold", "Calls"));
  const wide = Math.max(0, ...calls.map(({ plugin }) => plugin.length));
  for (const [index, call] of calls.entries()) {
    callHead(call, index + 1, wide, call.plugin === by, terminal);
    const made = live?.calls[index];
    if (made?.startMs !== undefined) row("began", began(made, besides(live!, calls, index)), 6);
    const isWhole = call.plugin === by || call.error !== undefined;
    if (call.saw) {
      const changers = calls
        .slice(0, index)
        .filter(({ changed }) => changed)
        .map(({ plugin }) => plugin);
      rows("saw", shown(isWhole ? seen(event, call.saw) : call.saw, width - LABEL - 6), 6);
      row("", `(${[...new Set(changers)].join(", ")} changed it before)`, 6);
    } else if (isWhole && event && isCalled(call)) row("saw", unknown === undefined ? "the event shown above" : `not known: ${unknown}`, 6);
    if (call.returned) rows("returned", shown(call.returned, width - LABEL - 6), 6);
    else if (call.status === "ok" && event && unknown === undefined) row("returned", "nothing", 6);
    if (call.changed) row("changed", `${call.changed.join(", ")}, for the plugins after it`, 6);
    if (call.ignored) row("ignored", `${call.ignored.join(", ")}: the hook has no such field`, 6);
    if (call.error) row("error", `${call.error.code}: ${call.error.message}`, 6);
    if (call.error?.at !== undefined) row("", `at ${call.error.at}`, 6);
  }
  if (more !== undefined) line(paint("gray", `  and ${more} more`));
  if (!event) line(paint("gray", '  what the plugins saw and returned was not recorded: audit.events is "none" in creel.json'));
  if (live && live.logs.length > 0) {
    line();
    line(paint("bold", "Logs"));
    for (const one of live.logs) row(new Date(one.at).toISOString().slice(11, 19), `${one.plugin} ${one.level}: ${one.text}`);
  }
  if (states.length > 0) {
    line();
    line(paint("bold", "Around that time"));
    for (const state of states) row(state.at.slice(11, 19), stateWords(state));
  }
  if (advice.length === 0) return;
  line();
  line(paint("bold", "What to do"));
  for (const { text, command } of advice) {
    for (const [index, words] of wrap(oneLine(text, 1_000), width - 4).entries()) line(`  ${index === 0 ? "•" : " "} ${words}`);
    if (command !== null) line(`    ${paint("cyan", oneLine(command, 1_000))}`);
  }
}

function callHead(
  { plugin, priority, status, wallMs, cpuMs, budget }: AuditCall,
  number: number,
  wide: number,
  isDecider: boolean,
  { line, paint }: Terminal,
): void {
  const sign = status === "ok" ? "✓" : status === "skipped" ? "–" : "✗";
  const left = `  ${sign} ${number}  ${oneLine(plugin).padEnd(wide)}  ${oneLine(status)}${priority === 0 ? "" : `  priority ${priority}`}${isDecider ? "  ← decided" : ""}`;
  const style = status === "ok" ? "green" : status === "skipped" ? "gray" : "red";
  line(`${paint(style, left.slice(0, 3))}${left.slice(3)}`);
  if (wallMs === 0 && cpuMs === 0) return;
  const cost = `${part(wallMs, budget.wallMs)}, cpu ${part(cpuMs, budget.cpuMs)}`;
  line(`      ${paint("gray", `${"used".padEnd(LABEL)}${cost}`)}`);
}

function took({ wallMs = 0, activateMs }: LivePart): string {
  return `${duration(wallMs)}${activateMs === undefined ? "" : `, of which ${duration(activateMs)} loaded plugins`}`;
}

function parent(live: LivePart | undefined): string {
  return live?.causedBy === undefined ? "" : `, last ${live.causedBy}`;
}

function began({ startMs = 0, lane, attempt }: LivePart["calls"][number], others: readonly string[]): string {
  const again = attempt === 2 ? ", made twice: the process of the first was lost" : "";
  return `${duration(startMs)} after the run, in lane ${lane}${others.length > 0 ? `, in one batch with ${others.join(", ")}` : ""}${again}`;
}

/** The plugins whose calls went to the lane in the same batch. */
function besides({ calls: made }: LivePart, calls: readonly AuditCall[], index: number): string[] {
  const batch = made[index]?.batch;
  return calls.flatMap(({ plugin }, at) => (at !== index && batch !== undefined && made[at]?.batch === batch ? [plugin] : []));
}

function part(ms: number, { value, origin }: AuditCall["budget"]["wallMs"]): string {
  return `${duration(ms)} of ${duration(value)} (${oneLine(origin)})`;
}

function isCalled({ status }: AuditCall): boolean {
  return status !== "skipped" && status !== "quarantined" && status !== "recursion";
}

/** The event as a handler saw it. */
function seen(event: AuditShown | undefined, saw: AuditShown): AuditShown {
  if (!event || !("value" in event) || !("value" in saw)) return saw;
  return { value: { ...(event.value as object), ...(saw.value as object) } };
}

function shown(data: AuditShown, width: number): string[] {
  if ("text" in data) {
    const [lines] = bounded(wrap(`${escaped(data.text)}…`, width));
    return [...lines, `(of ${data.chars} characters, ${data.text.length} are in the log)`];
  }
  const flat = printableJson(data.value);
  if (flat.length <= width) return [flat];
  const [lines, more] = bounded(
    printableJson(data.value, 2)
      .split("\n")
      .flatMap((line) => pieces(line, width)),
  );
  return more === 0 ? lines : [...lines, `… ${more} more lines (--json shows them)`];
}

/** Blanks at the beginning of a line of JSON mean something. */
function pieces(line: string, width: number): string[] {
  return Array.from({ length: Math.max(1, Math.ceil(line.length / width)) }, (_, at) => line.slice(at * width, (at + 1) * width));
}

/** A page is for reading. */
const MAX_LINES = 16;

function bounded(lines: readonly string[]): [lines: string[], more: number] {
  return [lines.slice(0, MAX_LINES), Math.max(0, lines.length - MAX_LINES)];
}

function stateWords(state: AuditState): string {
  switch (state.kind) {
    case "quarantine":
      return `${state.plugin}: its breaker is ${state.state}${state.until === undefined ? "" : ` until ${state.until}`}: ${state.why}`;
    case "restart":
      return `the sandbox was restarted${state.plugin === undefined ? "" : ` because of ${state.plugin}`}: ${state.why}`;
    case "recursion":
      return `a loop of ${state.plugin} was stopped (${state.limit}): ${state.chain.path.join(" → ")}`;
    case "plugin":
      return `${state.plugin} is ${state.status}${state.error === undefined ? "" : `: ${state.error}`}`;
    case "moved":
      return `${state.plugin} was moved to the slow lane: ${state.why}`;
    case "replaced":
      return `the cell of ${state.plugin} was replaced: ${state.why}`;
    case "accepted":
      return `${state.plugin}: ${state.from ?? "?"} → ${state.to ?? "?"} was accepted by the update policy: ${state.why}`;
    case "dropped":
      return `${state.count} runs of ${state.hook ?? "hooks"} were counted but not logged: ${state.why}`;
    default:
      return state satisfies never;
  }
}

export function runsPage(runs: readonly AuditRun[], terminal: Terminal): void {
  table(
    [
      { head: "run", style: () => "cyan" },
      { head: "at", style: () => "gray" },
      { head: "hook" },
      { head: "decision", style: (cell) => (cell === "pass" ? "green" : "yellow") },
      { head: "by" },
      { head: "reason", style: () => "gray" },
    ],
    runs.map(({ runId, at, hook, decision, by, reason, calls }) => {
      const failed = calls.find(({ error }) => error);
      const who = by ?? failed?.plugin ?? "–";
      return [runId, at.slice(0, 19).replace("T", " "), hook, decision, who, reason ?? failed?.error?.message ?? ""].map((text) =>
        oneLine(text),
      );
    }),
    terminal,
  );
}
