/**
 * Trusted side: when, where and how each call of a run was made, for pages that draw it. Lanes report how long calls took, not when they
 * began, so that costs the calls nothing: the start is worked out here, when asked for. Within one hop it is exact but for the time
 * between two calls of the lane, which counts as before the first of them.
 */
import type { RecordedCall } from "../../protocol/live-report.ts";
import type { Call } from "../../protocol/outcome.ts";
import { answersOf } from "../audit/replay.ts";
import type { Handler } from "../plugins/registry.ts";
import type { RunInput } from "../run/run-input.ts";
import type { Answers, StepAnswer } from "../supervisor/lane-client.ts";

/** The start of a call in milliseconds of performance.now(), the answers it came with, and the number of their hop. */
interface Begun {
  readonly atMs: number;
  readonly answers: Answers;
  readonly batch: number;
}

/** `calls` are those of the outcome; `endedMs`: when the run had ended. */
export function recordedCalls(input: RunInput, calls: readonly Call[], endedMs: number): RecordedCall[] {
  const answeredMs = input.askedMs ?? endedMs;
  const begun = input.fanned ? parallel(input, answeredMs) : sequential(input, calls, answeredMs);
  return calls.map((call, at) => {
    const handler = input.plan[at]!;
    const found = begun.get(handler);
    if (!found) return call;
    const { lane = handler.home.lane.index, attempt = 1 } = found.answers;
    // Clocks of two processes differ a little.
    const startMs = Math.max(0, found.atMs - input.startedMs);
    return { ...call, startMs, lane, attempt, batch: found.batch };
  });
}

/** One after the other: a call ends when the next one begins, and the last one of a hop when the hop is answered. */
function sequential(input: RunInput, calls: readonly Call[], answeredMs: number): Map<Handler, Begun> {
  const begun = new Map<Handler, Begun>();
  const all = [...answersOf(input, calls)];
  let endMs = answeredMs;
  let batch = 0;
  for (let at = 0; at < all.length; at++) if (all[at]![1].hop !== all[at - 1]?.[1].hop) batch += 1;
  for (let at = all.length - 1; at >= 0; at--) {
    const [handler, { step, hop }] = all[at]!;
    const atMs = Math.max(hop.sentMs, endMs - step.wallUs / 1000);
    begun.set(handler, { atMs, answers: hop.answers, batch });
    const isFirstOfHop = all[at - 1]?.[1].hop !== hop;
    endMs = isFirstOfHop ? hop.sentMs : atMs;
    if (isFirstOfHop) batch -= 1;
  }
  return begun;
}

/** A lane starts the handlers of a hop in order; each begins when the ones before it have given the thread back. */
function parallel({ fanned = [], startedMs }: RunInput, answeredMs: number): Map<Handler, Begun> {
  const begun = new Map<Handler, Begun>();
  for (const [hop, { answers, handlers, endedMs = answeredMs }] of fanned.entries()) {
    const offsets = offsetsOf(answers.steps);
    const lasted = Math.max(0, ...answers.steps.map((step, at) => offsets[at]! + (step?.wallUs ?? 0) / 1000));
    const firstMs = Math.max(startedMs, endedMs - lasted);
    for (const [at, handler] of handlers.entries())
      if (answers.steps[at]) begun.set(handler, { atMs: firstMs + offsets[at]!, answers, batch: hop + 1 });
  }
  return begun;
}

function offsetsOf(steps: readonly (StepAnswer | undefined)[]): number[] {
  let ms = 0;
  return Array.from(steps, (step) => {
    const before = ms;
    ms += (step?.cpuUs ?? 0) / 1000;
    return before;
  });
}
