/** What `creel replay` and `creel rerun` show to people. Events and reasons are third parties' texts: no control character is left. */
import type { Bisection } from "../../replay/bisect.ts";
import { verdictWords } from "../../replay/bisect-words.ts";
import type { Difference, ReplayReport } from "../../replay/replay.ts";
import type { Rerun } from "../../replay/rerun.ts";
import type { Verdict } from "../../replay/verdict.ts";
import type { Terminal } from "../ui/terminal.ts";
import { duration, escaped, printableJson } from "../ui/text.ts";

/** Differences that a person reads. */
const SHOWN = 20;
const EVENT_CHARS = 200;

const number = (count: number): string => count.toLocaleString("en-US");

/** "12 of 4,310 before_tool_call runs would now be blocked". */
function sentenceOf({ before, after, count, hook }: ReplayReport["changes"][number], total: number): string {
  const how =
    after === "pass"
      ? before === "ask"
        ? "would no longer ask"
        : `would no longer ${before === "block" ? "be blocked" : `end with ${before}`}`
      : after === "ask"
        ? `would now ask the user${before === "pass" ? "" : ` instead of ${before}`}`
        : `would now ${after === "block" ? "be blocked" : `end with ${after}`}${before === "ask" ? " without asking" : ""}`;
  return `${number(count)} of ${number(total)} ${hook} runs ${how}`;
}

export function replayPage(report: ReplayReport, hasChange: boolean, out: Terminal): void {
  const { line, paint } = out;
  const { runs, changes, differences, hooks, skipped, unstable, failures } = report;
  for (const { plugin, error } of failures)
    line(`${paint("yellow", "!")} ${escaped(plugin)} does not serve in the replay: ${escaped(error)}`);
  if (changes.length === 0) line(`${paint("green", "✓")} ${number(runs)} runs, every decision as ${hasChange ? "it is now" : "recorded"}`);
  for (const change of changes) line(`${paint("yellow", "≠")} ${sentenceOf(change, hooks[change.hook]!)}`);
  if (hasChange && unstable > 0)
    line(
      paint("gray", `${number(unstable)} runs are decided otherwise than recorded, change or not: they depend on time, network or state`),
    );
  if (skipped > 0) line(paint("gray", `${number(skipped)} recorded runs do not fit a hook of this host any more`));
  for (const one of differences.slice(0, SHOWN)) differenceLines(one, out);
  if (differences.length > SHOWN) line(paint("gray", `… and ${number(differences.length - SHOWN)} more: --json lists them`));
}

function differenceLines({ runId, hook, at, event, before, after }: Difference, { line, paint }: Terminal): void {
  line();
  line(`${paint("bold", escaped(runId))}  ${escaped(hook)}  ${new Date(at).toISOString()}`);
  const text = printableJson(event);
  line(`  event   ${text.length > EVENT_CHARS ? `${text.slice(0, EVENT_CHARS)}…` : text}`);
  line(`  before  ${said(before)}`);
  line(`  after   ${said(after)}`);
}

const said = (verdict: Verdict): string => escaped(verdictWords(verdict));

export function rerunPage({ before, after, outcome }: Rerun, { line }: Terminal): void {
  line(`recorded  ${said(before)}`);
  line(`now       ${said(after)}`);
  for (const { plugin, status, wallMs, error } of outcome.calls)
    line(`  ${escaped(plugin)}  ${status}  ${duration(wallMs)}${error ? `  ${escaped(error.message)}` : ""}`);
  line(`result    ${printableJson(outcome.result)}`);
}

export function bisectPage({ words, runs }: Bisection, { line, paint }: Terminal): void {
  for (const [at, text] of words.entries()) line(at < words.length - 1 ? `${paint("yellow", "!")} ${escaped(text)}` : escaped(text));
  line(paint("gray", `${runs} replays`));
}
