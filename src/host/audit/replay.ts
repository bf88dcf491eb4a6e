/**
 * Trusted side: what each handler of a run saw and returned. Worked out after the run, and only on demand, by walking
 * its answers again with the rules of the run (host/run/walk.ts).
 */
import { LIMITS } from "../../protocol/limits.ts";
import { start } from "../../protocol/rules/merge.ts";
import type { Fields, Merged } from "../../protocol/rules/merge.ts";
import type { Call } from "../../protocol/outcome.ts";
import type { Handler } from "../plugins/registry.ts";
import { readAnswer } from "../run/answer.ts";
import { JUDGES } from "../run/judge.ts";
import type { RunInput } from "../run/run-input.ts";
import type { Answers, StepAnswer } from "../supervisor/lane-client.ts";

export interface Replayed {
  /** The fields of the event that had changed when it was called; undefined: none. */
  readonly saw: Fields | undefined;
  /** JSON; undefined: it returned nothing, or did not return. */
  readonly returned: string | undefined;
  /** The fields that it changed for later handlers. */
  readonly changed: readonly string[];
}

const NOT_CALLED: Replayed = { saw: undefined, returned: undefined, changed: [] };

/** For every call, in order. */
export function replay(input: RunInput, calls: readonly Call[]): Replayed[] {
  const { hook, plan, firstAnswers } = input;
  const answers = firstAnswers && isFan(firstAnswers) ? undefined : answersOf(input, calls);
  // The gateway's own object may have changed since.
  const given = { ...input, event: JSON.parse(input.eventText) as Fields };
  const judge = hook.kind in JUDGES ? JUDGES[hook.kind as keyof typeof JUDGES] : undefined;
  let state: Merged<Handler> = start(given.event);
  return calls.map(({ error }, at) => {
    const handler = plan[at]!;
    const step = answers ? answers.get(handler)?.step : (firstAnswers as ReadonlyMap<Handler, StepAnswer>).get(handler);
    if (!step) return NOT_CALLED;
    const { event: before } = state;
    const returned = step.status === "ok" && step.body !== "" ? step.body : undefined;
    const { call, answer } = readAnswer(given, handler, step);
    if (judge && answer !== undefined && !call.error && !error) ({ state } = judge(hook, state, answer, handler));
    return { saw: changes(given.event, before), returned, changed: Object.keys(changes(before, state.event) ?? {}) };
  });
}

/**
 * SECURITY: a replay reads all text, and copies what stands once for each result. With many short results after a long one that would stall the
 * gateway. test/host/audit/replay.test.ts
 */
export function isTooLong({ eventText, firstAnswers, later }: RunInput): boolean {
  let chars = eventText.length;
  let results = 0;
  const first = firstAnswers === undefined ? [] : isFan(firstAnswers) ? [...firstAnswers.values()] : firstAnswers.steps;
  for (const step of [...first, ...(later ?? []).flatMap(({ answers }) => answers.steps)]) {
    if (!step?.body) continue;
    chars += step.body.length;
    results += 1;
  }
  return chars > LIMITS.audit.replayChars || chars * results > LIMITS.audit.replayCopiedChars;
}

/** An answer of a sequential run, with the hop that it came in. */
export interface Answered {
  readonly step: StepAnswer;
  readonly hop: { readonly answers: Answers; readonly sentMs: number };
}

/** For sequential runs. The calls say which handlers ran, in order; the hops hold their answers. */
export function answersOf({ plan, firstAnswers, startedMs, later = [] }: RunInput, calls: readonly Call[]): Map<Handler, Answered> {
  const found = new Map<Handler, Answered>();
  const first = firstAnswers && !isFan(firstAnswers) ? [{ answers: firstAnswers, at: 0, from: 0, sentMs: startedMs }] : [];
  const hops = [...first, ...later];
  let place = 0;
  for (const [index, { status }] of calls.entries()) {
    // Skipped before the run began, or never reached.
    if (status === "skipped" || status === "recursion") continue;
    const hop = status === "quarantined" ? undefined : hops.findLast(({ at }) => at <= place);
    const step = hop?.answers.steps[hop.from + place - hop.at];
    if (hop && step) found.set(plan[index]!, { step, hop });
    place += 1;
  }
  return found;
}

function isFan(firstAnswers: NonNullable<RunInput["firstAnswers"]>): firstAnswers is ReadonlyMap<Handler, StepAnswer> {
  return firstAnswers instanceof Map;
}

/** Rewrites replace whole fields: those that are not the same object. */
function changes(before: Fields, after: Fields): Fields | undefined {
  if (before === after) return undefined;
  const changed = Object.entries(after).filter(([field, value]) => before[field] !== value);
  return changed.length === 0 ? undefined : Object.fromEntries(changed);
}
