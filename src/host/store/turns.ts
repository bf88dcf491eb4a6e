/**
 * Trusted side: work on a store, in the order it came. It is done at once where that is possible. When another process holds the
 * lock it is tried again a little later, without blocking the gateway's thread, and what comes meanwhile waits behind it.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { LIMITS } from "../../protocol/limits.ts";
import { isBusy } from "./database.ts";

export class Turns {
  #last: Promise<unknown> | undefined;

  /** Rejects with what the work throws. */
  run<T>(work: () => T): Promise<T> {
    if (!this.#last) {
      try {
        return Promise.resolve(work());
      } catch (error) {
        if (!isBusy(error)) return Promise.reject(error);
      }
    }
    const mine = this.#after(this.#last, work);
    const settled = mine
      .catch(() => {})
      .then(() => {
        if (this.#last === settled) this.#last = undefined;
      });
    this.#last = settled;
    return mine;
  }

  /** Resolves when all that came so far is done. */
  async idle(): Promise<void> {
    await this.#last;
  }

  async #after<T>(previous: Promise<unknown> | undefined, work: () => T): Promise<T> {
    await previous;
    const untilMs = performance.now() + LIMITS.storeBusyMs;
    for (let waitMs = 1; ; waitMs = Math.min(2 * waitMs, LIMITS.storeRetryMs)) {
      try {
        return work();
      } catch (error) {
        if (!isBusy(error) || performance.now() > untilMs) throw error;
      }
      // Not all at the same time: whoever is woken together would only lock each other out again.
      await sleep(waitMs * (0.5 + Math.random()));
    }
  }
}
