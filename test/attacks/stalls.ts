/**
 * Stalls of an event loop: a clock that should tick every few milliseconds, and by how much it came late. The control process
 * (control.ts) has the same clock and blocks on a thread now and then, as a gateway does, and nothing else: how long it stood still in the same
 * time is what the machine itself did. The kernel also tells how much of a stall the thread only waited for a CPU.
 */
import { openSync, readSync } from "node:fs";

export interface StallSummary {
  readonly longestMs: number;
  readonly totalMs: number;
  /** The same without the time in which the thread was ready to run and had no CPU. */
  readonly ownLongestMs: number;
  readonly ownTotalMs: number;
}

export const NO_STALLS: StallSummary = { longestMs: 0, totalMs: 0, ownLongestMs: 0, ownTotalMs: 0 };

const TICK_MS = 5;
/** A stall shorter than this cannot be told from the kernel's own scheduling on two busy cores. */
const STALL_MS = 20;

export class StallMeter implements Disposable {
  readonly #queue = new RunQueue();
  #sum = { ...NO_STALLS };
  #lastMs = performance.now();
  #lastQueuedMs = this.#queue.waitedMs();
  readonly #timer = setInterval(() => this.#tick(), TICK_MS);

  /** Since the last time, and what is under way now. */
  take(): StallSummary {
    this.#tick();
    const sum = this.#sum;
    this.#sum = { ...NO_STALLS };
    return sum;
  }

  /** Makes a synchronous run, and gives how long it took: that is judged by itself. */
  aside<T>(run: () => T, took: (ms: number) => void): T {
    const startedMs = performance.now();
    const queuedMs = this.#queue.waitedMs();
    try {
      return run();
    } finally {
      const ms = performance.now() - startedMs;
      this.#lastMs += ms;
      this.#lastQueuedMs += this.#queue.waitedMs() - queuedMs;
      took(ms);
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #tick(): void {
    const nowMs = performance.now();
    const queuedMs = this.#queue.waitedMs();
    const ms = nowMs - this.#lastMs - TICK_MS;
    const ownMs = Math.max(0, ms - (queuedMs - this.#lastQueuedMs));
    this.#lastMs = nowMs;
    this.#lastQueuedMs = queuedMs;
    if (ms < STALL_MS) return;
    const { longestMs, totalMs, ownLongestMs, ownTotalMs } = this.#sum;
    this.#sum = {
      longestMs: Math.max(longestMs, ms),
      totalMs: totalMs + ms,
      ownLongestMs: Math.max(ownLongestMs, ownMs),
      ownTotalMs: ownTotalMs + ownMs,
    };
  }
}

/** How long the main thread of this process has waited for a CPU, as the kernel counts it; a kernel that does not: never. */
class RunQueue {
  readonly #line = Buffer.alloc(128);
  readonly #fd = RunQueue.#open();

  static #open(): number | undefined {
    try {
      return openSync(`/proc/self/task/${process.pid}/schedstat`, "r");
    } catch {
      return undefined;
    }
  }

  waitedMs(): number {
    if (this.#fd === undefined) return 0;
    // Time on a CPU and time of waiting for one, in nanoseconds, and how often it got one.
    const [, waitedNs] = this.#line.toString("latin1", 0, readSync(this.#fd, this.#line, 0, this.#line.length, 0)).split(" ");
    return Number(waitedNs) / 1e6;
  }
}
