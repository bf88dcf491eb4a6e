/**
 * Untrusted side, lane thread: what a cell has started outside of itself: timers, and requests to the host. Each
 * belongs to the call that started it.
 */
import type { Alarm, LaneClock } from "../lane-clock.ts";

/** A timer that was neither stopped nor run yet. */
export interface Timer {
  readonly alarm: Alarm;
}

export class Outstanding {
  readonly #clock: LaneClock;
  readonly #timers = new Map<number, Timer>();
  /** By a number that is never reused: the cell that made the request may have been replaced. */
  readonly #requests = new Map<number, { guestRequest: number; call: number }>();
  #nextRequest = 1;

  constructor(clock: LaneClock) {
    this.#clock = clock;
  }

  /** `due` is called when the time has come. The turn follows later, see `takeTimer`. */
  startTimer(timer: number, ms: number, due: (timer: Timer) => void): void {
    this.stopTimer(timer);
    const started: Timer = { alarm: this.#clock.set(ms, () => due(started)) };
    this.#timers.set(timer, started);
  }

  stopTimer(timer: number): void {
    const started = this.#timers.get(timer);
    if (!started) return;
    this.#clock.clear(started.alarm);
    this.#timers.delete(timer);
  }

  /** The turn of a timer comes up. False: the plugin stopped it meanwhile. */
  takeTimer(timer: number, started: Timer): boolean {
    return this.#timers.get(timer) === started && this.#timers.delete(timer);
  }

  /** Gives the number under which the lane sends the request. */
  request(guestRequest: number, call: number): number {
    const request = this.#nextRequest++;
    this.#requests.set(request, { guestRequest, call });
    return request;
  }

  /** Gives the request once; undefined: an earlier cell made it, or it was answered before. */
  take(request: number): { guestRequest: number; call: number } | undefined {
    const started = this.#requests.get(request);
    this.#requests.delete(request);
    return started;
  }

  stop(): void {
    for (const { alarm } of this.#timers.values()) this.#clock.clear(alarm);
    this.#timers.clear();
    this.#requests.clear();
  }
}
