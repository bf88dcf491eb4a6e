/**
 * Trusted side: work on a database, in order. Does it at once where possible. When another process holds the lock,
 * tries again a little later without blocking the gateway's thread; later work waits behind it.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { LIMITS } from "../../protocol/limits.ts";
import { isBusy } from "./database.ts";

export class WriteQueue {
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

  /** Resolves when all work so far is done. */
  async idle(): Promise<void> {
    await this.#last;
  }

  async #after<T>(previous: Promise<unknown> | undefined, work: () => T): Promise<T> {
    await previous;
    const untilMs = performance.now() + LIMITS.storage.busyMs;
    for (let waitMs = 1; ; waitMs = Math.min(2 * waitMs, LIMITS.storage.retryMs)) {
      try {
        return work();
      } catch (error) {
        if (!isBusy(error) || performance.now() > untilMs) throw error;
      }
      // Add jitter so that waiters do not collide again.
      await sleep(waitMs * (0.5 + Math.random()));
    }
  }
}
