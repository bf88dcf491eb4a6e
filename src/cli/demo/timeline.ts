/**
 * Draws the demo while it runs: a line per hook with its decision and wall time, a line per plugin with its answer and
 * cost.
 */
import { duration, gap, wrap } from "../ui/text.ts";
import type { Style, Terminal } from "../ui/terminal.ts";
import { closing, laneLines, opening, pluginTable, titles } from "./captions.ts";
import type { HookStep, MessageStep, StepListener } from "./step.ts";
import { callCost, callWords, changes, decisionWords } from "./words.ts";
import type { Change, Tone } from "./words.ts";

const STYLES: Record<Tone, Style> = { good: "green", changed: "yellow", bad: "red", quiet: "gray" };
/** The time, then the line that ties the steps together. */
const CLOCK = 8;
const NAME = 20;

export function timeline(terminal: Terminal): StepListener {
  const { paint, width } = terminal;
  const room = width - CLOCK - 4;
  const rail = `${" ".repeat(CLOCK)}  ${paint("gray", "│")} `;

  const lead = (atMs: number, mark: string): string => `${paint("gray", `${atMs.toFixed(0)} ms`.padStart(CLOCK))}  ${mark} `;

  /** Puts `left` and `right` at the two ends of the line, after `start`. */
  const ends = (start: string, name: string, words: string, style: Style, cost: string): void => {
    const left = `${name.padEnd(NAME)} ${words}`;
    terminal.line(`${start}${name.padEnd(NAME)} ${paint(style, words)}${cost && gap(left, cost, room) + paint("gray", cost)}`);
  };

  const detail = (sign: string, text: string, style: Style): void => {
    for (const [index, line] of wrap(text, room - 6).entries())
      terminal.line(`${rail}    ${paint(style, `${index === 0 ? sign : " "} ${line}`)}`);
  };

  const change = ({ field, before, after }: Change): void => {
    if (before === undefined) return detail("+", `${field}: ${after}`, "green");
    const { head, removed, added, tail } = difference(before, after);
    for (const [sign, middle, style] of [
      ["-", removed, "red"],
      ["+", added, "green"],
    ] as const) {
      const text = `${head}${middle}${tail}`;
      if (text.length > room - 6 || text.includes("\n")) detail(sign, text, style);
      else terminal.line(`${rail}    ${paint(style, sign)} ${head}${paint(style, middle)}${tail}`);
    }
  };

  const message = ({ atMs, what, text }: MessageStep): void => {
    const [first = "", ...more] = wrap(text, room - NAME - 1);
    terminal.line(`${lead(atMs, paint("cyan", "▸"))}${paint("cyan", what.padEnd(NAME))} ${first}`);
    for (const line of more) terminal.line(`${rail}${" ".repeat(NAME)} ${line}`);
  };

  const hook = (step: HookStep): void => {
    const { atMs, wallMs, outcome, approval, logs, note } = step;
    const decision = decisionWords(step);
    const waited = approval ? ` (${duration(approval.waitedMs)} waiting)` : "";
    const cost = step.how === "skipped" ? "" : `${duration(wallMs)}${waited}`;
    ends(lead(atMs, paint(STYLES[decision.tone], "●")), step.hook, decision.text, STYLES[decision.tone], cost);
    if (note !== undefined) detail("·", note, "italic");
    for (const call of outcome?.calls ?? []) {
      const words = callWords(call, outcome!, step.hook);
      ends(rail, `  ${call.plugin}`, words.text, STYLES[words.tone], callCost(call));
      const asked = approval?.requests.filter(({ pluginId }) => pluginId === call.plugin) ?? [];
      for (const { title, description } of asked) detail("?", `${title}: ${description}`, "yellow");
      if (asked.length > 0) detail("✓", `${approval!.answer}, auto-answered for the demo`, "green");
      for (const { text } of logs.filter(({ plugin }) => plugin === call.plugin)) detail("≡", `log: ${text}`, "gray");
    }
    for (const one of changes(step)) change(one);
    if (outcome?.reason !== undefined) detail("!", outcome.reason, "red");
  };

  return {
    begin: () => opening(terminal),
    opened: (act, facts) => {
      titles[act](terminal, facts);
      if (act === "turn") pluginTable(terminal, facts);
      else laneLines(terminal, facts);
      terminal.line();
    },
    step: (step) => (step.kind === "hook" ? hook(step) : message(step)),
    end: (report) => closing(terminal, report),
  };
}

interface Difference {
  readonly head: string;
  readonly removed: string;
  readonly added: string;
  readonly tail: string;
}

/** Two texts as the same words at both ends, and one piece in the middle that differs. */
export function difference(before: string, after: string): Difference {
  const from = before.split(/(?<=\s)/);
  const to = after.split(/(?<=\s)/);
  const most = Math.min(from.length, to.length);
  let head = 0;
  while (head < most && from[head] === to[head]) head += 1;
  let tail = 0;
  while (tail < most - head && from.at(-1 - tail) === to.at(-1 - tail)) tail += 1;
  return {
    head: from.slice(0, head).join(""),
    removed: from.slice(head, from.length - tail).join(""),
    added: to.slice(head, to.length - tail).join(""),
    tail: from.slice(from.length - tail).join(""),
  };
}
