/** What is different between two runs of the same event: decision, result, log lines, failures and cost. */
import type { Outcome } from "../../protocol/outcome.ts";
import { oneLine } from "../../text/one-line.ts";
import type { Terminal } from "../ui/terminal.ts";
import { duration, printableJson } from "../ui/text.ts";

export interface Shown {
  readonly outcome: Outcome;
  /** What the plugin logged meanwhile. */
  readonly logs: readonly string[];
}

export interface Change {
  readonly what: "decision" | "reason" | "result" | "log" | "error" | "cpu";
  readonly before: string;
  readonly after: string;
}

/** Cost changes with the load of the machine: only what more than doubles, and more than a millisecond, is news. */
const CPU_FACTOR = 2;
const CPU_MS = 1;

export function changesOf(before: Shown, after: Shown): Change[] {
  const [one, other] = [before.outcome, after.outcome];
  const changes: Change[] = [];
  const compare = (what: Change["what"], a: string, b: string): void => {
    if (a !== b) changes.push({ what, before: a, after: b });
  };
  compare("decision", one.decision, other.decision);
  compare("reason", one.reason ?? "", other.reason ?? "");
  compare("result", printableJson(one.result ?? null), printableJson(other.result ?? null));
  compare("error", errorsOf(one), errorsOf(other));
  compare("log", before.logs.join("\n"), after.logs.join("\n"));
  const [cheap, dear] = [cpuOf(one), cpuOf(other)].toSorted((a, b) => a - b) as [number, number];
  if (dear > cheap * CPU_FACTOR && dear - cheap > CPU_MS) compare("cpu", duration(cpuOf(one)), duration(cpuOf(other)));
  return changes;
}

export function differencePage(before: Shown, after: Shown, { line, paint }: Terminal): void {
  const changes = changesOf(before, after);
  if (changes.length === 0) line(paint("gray", "  same answer as before"));
  for (const { what, before: old, after: now } of changes) {
    line(`  ${paint("bold", what.padEnd(9))}${paint("red", `- ${oneLine(old === "" ? "none" : old)}`)}`);
    line(`           ${paint("green", `+ ${oneLine(now === "" ? "none" : now)}`)}`);
  }
  if (changes.every(({ what }) => what !== "cpu"))
    line(paint("gray", `  cost     cpu ${duration(cpuOf(before.outcome))} before, ${duration(cpuOf(after.outcome))} now`));
}

function errorsOf({ calls }: Outcome): string {
  return calls.flatMap(({ plugin, error }) => (error ? `${plugin}: ${error.code}: ${error.message}` : [])).join("\n");
}

function cpuOf({ calls }: Outcome): number {
  return calls.reduce((sum, { cpuMs }) => sum + cpuMs, 0);
}
