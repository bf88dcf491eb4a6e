/**
 * Trusted side: blocks for a moment for the answer to a run that was just started. An answer takes half a millisecond, and in a gateway
 * whose event loop is busy it then waits for several more. Waits in vain are bounded: a share of all time.
 */
import { availableParallelism } from "node:os";
import { LIMITS } from "../../../protocol/limits.ts";

/** With one CPU the lane cannot run meanwhile. */
const HAS_SECOND_CPU = availableParallelism() > 1;

const { briefMs } = LIMITS.sync;
/** How much of the share may be saved up. */
const MAX_QUOTA_MS = 10 * briefMs;

interface Waiting {
  /** False: there is no answer after so many milliseconds. */
  waitForAnswer(ms: number): boolean;
}

export class BriefWait {
  readonly #lanes: Waiting;
  /** Time that may still be spent in vain, as of `#atMs`. */
  #quotaMs = MAX_QUOTA_MS;
  #atMs = 0;

  constructor(lanes: Waiting) {
    this.#lanes = lanes;
  }

  wait(): void {
    const nowMs = performance.now();
    this.#quotaMs = Math.min(this.#quotaMs + (nowMs - this.#atMs) * LIMITS.poll.wastedShare, MAX_QUOTA_MS);
    this.#atMs = nowMs;
    if (!HAS_SECOND_CPU || this.#quotaMs < briefMs || this.#lanes.waitForAnswer(briefMs)) return;
    this.#quotaMs -= performance.now() - nowMs;
  }
}
