/** The outcome of one run for people: what was decided, by whom and why, what came of it, and a line per call. */
import type { Facts } from "../../host/events.ts";
import { oneLine } from "../../host/guest-error.ts";
import type { PluginReport } from "../../host/inspect.ts";
import { ERRORS } from "../../protocol/errors.ts";
import type { Call, Outcome } from "../../protocol/outcome.ts";
import { duration } from "../ui/duration.ts";
import { printable } from "../ui/json.ts";
import { gap, wrap } from "../ui/text.ts";
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
  if (approval) row("approval", `${approval.resolution}, asked for by ${approval.pluginId}`);
  if (result === undefined) row("result", "none");
  else rows("result", printable(result, 2).split("\n"));
  line();
  if (calls.length === 0) line(`  no plugin listens to ${hook}, or it is not for those that do`);
  const nameWidth = Math.max(...calls.map(({ plugin }) => plugin.length));
  for (const call of calls) callLines(call, nameWidth, { line, paint, width });
}

function callLines(
  { plugin, priority, status, wallMs, cpuMs, error, ignored }: Call,
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
  if (error?.at !== undefined) line(paint("gray", `      at ${error.at}`));
  if (ignored && ignored.length > 0) note(`ignored, since the hook does not know it: ${oneLine(ignored.join(", "))}`);
}

/** A line that a plugin logged. */
export function told({ plugin, level, text }: Facts["log"], { line, paint }: Terminal): void {
  line(paint("gray", `${plugin} ${level}: ${text}`));
}

/** A plugin that did not load: why, where, and what to do. */
export function failure({ id, error }: PluginReport, { line, paint, width }: Terminal): void {
  if (!error) return;
  const [first = "", ...more] = wrap(`${id} did not load: ${error.message}`, width - 2);
  line(`${paint("red", "✗")} ${first}`);
  for (const part of more) line(`  ${part}`);
  if (error.at !== undefined) line(paint("gray", `    at ${error.at}`));
  line(`  ${paint("bold", "what to do:")} ${ERRORS[error.code].fix}`);
}
