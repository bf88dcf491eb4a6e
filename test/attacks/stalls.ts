/**
 * Stalls of an event loop: a clock that should tick every few milliseconds, and by how much it came late. The control process
 * (control.ts) has the same clock and blocks on a thread now and then, as a gateway does, and nothing else: how long it stood still in the same
 * time is what the machine itself did.
 */

export interface StallSummary {
  readonly longestMs: number;
  readonly totalMs: number;
}

export const NO_STALLS: StallSummary = { longestMs: 0, totalMs: 0 };

const TICK_MS = 5;
/** A stall shorter than this cannot be told from the kernel's own scheduling on two busy cores. */
const STALL_MS = 20;

export class StallMeter implements Disposable {
  #sum = { ...NO_STALLS };
  #lastMs = performance.now();
  readonly #timer = setInterval(() => this.#tick(), TICK_MS);

  /** Since the last time, and what is under way now. */
  take(): StallSummary {
    this.#tick();
    const sum = this.#sum;
    this.#sum = { ...NO_STALLS };
    return sum;
  }

  /** So long a synchronous run has just taken: that is judged by itself. */
  aside(ms: number): void {
    this.#lastMs += ms;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #tick(): void {
    const nowMs = performance.now();
    const ms = nowMs - this.#lastMs - TICK_MS;
    this.#lastMs = nowMs;
    if (ms < STALL_MS) return;
    this.#sum = { longestMs: Math.max(this.#sum.longestMs, ms), totalMs: this.#sum.totalMs + ms };
  }
}
