/**
 * Trusted side: keeps a unit warm, so that the gap is short when one is lost. No plugin has run in it. It takes as much memory as a
 * sandbox without plugins, so there is none until a plugin is loaded.
 */
import { LIMITS } from "../../protocol/limits.ts";
import type { LaneUnit } from "./unit.ts";

export class Spare {
  readonly #start: () => LaneUnit;
  readonly #isWanted: boolean;
  #unit: LaneUnit | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** When the first unit was taken; 0: none was. */
  #firstMs = 0;
  #isNeeded = false;
  #isClosed = false;

  constructor(start: () => LaneUnit, isWanted: boolean) {
    this.#start = start;
    this.#isWanted = isWanted;
  }

  get unit(): LaneUnit | undefined {
    return this.#unit;
  }

  /** A plugin is loaded: from now on there is something to protect. */
  need(): void {
    if (this.#isNeeded) return;
    this.#isNeeded = true;
    this.prepare(Math.max(0, this.#firstMs + LIMITS.sandbox.spareDelayMs - performance.now()));
  }

  /** Starts a spare after a delay, unless there is one. */
  prepare(delayMs: number): void {
    if (!this.#isWanted || !this.#isNeeded || this.#isClosed || this.#unit) return;
    this.#timer ??= setTimeout(() => this.fill(), delayMs).unref();
  }

  /** Gives the spare, or a fresh unit, and prepares the next spare. */
  take(): LaneUnit {
    const unit = this.#unit ?? this.#start();
    this.#unit = undefined;
    this.prepare(this.#firstMs === 0 ? LIMITS.sandbox.spareDelayMs : LIMITS.sandbox.spareAgainMs);
    this.#firstMs ||= performance.now();
    return unit;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#unit?.close();
  }

  /** Starts a spare now, unless there is one. */
  fill(): void {
    this.#timer = undefined;
    if (this.#isClosed || this.#unit) return;
    const unit = this.#start();
    this.#unit = unit;
    void unit.ended.then(() => {
      if (this.#unit !== unit) return;
      // The unit died although no plugin ran in it, so the machine has a problem, and an immediate retry would not
      // help.
      this.#unit = undefined;
      void unit.close();
      this.prepare(LIMITS.sandbox.restartBackoffMaxMs);
    });
  }
}
