/**
 * Untrusted side, lane thread: in a burst of calls a lane stays awake for a moment after it has answered. Waking a thread costs more than most calls. It looks
 * at its link again and again; an immediate lets the event loop turn in between, and keeps it from going to sleep.
 *
 * It can be worse than nothing: a gateway that has to be woken may be put onto the very CPU that the lane stays awake on, while others are idle, and then waits
 * until the lane gives up. Neither of them can see that, but the lane sees that it waited in vain, or that somebody else had its CPU meanwhile. Then it
 * leaves it out for a while.
 */
import { LIMITS } from "../protocol/limits.ts";

export interface LingerLane {
  /** Serves what has come. False: nothing has. */
  poll(): boolean;
  /** Does the event loop bring things that polling does not find? */
  readonly hasTwoWays: boolean;
  /** Do so many threads want a CPU that whoever stays awake is in the way? */
  isCrowded(): boolean;
  awake(): void;
  rests(): void;
}

export class Linger {
  readonly #lane: LingerLane;
  isOn = false;
  #untilMs = 0;
  /** The last that came was found by looking: otherwise the event loop brings it, and shall not wait for us. */
  #isFound = true;
  #isPolling = false;
  /** When it last served something, and how much came in quick succession. */
  #servedMs = -Infinity;
  #burst = 0;
  /** Has anything come while it stayed awake? */
  #hasServed = false;
  /** How often in a row it was no use, and how often it is left out now. */
  #inVain = 0;
  #skips = 0;

  constructor(lane: LingerLane) {
    this.#lane = lane;
  }

  /** The lane has served so many messages. */
  begin(nowMs: number, messages: number): void {
    this.#untilMs = nowMs + LIMITS.lingerMs;
    this.#burst = nowMs - this.#servedMs < LIMITS.burstMs ? this.#burst + messages : messages;
    this.#servedMs = nowMs;
    this.#isFound = this.#isPolling || !this.#lane.hasTwoWays;
    if (this.isOn) {
      this.#hasServed = true;
      return;
    }
    if (this.#burst < LIMITS.burstMessages || this.#lane.isCrowded() || this.#skips-- > 0) return;
    this.isOn = true;
    this.#hasServed = false;
    this.#lane.awake();
    setImmediate(this.#look);
  }

  /** Stops at once. */
  end(): void {
    this.#untilMs = 0;
  }

  readonly #look = (): void => {
    let nowMs = performance.now();
    let untilMs = nowMs + LIMITS.lookMs;
    const latestMs = nowMs + LIMITS.lingerMs;
    let wasAway = false;
    do {
      const beforeMs = nowMs;
      this.#isPolling = true;
      const served = this.#lane.poll();
      this.#isPolling = false;
      nowMs = performance.now();
      wasAway = !served && nowMs - beforeMs > LIMITS.awayMs;
      // Whoever was just answered may be about to ask again: that is not the moment to let the event loop turn. For ever it cannot wait either.
      if (served) untilMs = Math.min(nowMs + LIMITS.lookMs, latestMs);
    } while (this.#isFound && !wasAway && nowMs < untilMs);
    if (!wasAway && nowMs < this.#untilMs) {
      setImmediate(this.#look);
      return;
    }
    this.isOn = false;
    this.#inVain = this.#hasServed && !wasAway ? 0 : this.#inVain + 1;
    // The last one of a burst is always in vain.
    this.#skips = this.#inVain < 2 ? 0 : Math.min(2 ** (this.#inVain - 2), LIMITS.lingerSkips);
    this.#lane.rests();
  };
}
