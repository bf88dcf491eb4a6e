/**
 * Both sides: polls a link for a moment instead of blocking on it. Blocking, and being woken again, costs more than
 * most calls take. The gateway polls for the reply to a call it has just sent, a lane polls for the next request after
 * it has answered. Both run the same loop on setImmediate, so the event loop keeps turning. A poll that finds nothing
 * is wasted CPU time, and both sides bound it.
 */
import { availableParallelism } from "node:os";
// Not the global: a gateway's own tests may replace that with a fake that they never advance while a hook runs.
import { setImmediate } from "node:timers";
import { LIMITS } from "../protocol/limits.ts";
import type { Frame } from "./frames.ts";
import type { Link } from "./link.ts";

/** With one CPU, the side that polls keeps the other side from running. */
const HAS_SECOND_CPU = availableParallelism() > 1;

/** How long one turn of the event loop polls before other work gets its turn. */
const SPIN_MS = 0.01;

/** More polls than a spin has time for; ends it where a test has stopped the clock. */
const MAX_SPINS = 1_000;

/** How much unused quota a poller may save up. */
const MAX_QUOTA_MS = 10 * LIMITS.poll.idleMs;

abstract class BusyPoll {
  #isOn = false;
  #untilMs = 0;
  /** When polling began, or last found something. */
  #foundMs = 0;
  /** CPU time that may still be wasted, as of `#quotaAtMs`. */
  #quotaMs = MAX_QUOTA_MS;
  #quotaAtMs = 0;

  /** Does the link get polled at present? */
  get isOn(): boolean {
    return this.#isOn;
  }

  /** Stops at the next turn of the event loop. */
  stop(): void {
    this.#untilMs = 0;
  }

  protected abstract poll(): boolean;
  protected abstract isWanted(): boolean;
  /** May a spin go on after it found something? Not where promises have to settle first. */
  protected abstract readonly keepsSpinning: boolean;
  protected abstract stopped(): void;

  /** Starts polling, or goes on for another `idleMs`. False: the quota of polls that find nothing is used up. */
  protected begin(nowMs: number): boolean {
    if (!this.#isOn) {
      if (!HAS_SECOND_CPU || this.#quota(nowMs) < LIMITS.poll.idleMs) return false;
      this.#isOn = true;
      this.#foundMs = nowMs;
      setImmediate(this.#turn);
    }
    this.#untilMs = nowMs + LIMITS.poll.idleMs;
    return true;
  }

  /** Something came, by whichever way. */
  protected found(nowMs: number): void {
    this.#foundMs = nowMs;
    this.#untilMs = nowMs + LIMITS.poll.idleMs;
  }

  readonly #turn = (): void => {
    let nowMs = performance.now();
    const latestMs = nowMs + LIMITS.poll.idleMs;
    let spinUntilMs = nowMs + SPIN_MS;
    for (let spins = 0; spins < MAX_SPINS && nowMs < spinUntilMs && this.isWanted(); spins++) {
      const isFound = this.poll();
      nowMs = performance.now();
      if (!isFound) continue;
      this.#foundMs = nowMs;
      // The caller we just answered often sends another request at once, so poll on before yielding to the event loop,
      // but never past `latestMs`.
      spinUntilMs = this.keepsSpinning ? Math.min(nowMs + SPIN_MS, latestMs) : 0;
    }
    const isWanted = this.isWanted();
    if (isWanted && nowMs < this.#untilMs && nowMs - this.#foundMs < this.#quotaMs) {
      setImmediate(this.#turn);
      return;
    }
    this.#isOn = false;
    if (isWanted) this.#quotaMs = this.#quota(nowMs) - Math.min(nowMs - this.#foundMs, LIMITS.poll.idleMs);
    this.stopped();
  };

  #quota(nowMs: number): number {
    this.#quotaMs = Math.min(this.#quotaMs + (nowMs - this.#quotaAtMs) * LIMITS.poll.wastedShare, MAX_QUOTA_MS);
    this.#quotaAtMs = nowMs;
    return this.#quotaMs;
  }
}

/** The gateway's side. */
export class ReplyPoller extends BusyPoll {
  protected readonly keepsSpinning = false;
  readonly #pending: () => number;
  #link: Link | undefined;

  /** `pending`: how many calls are not answered yet. */
  constructor(pending: () => number) {
    super();
    this.#pending = pending;
  }

  /**
   * Calls are about to be sent: polls for their replies, if the lane polls for calls. A lane that has to be woken first
   * takes too long.
   */
  start(link: Link): void {
    if (!link.isPeerPolling?.() || !this.begin(performance.now())) return;
    this.#link = link;
    link.startPolling?.();
  }

  protected poll(): boolean {
    return this.#link?.poll?.() ?? false;
  }

  protected isWanted(): boolean {
    return this.#pending() > 0;
  }

  protected stopped(): void {
    this.#link?.stopPolling?.();
  }
}

/** The lane's side. */
export class RequestPoller extends BusyPoll {
  protected readonly keepsSpinning = true;
  readonly #link: Link<Frame>;
  readonly #cpuPressure: () => number;
  readonly #beforeStop: () => void;
  #servedMs = -Infinity;

  /**
   * `cpuPressure`: runnable threads per CPU. `beforeStop`: what the lane has put off until no request comes any more.
   */
  constructor(link: Link<Frame>, cpuPressure: () => number, beforeStop: () => void) {
    super();
    this.#link = link;
    this.#cpuPressure = cpuPressure;
    this.#beforeStop = beforeStop;
  }

  /**
   * The lane has answered. Polls for the next request, if this one came soon after the one before: a single call says
   * nothing about the next.
   */
  start(nowMs: number): void {
    const isBurst = nowMs - this.#servedMs < LIMITS.poll.idleMs;
    this.#servedMs = nowMs;
    if (this.isOn) this.found(nowMs);
    else if (isBurst && this.#link.poll && this.#cpuPressure() < LIMITS.poll.cpuPressure && this.begin(nowMs)) this.#link.startPolling?.();
  }

  protected poll(): boolean {
    return this.#link.poll!();
  }

  protected isWanted(): boolean {
    return true;
  }

  protected stopped(): void {
    this.#beforeStop();
    this.#link.stopPolling?.();
  }
}
