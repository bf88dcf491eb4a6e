/**
 * A fixed-window limiter, for both sides of the trust line. A window starts with the first admission after the previous
 * window has ended. It keeps one counter and one time, so it costs nothing per caller.
 */
export class RateWindow {
  readonly #limit: number;
  readonly #windowMs: number;
  readonly #now: () => number;
  #startedMs = -Infinity;
  #count = 0;

  constructor(limit: number, windowMs: number, now: () => number = () => performance.now()) {
    this.#limit = limit;
    this.#windowMs = windowMs;
    this.#now = now;
  }

  /** Counts the cost, also of what it refuses. False: the window is over its limit. */
  admit(cost = 1): boolean {
    const nowMs = this.#now();
    if (nowMs - this.#startedMs >= this.#windowMs) {
      this.#startedMs = nowMs;
      this.#count = 0;
    }
    this.#count += cost;
    return this.#count <= this.#limit;
  }

  /** Of the latest window, by the clock that was passed in. */
  get startedMs(): number {
    return this.#startedMs;
  }

  /** Of the latest window, with what was refused. */
  get count(): number {
    return this.#count;
  }

  get isOver(): boolean {
    return this.#now() - this.#startedMs >= this.#windowMs;
  }
}
