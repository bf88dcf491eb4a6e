/**
 * Trusted side: one place for a unit, with the lanes that live in it. The unit may change: one that dies is replaced, and so is one
 * that is condemned, without waiting for its death. The lanes go on.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { TURN_OF } from "../../protocol/gauge.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { LaneClient } from "./lane-client.ts";
import type { LaneUnit } from "./unit.ts";
import { Watchdog } from "./watchdog.ts";
import type { Verdict, WatchdogOptions } from "./watchdog.ts";

export interface BerthOptions {
  readonly lanes: readonly LaneClient[];
  readonly memoryBytes: number;
  /** A unit that is ready to be used, or nearly so. */
  takeUnit(lanes: number): LaneUnit;
  cpuMsOf(lane: LaneClient, cell: number, isLoad: boolean): number | undefined;
  greeting(lane: LaneClient): string[];
  came(unit: LaneUnit): void;
  went(): void;
  /** The unit is gone, or is given up: whoever is to blame must be known before the next one is started. */
  lost(verdict: Verdict): void;
}

const KILLED = /SIGKILL|SIGTERM|exited with (?:137|143)/;
/** How long `idle` looks before it looks again. */
const IDLE_STEP_MS = 5;

export class Berth {
  readonly lanes: readonly LaneClient[];
  readonly #options: BerthOptions;
  readonly #stop = new AbortController();
  readonly #ending = new Set<Promise<void>>();
  #watchdog: Watchdog | undefined;
  #deathsMs: number[] = [];
  unit: LaneUnit | undefined;
  #isLaunched = false;

  constructor(options: BerthOptions) {
    this.#options = options;
    this.lanes = options.lanes;
  }

  /** Starts the first unit; does nothing when that was done. */
  launch(): void {
    if (this.#isLaunched || this.#stop.signal.aborted) return;
    this.#isLaunched = true;
    this.#board();
  }

  /** Ends the unit, whatever it is doing; another takes its place. */
  async condemn(verdict: Verdict): Promise<void> {
    const { unit } = this;
    if (!unit) return;
    this.unit = undefined;
    this.#watchdog?.stop();
    for (const lane of this.lanes) lane.hold();
    const stuck = verdict.lane === undefined ? undefined : this.lanes[verdict.lane];
    stuck?.disconnect(verdict);
    this.#options.lost(verdict);
    const others = this.lanes.filter((lane) => lane !== stuck);
    await idle(others);
    this.#leave(unit, verdict.why);
    // With a culprit to name there is nothing to wait for: it does not come along.
    await this.#next(verdict.culprit ? 0 : this.#backOff());
  }

  async close(): Promise<void> {
    this.#stop.abort();
    this.#watchdog?.stop();
    const { unit } = this;
    if (unit) {
      this.unit = undefined;
      this.#leave(unit, "the host was closed");
    } else {
      for (const lane of this.lanes) lane.disconnect({ why: "the host was closed", isFinal: true });
    }
    await Promise.all(this.#ending);
  }

  #board(): void {
    const unit = this.#options.takeUnit(this.lanes.length);
    this.unit = unit;
    for (const [at, lane] of this.lanes.entries()) lane.connect(unit.links[at]!, this.#options.greeting(lane));
    this.#watchdog = new Watchdog(unit, this.#watch());
    this.#options.came(unit);
    void unit.ended.then((why) => this.#died(unit, why));
  }

  #watch(): WatchdogOptions {
    return {
      memoryBytes: this.#options.memoryBytes,
      cpuMsOf: ({ lane: at, cell, run, step }) => {
        const lane = this.lanes[at]!;
        const ofCell = this.#options.cpuMsOf(lane, cell, run === 0 && step === TURN_OF.load);
        return ofCell === undefined ? undefined : (lane.cpuMsOf(run, step) ?? ofCell);
      },
      isOverdue: () => this.lanes.some((lane) => lane.isOverdue),
      condemn: (verdict) => void this.condemn(verdict),
    };
  }

  async #died(unit: LaneUnit, why: string): Promise<void> {
    // It was condemned, and is replaced already.
    if (this.unit !== unit) return;
    this.unit = undefined;
    const watchdog = this.#watchdog;
    watchdog?.stop();
    // One that was killed may have been killed by anybody; one that crashed did so inside the cell it was in.
    const verdict: Verdict = { why, ...(KILLED.test(why) ? {} : watchdog?.suspect()) };
    if (verdict.lane !== undefined) this.lanes[verdict.lane]?.disconnect(verdict);
    this.#leave(unit, why);
    if (this.#stop.signal.aborted) return;
    this.#options.lost(verdict);
    await this.#next(this.#backOff());
  }

  #leave(unit: LaneUnit, why: string): void {
    this.#options.went();
    for (const lane of this.lanes) lane.disconnect({ why, isFinal: this.#stop.signal.aborted });
    const ending = unit.close().finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }

  async #next(delayMs: number): Promise<void> {
    if (delayMs > 0) await sleep(delayMs, undefined, { signal: this.#stop.signal, ref: false }).catch(() => {});
    if (!this.#stop.signal.aborted) this.#board();
  }

  /** One that keeps dying is started again ever more slowly. */
  #backOff(): number {
    const nowMs = performance.now();
    this.#deathsMs = [...this.#deathsMs.filter((atMs) => nowMs - atMs < 60_000), nowMs];
    const tooMany = this.#deathsMs.length - LIMITS.restartsPerMinute;
    return tooMany < 0 ? 0 : Math.min(LIMITS.restartBackoffMs * 2 ** tooMany, LIMITS.restartBackoffMaxMs);
  }
}

/** Until none of them has anything to answer any more, or time is up. */
async function idle(lanes: readonly LaneClient[]): Promise<void> {
  for (let ms = 0; ms < LIMITS.drainLanesMs && lanes.some((lane) => lane.isBusy); ms += IDLE_STEP_MS) await sleep(IDLE_STEP_MS);
}
