/**
 * Trusted side: keeps the gateway's event loop from going to sleep while an answer is about to come. Falling asleep and being woken
 * costs more than most calls take. Everything else that the gateway has to do is done meanwhile: an immediate only says that the loop
 * shall look again at once. A lane whose answers take longer is not waited for in this way, but for one run now and then.
 */
import { availableParallelism } from "node:os";
import { LIMITS } from "../../protocol/limits.ts";

/** A lane that is about to answer. */
export interface Watched {
  /** Has it answered everything? */
  isOver(): boolean;
  /** Hears what it says, if it says something. */
  poll(): boolean;
  /** Nobody listens as closely from now on. */
  rest(): void;
}

/** With one CPU, whoever stays awake keeps away whoever is to answer. */
const IS_WORTH_IT = availableParallelism() > 1;

export class Vigil {
  #untilMs = 0;
  #isKept = false;
  readonly #watched: Watched;
  /** How many in a row were in vain, and how often it is to be left out before the next try. */
  #inVain = 0;
  #skips = 0;

  constructor(watched: Watched) {
    this.#watched = watched;
  }

  /** Runs are about to be sent. False: it is not worth it. */
  keep(): boolean {
    if (!IS_WORTH_IT) return false;
    if (this.#skips > 0) {
      this.#skips -= 1;
      return false;
    }
    this.#untilMs = performance.now() + LIMITS.vigilMs;
    if (this.#isKept) return true;
    this.#isKept = true;
    setImmediate(this.#look);
    return true;
  }

  readonly #look = (): void => {
    const lookUntilMs = performance.now() + LIMITS.lookMs;
    while (!this.#watched.isOver() && !this.#watched.poll() && performance.now() < lookUntilMs);
    const isOver = this.#watched.isOver();
    if (!isOver && performance.now() < this.#untilMs) {
      setImmediate(this.#look);
      return;
    }
    this.#isKept = false;
    this.#inVain = isOver ? 0 : this.#inVain + 1;
    // A lane that slept takes a while to wake up: that happens. One that is always late has handlers that wait for something.
    if (this.#inVain > LIMITS.vigilTries) this.#skips = Math.min(2 ** (this.#inVain - LIMITS.vigilTries), LIMITS.vigilSkips);
    this.#watched.rest();
  };
}
