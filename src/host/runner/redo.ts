/**
 * Trusted side: the rest of a row of handlers after their sandbox has died, or one of them has moved. From then on each is run by itself,
 * so that the next death has a name; those that may have been begun are told that this is their second attempt.
 */
import type { AnyHook } from "../../protocol/catalog.ts";
import { firstOpen } from "../lanes/death.ts";
import type { Answers, StepAnswer } from "../lanes/lane-client.ts";
import { NO_CONTEXT } from "./prepare.ts";
import { alone } from "./segments.ts";
import type { Place, Segment } from "./segments.ts";

export interface Attempt {
  /** Position in the row of the route's first step. */
  readonly offset: number;
  readonly attempt: number;
  /** Wall time that the first attempt has used up. */
  readonly spentMs: number;
}

/** Of a row that nothing has happened to. */
export const FIRST: Attempt = { offset: 0, attempt: 1, spentMs: 0 };

export class Redo {
  readonly #segment: Segment;
  /** The first position to be run again, and the last that may have been begun before. */
  #from = 0;
  #until = -1;
  #spentMs = 0;
  /** Answers of positions behind the first open one: verdicts. */
  readonly #known: (StepAnswer | undefined)[] = [];

  constructor(segment: Segment) {
    this.#segment = segment;
  }

  place(hook: AnyHook, at: number): Place {
    return alone(hook, this.#segment.handlers[at]!);
  }

  attempt(at: number): Attempt {
    return { offset: at, attempt: at <= this.#until ? 2 : 1, spentMs: at === this.#from ? this.#spentMs : 0 };
  }

  /** The answer to a hop from there, if it need not be made. */
  known(at: number): Answers | undefined {
    const answer = this.#known[at];
    return answer && { steps: [answer] };
  }

  /** What a hop from `at` came to. */
  note({ steps, again }: Answers, at: number, offset: number): void {
    const open = firstOpen(steps, at - offset);
    this.#from = open + offset;
    this.#until = again!.until + offset;
    this.#spentMs = again!.spentMs;
    for (const [position, step] of steps.entries()) if (position > open && step) this.#known[position + offset] = step;
  }
}

/** A context's text with the number of the attempt, which handlers see as `ctx.attempt` when it is not the first. */
export function withAttempt(context: string, attempt: number): string {
  return attempt === 1 ? context : `{"attempt":${attempt}${context === NO_CONTEXT ? "" : ","}${context.slice(1)}`;
}
