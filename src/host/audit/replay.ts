/**
 * Trusted side: what each handler of a run saw and returned, found out when the run is over, and only if somebody wants to know: its answers are walked
 * along once more, by the rules that they were judged by (runner/walk.ts).
 */
import { start } from "../../protocol/merge.ts";
import type { Fields, Merged } from "../../protocol/merge.ts";
import type { Call } from "../../protocol/outcome.ts";
import type { Handler } from "../registry.ts";
import { readAnswer } from "../runner/answer.ts";
import { JUDGES } from "../runner/judge.ts";
import type { RunInput } from "../runner/run-input.ts";
import type { StepAnswer } from "../lanes/lane-client.ts";

export interface Replayed {
  /** The event's fields that had been changed when it was called; undefined: none. */
  readonly saw: Fields | undefined;
  /** JSON; undefined: it returned nothing, or did not return. */
  readonly returned: string | undefined;
  /** The fields that it changed for those after it. */
  readonly changed: readonly string[];
}

const NOT_CALLED: Replayed = { saw: undefined, returned: undefined, changed: [] };

/** For every call, in order. */
export function replay(input: RunInput, calls: readonly Call[]): Replayed[] {
  const { hook, plan, heard } = input;
  const answers = heard && isFan(heard) ? heard : answersOf(input, calls);
  // The gateway's own object may have been changed since.
  const given = { ...input, event: JSON.parse(input.eventText) as Fields };
  const judge = hook.kind in JUDGES ? JUDGES[hook.kind as keyof typeof JUDGES] : undefined;
  let state: Merged = start(given.event);
  return calls.map((_, at) => {
    const handler = plan[at]!;
    const step = answers.get(handler);
    if (!step) return NOT_CALLED;
    const { event: before } = state;
    const returned = step.status === "ok" && step.body !== "" ? step.body : undefined;
    const { call, answer } = readAnswer(given, handler, step);
    if (judge && answer !== undefined && !call.error) ({ state } = judge(hook, state, answer, handler.plugin.id));
    return { saw: changes(given.event, before), returned, changed: Object.keys(changes(before, state.event) ?? {}) };
  });
}

/** How much there is to go through. */
export function replayChars({ eventText, heard, later }: RunInput): number {
  let chars = eventText.length;
  const first = heard === undefined ? [] : isFan(heard) ? [...heard.values()] : heard.steps;
  for (const step of [...first, ...(later ?? []).flatMap(({ answers }) => answers.steps)]) chars += step?.body.length ?? 0;
  return chars;
}

/** Who was called, in order, is said by the calls; what they answered, by the hops. */
function answersOf({ plan, heard, later = [] }: RunInput, calls: readonly Call[]): Map<Handler, StepAnswer> {
  const found = new Map<Handler, StepAnswer>();
  const first = heard && !isFan(heard) ? [{ answers: heard, at: 0, from: 0 }] : [];
  const hops = [...first, ...later];
  let place = 0;
  for (const [index, { status }] of calls.entries()) {
    // Left out before the run began, or not come to.
    if (status === "skipped" || status === "recursion") continue;
    const hop = status === "quarantined" ? undefined : hops.findLast(({ at }) => at <= place);
    const step = hop?.answers.steps[hop.from + place - hop.at];
    if (step) found.set(plan[index]!, step);
    place += 1;
  }
  return found;
}

function isFan(heard: NonNullable<RunInput["heard"]>): heard is ReadonlyMap<Handler, StepAnswer> {
  return heard instanceof Map;
}

/** Rewrites replace whole fields: those that are not the same object. */
function changes(before: Fields, after: Fields): Fields | undefined {
  if (before === after) return undefined;
  const changed = Object.entries(after).filter(([field, value]) => before[field] !== value);
  return changed.length === 0 ? undefined : Object.fromEntries(changed);
}
