/**
 * Trusted side: what happens to the runs in a lane whose unit is lost. The culprit's call fails with the diagnosis,
 * other calls in the culprit's cell fail as replaced, and all other calls are retried once.
 */
import type { ErrorCode, ErrorParams } from "../../protocol/errors.ts";
import { errorMessage } from "../../protocol/errors.ts";
import type { Route } from "../../protocol/messages/host-lane.ts";
import type { Answers, RunRequest, StepAnswer } from "./lane-run.ts";

/** The cell that was executing when the unit was lost. */
export interface Culprit {
  readonly cell: number;
  /** The run it executed; 0: a turn that belongs to no run. */
  readonly run: number;
  readonly step: number;
  readonly answer: StepAnswer;
}

export interface UnitLoss {
  readonly why: string;
  readonly culprit?: Culprit | undefined;
  /** The newest run that the lane had begun, if known. Later runs are sent to the replacement. */
  readonly begun?: number | undefined;
  /** There will be no replacement. */
  readonly isFinal?: boolean;
}

/** A run that is not fully answered. */
export interface Unanswered {
  readonly id: number;
  readonly request: RunRequest;
  readonly answers: (StepAnswer | undefined)[];
  /** The lane sends some answers early when it is about to enter, or waits for, the next step. */
  readonly isPartlyAnswered: boolean;
  /** Wall time since it was sent. */
  readonly spentMs: number;
}

export function failure(status: StepAnswer["status"], code: ErrorCode, params: ErrorParams): StepAnswer {
  return { status, wallUs: 0, cpuUs: 0, body: JSON.stringify({ code, message: errorMessage(code, params) }) };
}

export function isFan({ mode }: Route): boolean {
  return mode === "fan" || mode === "gather";
}

export function firstOpen(answers: readonly (StepAnswer | undefined)[], from: number): number {
  let at = from;
  while (answers[at]) at += 1;
  return at;
}

export function afterLoss(run: Unanswered, { why, culprit, isFinal }: UnitLoss): Answers {
  const { request, answers } = run;
  const { route, from } = request;
  if (culprit && culprit.run === run.id) answers[culprit.step] ??= culprit.answer;
  const open = firstOpen(answers, from);
  if (open >= route.steps.length) return { steps: answers };
  // In a chain, the steps behind the first open one had not started, as far as the host knows.
  const running = isFan(route) ? [...route.steps.keys()].filter((at) => at >= from && !answers[at]) : [open];
  let isRetry = false;
  for (const at of running) {
    if (route.steps[at]![0] === culprit?.cell) answers[at] = failure("crashed", "ERR_CALL_REPLACED", { detail: why });
    else if (request.attempt > 1 || isFinal) answers[at] = failure("crashed", "ERR_SANDBOX_DIED", { detail: why });
    else isRetry = true;
  }
  return isRetry ? { steps: answers, retry: { spentMs: run.spentMs, until: lastBegun(run, open) } } : { steps: answers };
}

/**
 * The last step that may have begun. Lanes send answers of quick steps together, so some answers may be lost with the
 * unit.
 */
function lastBegun({ request, answers, isPartlyAnswered }: Unanswered, open: number): number {
  if (isPartlyAnswered) return open;
  const known = answers.findIndex((answer, at) => at > open && answer !== undefined);
  return known < 0 ? request.route.steps.length - 1 : known;
}
