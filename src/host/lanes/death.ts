/**
 * Trusted side: what becomes of the runs in a lane whose thread or process is gone. The culprit's call has its verdict; what else was
 * in the culprit's cell went with it; everybody else's calls are made once more.
 */
import type { ErrorCode, ErrorParams } from "../../protocol/errors.ts";
import { errorMessage } from "../../protocol/errors.ts";
import type { Route } from "../../protocol/messages.ts";
import type { Answers, RunRequest, StepAnswer } from "./lane-client.ts";

/** The cell that was executing, not whoever waited. */
export interface Culprit {
  readonly cell: number;
  /** Which call it was; 0: a turn of no run. */
  readonly run: number;
  readonly step: number;
  readonly answer: StepAnswer;
}

export interface Death {
  readonly why: string;
  readonly culprit?: Culprit | undefined;
  /** The newest run that the lane had begun, if that is known; later ones go on as if nothing had happened. */
  readonly begun?: number | undefined;
  /** There will be no replacement. */
  readonly isFinal?: boolean;
}

/** A run as far as it was answered. */
export interface Unanswered {
  readonly id: number;
  readonly request: RunRequest;
  readonly answers: (StepAnswer | undefined)[];
  /** The lane sends a part of the answers when it is about to enter, or waits for, the next step. */
  readonly isPartlyAnswered: boolean;
  /** Wall time that has gone by. */
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

export function afterDeath(run: Unanswered, { why, culprit, isFinal }: Death): Answers {
  const { request, answers } = run;
  const { route, from } = request;
  if (culprit && culprit.run === run.id) answers[culprit.step] ??= culprit.answer;
  const open = firstOpen(answers, from);
  if (open >= route.steps.length) return { steps: answers };
  // In a chain the steps behind the first open one were not started, or it is not known that they were.
  const running = isFan(route) ? [...route.steps.keys()].filter((at) => at >= from && !answers[at]) : [open];
  let isAgain = false;
  for (const at of running) {
    if (route.steps[at]![0] === culprit?.cell) answers[at] = failure("crashed", "ERR_CALL_REPLACED", { detail: why });
    else if (request.attempt > 1 || isFinal) answers[at] = failure("crashed", "ERR_SANDBOX_DIED", { detail: why });
    else isAgain = true;
  }
  return isAgain ? { steps: answers, again: { spentMs: run.spentMs, until: lastBegun(run, open) } } : { steps: answers };
}

/** The last step that may have been begun: answers of quick steps are sent together, and may have died with the lane. */
function lastBegun({ request, answers, isPartlyAnswered }: Unanswered, open: number): number {
  if (isPartlyAnswered) return open;
  const known = answers.findIndex((answer, at) => at > open && answer !== undefined);
  return known < 0 ? request.route.steps.length - 1 : known;
}
