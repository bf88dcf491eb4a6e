/**
 * Trusted side: a slot for one unit, with the lanes that live in it. The slot replaces a unit that dies, and one that
 * has to go, without waiting for its end. The lanes stay.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { errorMessage } from "../../protocol/errors.ts";
import { TURN_OF } from "../../transport/lane-status.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { LaneClient } from "./lane-client.ts";
import type { LaneUnit } from "./unit.ts";
import { Watchdog } from "./watchdog.ts";
import type { Diagnosis, WatchdogOptions } from "./watchdog.ts";

export interface UnitSlotOptions {
  readonly lanes: readonly LaneClient[];
  readonly memoryBytes: number;
  /** A unit that has started, or is about to. */
  takeUnit(lanes: number): LaneUnit;
  cpuMsOf(lane: LaneClient, cell: number, isLoad: boolean): number | undefined;
  greeting(lane: LaneClient): string[];
  came(unit: LaneUnit): void;
  went(): void;
  /** The unit is lost or given up. Called before the next one starts, so that the host can handle the culprit first. */
  /** `input`: of the run that the culprit executed, if that is known. */
  lost(diagnosis: Diagnosis, input: object | undefined): void;
}

const KILLED = /SIGKILL|exited with 137/;
const ASKED_TO_END = /SIGTERM|exited with 143/;
/** How often `idle` looks. */
const IDLE_STEP_MS = 5;

export class UnitSlot {
  readonly lanes: readonly LaneClient[];
  readonly #options: UnitSlotOptions;
  readonly #stop = new AbortController();
  readonly #ending = new Set<Promise<void>>();
  #watchdog: Watchdog | undefined;
  #lossesMs: number[] = [];
  unit: LaneUnit | undefined;
  #isLaunched = false;

  constructor(options: UnitSlotOptions) {
    this.#options = options;
    this.lanes = options.lanes;
  }

  /** Starts the first unit, once. */
  launch(): void {
    if (this.#isLaunched || this.#stop.signal.aborted) return;
    this.#isLaunched = true;
    this.#occupy();
  }

  /** Ends the unit, whatever it is doing, and starts another. */
  async replace(diagnosis: Diagnosis): Promise<void> {
    const { unit } = this;
    if (!unit) return;
    this.unit = undefined;
    this.#watchdog?.stop();
    for (const lane of this.lanes) lane.hold();
    const stuck = diagnosis.lane === undefined ? undefined : this.lanes[diagnosis.lane];
    const input = diagnosis.culprit && stuck?.inputOf(diagnosis.culprit.run);
    stuck?.disconnect(diagnosis);
    this.#options.lost(diagnosis, input);
    const others = this.lanes.filter((lane) => lane !== stuck);
    await idle(others);
    this.#vacate(unit, diagnosis.why);
    // A culprit is not loaded into the next unit, so there is no need to back off.
    await this.#next(diagnosis.culprit ? 0 : this.#backOff());
  }

  /** Was one of its lanes seen inside a turn in the last milliseconds? */
  isInTurn(lane: LaneClient, withinMs: number): boolean {
    return this.#watchdog?.hasSeen(this.lanes.indexOf(lane), withinMs) ?? false;
  }

  /** One of the unit's links has ended. If the unit itself has ended, its exit will say why in a moment. */
  linkEnded(why: string, isBroken: boolean): void {
    const { unit } = this;
    const replace = (): void => {
      // Of a process that is gone only the exit leads to the plugin that ended it: the watchdog waits for it.
      if (this.unit !== unit || this.#stop.signal.aborted || (!isBroken && this.#watchdog?.isGone)) return;
      const detail = errorMessage(isBroken ? "ERR_SANDBOX_PROTOCOL" : "ERR_SANDBOX_LINK", { detail: why });
      void this.replace({ why: detail });
    };
    if (isBroken) replace();
    else setTimeout(replace, LIMITS.sandbox.linkEndMs).unref();
  }

  async close(): Promise<void> {
    this.#stop.abort();
    this.#watchdog?.stop();
    const { unit } = this;
    if (unit) {
      this.unit = undefined;
      this.#vacate(unit, "the host was closed");
    } else {
      for (const lane of this.lanes) lane.disconnect({ why: "the host was closed", isFinal: true });
    }
    await Promise.all(this.#ending);
  }

  #occupy(): void {
    const unit = this.#options.takeUnit(this.lanes.length);
    this.unit = unit;
    for (const [at, lane] of this.lanes.entries()) lane.connect(unit.links[at]!, this.#options.greeting(lane));
    this.#watchdog = new Watchdog(unit, this.#watch());
    unit.onLinkEnd?.((why, isBroken) => this.unit === unit && this.linkEnded(why, isBroken));
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
      isOver: ({ lane, run, step }) => run > 0 && this.lanes[lane]!.isAnswered(run, step),
      isBusyBeside: (lane) => this.lanes.some(({ isBusy }, at) => at !== lane && isBusy),
      replace: (diagnosis) => void this.replace(diagnosis),
    };
  }

  async #died(unit: LaneUnit, why: string): Promise<void> {
    // It was given up, and is replaced already.
    if (this.unit !== unit) return;
    this.unit = undefined;
    const watchdog = this.#watchdog;
    watchdog?.stop();
    const diagnosis = watchdog ? diagnosed(watchdog, why) : { why };
    const stuck = diagnosis.lane === undefined ? undefined : this.lanes[diagnosis.lane];
    const input = diagnosis.culprit && stuck?.inputOf(diagnosis.culprit.run);
    stuck?.disconnect(diagnosis);
    this.#vacate(unit, why);
    if (this.#stop.signal.aborted) return;
    this.#options.lost(diagnosis, input);
    await this.#next(this.#backOff());
  }

  #vacate(unit: LaneUnit, why: string): void {
    this.#options.went();
    for (const lane of this.lanes) lane.disconnect({ why, isFinal: this.#stop.signal.aborted });
    const ending = unit.close().finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }

  async #next(delayMs: number): Promise<void> {
    if (delayMs > 0) await sleep(delayMs, undefined, { signal: this.#stop.signal, ref: false }).catch(() => {});
    if (!this.#stop.signal.aborted) this.#occupy();
  }

  /** Units that keep dying are replaced ever more slowly. */
  #backOff(): number {
    const nowMs = performance.now();
    this.#lossesMs = [...this.#lossesMs.filter((atMs) => nowMs - atMs < 60_000), nowMs];
    const tooMany = this.#lossesMs.length - LIMITS.sandbox.restartsPerMinute;
    return tooMany < 0 ? 0 : Math.min(LIMITS.sandbox.restartBackoffMs * 2 ** tooMany, LIMITS.sandbox.restartBackoffMaxMs);
  }
}

/** A kill may come from outside; a crash happened inside the cell that was executing. */
function diagnosed(watchdog: Watchdog, why: string): Diagnosis {
  if (KILLED.test(why)) return watchdog.killed(why);
  return ASKED_TO_END.test(why) ? { why } : { why, ...watchdog.suspect() };
}

/** Waits until these lanes have answered everything, or time is up. */
async function idle(lanes: readonly LaneClient[]): Promise<void> {
  for (let ms = 0; ms < LIMITS.sandbox.drainLanesMs && lanes.some((lane) => lane.isBusy); ms += IDLE_STEP_MS) await sleep(IDLE_STEP_MS);
}
