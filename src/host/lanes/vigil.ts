/**
 * Trusted side: keeps the gateway's event loop from going to sleep while an answer is about to come. Falling asleep and being woken
 * costs more than most calls take. Everything else that the gateway has to do is done meanwhile: an immediate only says that the loop
 * shall look again at once. Answers that take longer were waited for in vain: that may take a small share of the gateway's time, and no more.
 */
import { availableParallelism } from "node:os";
// Not the global one: in a gateway's own tests that may be a fake, which nobody advances while a hook is run.
import { setImmediate } from "node:timers";
import { LIMITS } from "../../protocol/limits.ts";

/** A lane that is about to answer. */
export interface Watched {
  /** How many runs it has not answered. */
  pending(): number;
  /** Hears what it says, if it says something. */
  poll(): boolean;
  /** How often it has said something that the event loop may have brought and polling does not find. */
  heardOtherwise(): number;
  /** Nobody listens as closely from now on. */
  rest(): void;
}

/** With one CPU, whoever stays awake keeps away whoever is to answer. */
const IS_WORTH_IT = availableParallelism() > 1;

/** More than a look has time for. */
const MAX_GLANCES = 1_000;

export class Vigil {
  #untilMs = 0;
  #isKept = false;
  readonly #watched: Watched;
  /** The last that was heard was found by looking: otherwise the event loop brings it, and shall not wait for us. */
  #isFound = true;
  #heard = 0;
  /** When it last looked, and how long it has done nothing else since something was heard. */
  #lookedMs = 0;
  #idleMs = 0;
  /** Time that may still be spent in vain, as of then. */
  #creditMs: number = LIMITS.vigilCreditMs;
  #creditAtMs = 0;

  constructor(watched: Watched) {
    this.#watched = watched;
  }

  /** Runs are about to be sent. False: it is not worth it. */
  keep(): boolean {
    const nowMs = performance.now();
    if (!IS_WORTH_IT || (this.#creditMs < LIMITS.vigilMs && this.#credited(nowMs) < LIMITS.vigilMs)) return false;
    this.#untilMs = nowMs + LIMITS.vigilMs;
    if (this.#isKept) return true;
    this.#isKept = true;
    this.#lookedMs = nowMs;
    this.#idleMs = 0;
    setImmediate(this.#look);
    return true;
  }

  /** So many answers have come: who waits for many may be in vain more often. */
  earn(answers: number): void {
    if (this.#isKept) this.#creditMs = Math.min(this.#creditMs + answers * LIMITS.vigilEarnedMs, LIMITS.vigilCreditMs);
  }

  readonly #look = (): void => {
    let nowMs = performance.now();
    const lookUntilMs = nowMs + LIMITS.lookMs;
    // A turn of the loop that took longer had other things to do, and was not in vain.
    this.#idleMs += Math.min(nowMs - this.#lookedMs, LIMITS.lookMs);
    let sinceMs = nowMs;
    if (this.#watched.heardOtherwise() !== this.#heard) {
      this.#isFound = false;
      this.#idleMs = 0;
    }
    // A clock may be a fake, too: then this many glances are a look.
    for (let glances = 0; glances < MAX_GLANCES && this.#watched.pending() > 0; glances++) {
      if (this.#watched.poll()) {
        this.#isFound = true;
        this.#idleMs = 0;
        sinceMs = Infinity;
        break;
      }
      if (!this.#isFound || performance.now() >= lookUntilMs) break;
    }
    this.#heard = this.#watched.heardOtherwise();
    if (this.#watched.pending() > 0) {
      nowMs = performance.now();
      this.#idleMs += Math.max(0, nowMs - sinceMs);
      this.#lookedMs = nowMs;
      if (nowMs < this.#untilMs) {
        setImmediate(this.#look);
        return;
      }
      this.#creditMs = this.#credited(nowMs) - this.#idleMs;
    }
    this.#isKept = false;
    this.#watched.rest();
  };

  #credited(nowMs: number): number {
    this.#creditMs = Math.min(this.#creditMs + (nowMs - this.#creditAtMs) * LIMITS.vigilShare, LIMITS.vigilCreditMs);
    this.#creditAtMs = nowMs;
    return this.#creditMs;
  }
}
