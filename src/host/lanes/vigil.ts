/**
 * Trusted side: keeps the gateway's event loop from going to sleep while an answer is about to come. Falling asleep and being woken
 * costs more than most calls take. Everything else that the gateway has to do is done meanwhile: an immediate only says that the loop
 * shall look again at once. A lane whose answers take longer is not waited for in this way, but for one run now and then.
 */
import { LIMITS } from "../../protocol/limits.ts";

export class Vigil {
  #untilMs = 0;
  #isKept = false;
  #isOver: () => boolean;
  /** Runs to let pass before the next try, and how many it will be after another that was in vain. */
  #skips = 0;
  #nextSkips = 1;

  constructor(isOver: () => boolean) {
    this.#isOver = isOver;
  }

  /** Runs were sent. */
  keep(): void {
    if (this.#skips > 0) {
      this.#skips -= 1;
      return;
    }
    this.#untilMs = performance.now() + LIMITS.vigilMs;
    if (this.#isKept) return;
    this.#isKept = true;
    setImmediate(this.#look);
  }

  readonly #look = (): void => {
    if (this.#isOver()) {
      this.#isKept = false;
      this.#nextSkips = 1;
    } else if (performance.now() < this.#untilMs) {
      setImmediate(this.#look);
    } else {
      this.#isKept = false;
      this.#skips = this.#nextSkips;
      this.#nextSkips = Math.min(this.#nextSkips * 2, LIMITS.vigilSkips);
    }
  };
}
