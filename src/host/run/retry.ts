/**
 * Trusted side: what remains of a segment after its sandbox has died, or a handler of it has moved. From then on each handler gets a hop of
 * its own, so that the next death has a culprit. Handlers that may have begun before learn that this is their second attempt.
 */
import type { AnyHook } from "../../protocol/catalog.ts";
import { firstOpen } from "../supervisor/unit-loss.ts";
import type { Answers, StepAnswer } from "../supervisor/lane-client.ts";
import { NO_CONTEXT } from "./prepare.ts";
import { singleRoute } from "./segments.ts";
import type { Place, Segment } from "./segments.ts";

export interface Attempt {
  /** The position in the segment of the route's first step. */
  readonly offset: number;
  readonly attempt: number;
  /** Wall time that the first attempt has used up. */
  readonly spentMs: number;
}

/** The first attempt at a segment. */
export const FIRST: Attempt = { offset: 0, attempt: 1, spentMs: 0 };

export class Retry {
  readonly #segment: Segment;
  /** The first position to run again, and the last that may have begun before. */
  #from = 0;
  #until = -1;
  #spentMs = 0;
  /** Answers of positions after the first open one: the host knows them already. */
  readonly #known: (StepAnswer | undefined)[] = [];

  constructor(segment: Segment) {
    this.#segment = segment;
  }

  place(hook: AnyHook, at: number): Place {
    return singleRoute(hook, this.#segment.handlers[at]!);
  }

  attempt(at: number): Attempt {
    return { offset: at, attempt: at <= this.#until ? 2 : 1, spentMs: at === this.#from ? this.#spentMs : 0 };
  }

  /** The answer of that position, if it is known without another hop. */
  known(at: number): Answers | undefined {
    const answer = this.#known[at];
    return answer && { steps: [answer] };
  }

  /** Notes the answers to a hop that began at `at`. */
  note({ steps, retry }: Answers, at: number, offset: number): void {
    const open = firstOpen(steps, at - offset);
    this.#from = open + offset;
    this.#until = retry!.until + offset;
    this.#spentMs = retry!.spentMs;
    for (const [position, step] of steps.entries()) if (position > open && step) this.#known[position + offset] = step;
  }
}

/** A context's text with the number of the attempt, which handlers see as `ctx.attempt` when it is not the first. */
export function withAttempt(context: string, attempt: number): string {
  return attempt === 1 ? context : `{"attempt":${attempt}${context === NO_CONTEXT ? "" : ","}${context.slice(1)}`;
}
