/**
 * Trusted side, in an author's test: time that stands still until the test moves it. Jobs, lifetimes of entries and, in
 * the sandbox, Date and the timers of the plugin follow it. It moves from one due time to the next, and at each one it
 * waits until the plugin has done what was due.
 */
import { setImmediate as turn, setTimeout as wait } from "node:timers/promises";
import type { LaneClient } from "./supervisor/lane-client.ts";
import type { Clock } from "./services/schedule/scheduler.ts";

/** What follows the clock. */
export interface Followers {
  readonly lanes: readonly Pick<LaneClient, "index" | "isReady" | "post" | "waiting">[];
  readonly services: { readonly pending: number; readonly requests: number };
  readonly schedule: { readonly isWorking: boolean; readonly running: number; readonly rounds: number };
}

interface Timer {
  readonly dueMs: number;
  readonly due: () => void;
}

/** How long a request of the plugin's is waited for before time goes on without its answer, in real time. */
const PATIENCE_MS = 100;
/** Steps of one `advance`: a day of an interval of one second fits. */
const MAX_STEPS = 100_000;

export class ManualClock implements Clock {
  readonly longestMs = Infinity;
  readonly #timers = new Set<Timer>();
  /** Lanes that have not answered yet. */
  readonly #asked = new Map<number, (nextMs: number | undefined) => void>();
  #followers: Followers | undefined;
  #nowMs: number;
  /** Requests that time has gone on without. */
  #unanswered = 0;
  #moving: Promise<void> = Promise.resolve();

  constructor(nowMs: number) {
    this.#nowMs = nowMs;
  }

  readonly now = (): number => this.#nowMs;

  readonly setTimer = (inMs: number, due: () => void): (() => void) => {
    const timer = { dueMs: this.#nowMs + inMs, due };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  };

  join(followers: Followers): void {
    this.#followers = followers;
  }

  /** A lane has done what was due. */
  said(lane: number, nextMs: number | undefined): void {
    this.#asked.get(lane)?.(nextMs);
    this.#asked.delete(lane);
  }

  /** Their unit is gone, and what they had set with it. */
  lost(lanes: readonly number[]): void {
    for (const lane of lanes) this.said(lane, undefined);
  }

  /** The host closes. */
  end(): void {
    this.lost([...this.#asked.keys()]);
  }

  /** Resolves when all that was due until then is done. */
  advance(ms: number): Promise<void> {
    if (!(ms >= 0 && ms < Infinity)) throw new RangeError(`time moves by 0 ms or more, not by ${ms}`);
    const moved = this.#moving.then(() => this.#moveTo(this.#nowMs + ms));
    this.#moving = moved.catch(() => {});
    return moved;
  }

  async #moveTo(toMs: number): Promise<void> {
    for (let steps = 0; ; steps++) {
      const nextMs = await this.#settled();
      if (nextMs > toMs) break;
      if (steps >= MAX_STEPS) throw new Error(`time did not get to ${new Date(toMs).toISOString()}: ${MAX_STEPS} timers came due before`);
      this.#goTo(nextMs);
    }
    this.#goTo(toMs);
    await this.#settled();
  }

  #goTo(ms: number): void {
    this.#nowMs = Math.max(this.#nowMs, ms);
    for (const timer of [...this.#timers].filter(({ dueMs }) => dueMs <= this.#nowMs)) {
      this.#timers.delete(timer);
      timer.due();
    }
  }

  /** Everything due now is done. Gives when the next thing is due. */
  async #settled(): Promise<number> {
    const { services, schedule } = this.#followers!;
    for (;;) {
      const [wasBusy, requests, rounds] = [this.#isBusy, services.requests, schedule.rounds];
      const nextMs = await this.#lanes();
      // What the lanes have sent is handled now, but not yet what follows from it.
      await turn();
      // Otherwise something may have come back to the plugin since.
      if (!wasBusy && !this.#isBusy && requests === services.requests && rounds === schedule.rounds) {
        this.#unanswered = services.pending;
        return Math.min(nextMs, ...Array.from(this.#timers, ({ dueMs }) => dueMs));
      }
      const sinceMs = performance.now();
      while (this.#isBusy && performance.now() - sinceMs < PATIENCE_MS) await wait(1);
      if (this.#isBusy) this.#unanswered = services.pending;
    }
  }

  get #isBusy(): boolean {
    const { lanes, services, schedule } = this.#followers!;
    const waiting = lanes.reduce((sum, lane) => sum + lane.waiting, 0);
    return schedule.isWorking || schedule.running > waiting || services.pending > this.#unanswered;
  }

  async #lanes(): Promise<number> {
    const ready = this.#followers!.lanes.filter(({ isReady }) => isReady);
    const next = await Promise.all(
      ready.map((lane) => {
        const { promise, resolve } = Promise.withResolvers<number | undefined>();
        this.#asked.set(lane.index, resolve);
        lane.post({ kind: "advance", toMs: this.#nowMs });
        return promise;
      }),
    );
    return Math.min(...next.map((ms) => ms ?? Infinity));
  }
}
