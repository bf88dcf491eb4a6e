/** The outcome of one run for people: the decision, which plugin made it and why, the result, and one line per call. */
import type { Facts } from "../../host/report/events.ts";
import { oneLine } from "../../text/one-line.ts";
import type { PluginReport } from "../../host/report/inspect.ts";
import { ERRORS } from "../../protocol/errors.ts";
import type { FunctionOutcome } from "../../protocol/messages/functions.ts";
import type { Call, CallError, Outcome } from "../../protocol/outcome.ts";
import { approvalLines } from "../ui/approval-lines.ts";
import { duration, gap, printableJson, wrap } from "../ui/text.ts";
import type { Terminal } from "../ui/terminal.ts";

const LABEL = 10;

export function page(outcome: Outcome, { line, paint, width }: Terminal): void {
  const { hook, decision, by, reason, result, calls, approval } = outcome;
  const rows = (label: string, lines: readonly string[]): void => {
    for (const [at, text] of lines.entries()) line(`  ${paint("gray", (at === 0 ? label : "").padEnd(LABEL))}${text}`);
  };
  const row = (label: string, text: string): void => rows(label, wrap(text, width - LABEL - 2));
  line(
    `${paint("bold", hook)}  ${paint(decision === "pass" ? "green" : "yellow", decision)}${by === undefined ? "" : ` by ${paint("bold", by)}`}`,
  );
  if (reason !== undefined) row("reason", oneLine(reason));
  if (approval) for (const [index, text] of approvalLines(approval).entries()) row(index === 0 ? "approval" : "", oneLine(text));
  if (result === undefined) row("result", "none");
  else rows("result", printableJson(result, 2).split("\n"));
  line();
  if (calls.length === 0) line(`  no plugin that is loaded listens to ${hook} for this event`);
  const nameWidth = Math.max(...calls.map(({ plugin }) => plugin.length));
  for (const call of calls) callLines(call, nameWidth, { line, paint, width });
}

/** The outcome of a function: what it returned, or why it did not. */
export function functionPage(outcome: FunctionOutcome, terminal: Terminal): void {
  const { kind, name, status, plugin, value } = outcome;
  const { line, paint } = terminal;
  line(`${paint("bold", oneLine(`${kind}:${name}`))}  ${paint(status === "ok" ? "green" : "red", status)} by ${paint("bold", plugin)}`);
  const lines = value === undefined ? ["none"] : printableJson(value, 2).split("\n");
  for (const [at, text] of lines.entries()) line(`  ${paint("gray", (at === 0 ? "result" : "").padEnd(LABEL))}${text}`);
  line();
  callLines({ ...outcome, priority: 0 }, plugin.length, terminal);
}

type CallRow = Pick<Call, "plugin" | "priority" | "status" | "wallMs" | "cpuMs"> & {
  readonly error?: CallError | undefined;
  readonly ignored?: readonly string[] | undefined;
};

function callLines(
  { plugin, priority, status, wallMs, cpuMs, error, ignored }: CallRow,
  nameWidth: number,
  { line, paint, width }: Terminal,
): void {
  const left = `  ${status === "ok" ? "✓" : status === "skipped" ? "–" : "✗"} ${plugin.padEnd(nameWidth)}  ${status}${priority === 0 ? "" : `  priority ${priority}`}`;
  const cost = status === "skipped" ? "" : `${duration(wallMs)}, cpu ${duration(cpuMs)}`;
  const style = status === "ok" ? "green" : status === "skipped" ? "gray" : "red";
  line(`${paint(style, left.slice(0, 3))}${left.slice(3)}${gap(left, cost, width)}${paint("gray", cost)}`);
  const note = (text: string): void => {
    for (const part of wrap(text, width - 6)) line(`      ${part}`);
  };
  if (error) note(`${error.code}: ${error.message}`);
  for (const frame of framesOf(error)) line(paint("gray", `  ${frame}`));
  if (ignored && ignored.length > 0) note(`ignored, because the hook has no such field: ${oneLine(ignored.join(", "))}`);
}

/** A line that a plugin logged. */
export function told({ plugin, level, text }: Facts["log"], { line, paint }: Terminal): void {
  line(paint("gray", `${plugin} ${level}: ${text}`));
}

/** The author reads the innermost; --json has all of them. */
const MAX_FRAMES = 8;

/** The lines of a stack below its message. */
function framesOf(error: CallError | undefined): string[] {
  if (error?.stack !== undefined) return error.stack.split("\n").slice(1, 1 + MAX_FRAMES);
  return error?.at === undefined ? [] : [`    at ${error.at}`];
}

/** A plugin that did not load: why, where, and how to fix it. */
export function failure({ id, error }: PluginReport, { line, paint, width }: Terminal): void {
  if (!error) return;
  const [first = "", ...more] = wrap(`${id} did not load: ${error.message}`, width - 2);
  line(`${paint("red", "✗")} ${first}`);
  for (const part of more) line(`  ${part}`);
  for (const frame of framesOf(error)) line(paint("gray", frame));
  line(`  ${paint("bold", "Fix:")} ${ERRORS[error.code].fix}`);
}
