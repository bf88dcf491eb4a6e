/** Trusted side: a unit that is kept warm, so that the gap is short when one dies. No plugin has ever been in it. */
import { LIMITS } from "../../protocol/limits.ts";
import type { LaneUnit } from "./unit.ts";

export class Spare {
  readonly #start: () => LaneUnit;
  readonly #isWanted: boolean;
  #unit: LaneUnit | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isFirst = true;
  #isClosed = false;

  constructor(start: () => LaneUnit, isWanted: boolean) {
    this.#start = start;
    this.#isWanted = isWanted;
  }

  /** Starts one in a while, unless there is one. */
  prepare(delayMs: number): void {
    if (!this.#isWanted || this.#isClosed || this.#unit) return;
    this.#timer ??= setTimeout(() => this.fill(), delayMs).unref();
  }

  /** The spare one, or else a fresh one; the next spare is on its way. */
  take(): LaneUnit {
    const unit = this.#unit ?? this.#start();
    this.#unit = undefined;
    this.prepare(this.#isFirst ? LIMITS.spareDelayMs : LIMITS.spareAgainMs);
    this.#isFirst = false;
    return unit;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#unit?.close();
  }

  /** Starts one now, unless there is one. */
  fill(): void {
    this.#timer = undefined;
    if (this.#isClosed || this.#unit) return;
    const unit = this.#start();
    this.#unit = unit;
    void unit.ended.then(() => {
      if (this.#unit !== unit) return;
      // It died without having done anything: the machine has a problem, and hurrying does not help.
      this.#unit = undefined;
      void unit.close();
      this.prepare(LIMITS.restartBackoffMaxMs);
    });
  }
}
