/**
 * Trusted side: runs that a lane has not answered in time. The lane keeps budgets by itself. If it did not, it is busy
 * with other runs, starting, or stuck. The run is answered as timed out either way; only a lane that stays silent is
 * replaced.
 */
import pTimeout from "p-timeout";
import { errorMessage } from "../../protocol/errors.ts";
import { LIMITS, turnMs } from "../../protocol/limits.ts";
import { budgetOf, fillOpen } from "./lane-run.ts";
import type { Answers, PendingRun } from "./lane-run.ts";
import type { Outbox } from "./outbox.ts";
import type { PendingRuns } from "./pending-runs.ts";
import { failure } from "./unit-loss.ts";

/** A lane that sends other messages, but no reply, gets this many times as long as a silent one. */
const PATIENCE = 3;

export interface OverdueOptions {
  readonly pending: PendingRuns<PendingRun>;
  readonly outbox: Outbox;
  /** No run of this lane is ever late. */
  readonly isTimeless?: boolean;
  /** Makes sure that a late reply is not merely unread, on either side. */
  kick(): void;
  settle(run: PendingRun, answers: Answers): void;
  /** Was the lane seen inside a turn in the last milliseconds? Then the watchdog judges it, by CPU time. */
  isInTurn(withinMs: number): boolean;
  /** The lane is stuck. */
  replace(why: string): void;
}

export class Overdue {
  readonly #options: OverdueOptions;
  /** Messages from the lane, and runs that it has answered. */
  messages = 0;
  answered = 0;
  readonly #isTimeless: boolean;
  #young: NodeJS.Timeout | undefined;
  #suspicion: NodeJS.Timeout | undefined;

  constructor(options: OverdueOptions) {
    this.#options = options;
    this.#isTimeless = options.isTimeless === true;
  }

  /** Is there a run that was sent a while ago, and is not answered? */
  get isOverdue(): boolean {
    return this.#options.pending.all().some(({ isSent, timedSinceMs }) => isSent && timedSinceMs > 0);
  }

  /**
   * A run was added. Most runs end before a timer of their own would be worth its cost, so only those that have grown
   * old get one.
   */
  watch(): void {
    if (this.#young || this.#isTimeless) return;
    this.#young = setTimeout(this.#timeOld, LIMITS.call.youngRunMs).unref();
  }

  /** No run is left, and none is expected at once: without the timer the gateway need not wake up again for this call. */
  rest(): void {
    clearTimeout(this.#young);
    this.#young = undefined;
  }

  /** The unit is gone. */
  stop(): void {
    clearTimeout(this.#suspicion);
    this.#suspicion = undefined;
  }

  readonly #timeOld = (): void => {
    this.#young = undefined;
    this.#options.kick();
    for (const run of this.#options.pending.all()) if (!run.settled) this.#time(run);
  };

  #time(run: PendingRun): void {
    const milliseconds = budgetOf(run.request) + LIMITS.sandbox.laneGraceMs;
    const { promise, resolve } = Promise.withResolvers<void>();
    run.settled = resolve;
    run.timedSinceMs = performance.now();
    void pTimeout(promise, { milliseconds, fallback: () => this.#giveUp(run, milliseconds) });
  }

  #giveUp(run: PendingRun, ms: number): void {
    const { outbox } = this.#options;
    // A run without handlers only waits for what the lane is doing, which may be loading a plugin: no call of it is late.
    const isCall = run.request.route.steps.length > 0;
    if (isCall && (run.isSent || outbox.isChoked)) this.#suspect();
    if (!run.isSent) outbox.withdraw(run);
    this.#options.settle(run, fillOpen(run, { ...failure("timeout", "ERR_SANDBOX_STUCK", { ms }), wallUs: ms * 1000 }));
  }

  /** A lane that sends nothing for longer than any turn in it may take is stuck. */
  #suspect(): void {
    if (this.#suspicion) return;
    let longestMs = 0;
    for (const { request } of this.#options.pending.all()) for (const step of request.route.steps) longestMs = Math.max(longestMs, step[3]);
    this.#awaitSign(turnMs(longestMs), 1, performance.now());
  }

  #awaitSign(allowedMs: number, times: number, sinceMs: number): void {
    const { messages, answered } = this;
    const { outbox } = this.#options;
    this.#suspicion = setTimeout(() => {
      this.#suspicion = undefined;
      if (this.answered !== answered || !outbox.isReady) return;
      // On a busy machine a turn of 100 ms can take seconds. A unit that claims it for longer than the watchdog allows is lying.
      const isYoung = performance.now() - sinceMs < LIMITS.sandbox.starvedMs;
      if (isYoung && this.#options.isInTurn(allowedMs)) return this.#awaitSign(allowedMs, times, sinceMs);
      const isSilent = this.messages === messages && times === 1;
      if (!isSilent && !this.isOverdue && !outbox.isChoked) return;
      if (!isSilent && times < PATIENCE) return this.#awaitSign(allowedMs, times + 1, sinceMs);
      this.#options.replace(errorMessage("ERR_SANDBOX_STUCK", { ms: allowedMs * times }));
    }, allowedMs).unref();
  }
}
