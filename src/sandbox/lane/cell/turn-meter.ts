/**
 * Untrusted side, lane thread: measures the turns of one cell and charges them to its plugin. A turn's CPU time is this
 * thread's CPU time while it is inside the cell. The thread's CPU clock ticks in milliseconds, and reading it costs
 * more than a short turn. So a short turn is charged its wall time, and the clock is read for long turns only.
 */
import { LIMITS } from "../../../protocol/limits.ts";
import type { SlotEvents } from "./slot-lane.ts";

/** The thread's CPU clock when it was last read after a turn. */
let markUs = threadCpuUs();
/** What all turns of this lane were charged: until now, and until the mark. */
let totalUs = 0;
let totalAtMarkUs = 0;

export class TurnMeter {
  readonly #cell: number;
  readonly #events: SlotEvents;
  /** Whether a call waits for the work that is being measured. */
  #isAwaited = true;
  /** CPU time that was not reported yet, and the time that kept neighbours waiting. */
  #spentUs = 0;
  #heldUs = 0;
  /** The part of it that the plugin took by itself: no call waited for it. */
  #ownUs = 0;
  /** How many of the next turns read the CPU clock before they start, too. */
  #wary = 0;
  #beganUs: number | undefined;
  /** When the current turn started, and how long the last one took. */
  startedMs = 0;
  tookMs = 0;
  /** The last turn was short. A cell whose last turn was long, or that has not run yet, may take long again. */
  isQuick = false;

  constructor(cell: number, events: SlotEvents) {
    this.#cell = cell;
    this.#events = events;
  }

  /** Call it just before the cell is entered. `isExact`: reads the CPU clock in any case. */
  begin(isExact = false): void {
    this.#beganUs = isExact || this.#wary > 0 ? threadCpuUs() : undefined;
    if (this.#wary > 0) this.#wary -= 1;
    this.startedMs = performance.now();
  }

  /**
   * Call it just after the cell was left. Charges the turn and gives its CPU time. `isAwaited`: a call waits for the
   * turn.
   */
  end(isAwaited = true): number {
    this.tookMs = performance.now() - this.startedMs;
    const cpuUs = turnCpuUs(this.tookMs, this.#beganUs);
    this.isQuick = this.tookMs < LIMITS.lane.quickTurnMs;
    if (!this.isQuick) this.#wasLong(cpuUs, isAwaited);
    else if (!isAwaited) this.#held(cpuUs, isAwaited);
    this.charge(cpuUs);
    return cpuUs;
  }

  charge(us: number): void {
    this.#spentUs += us;
    if (this.#spentUs < LIMITS.lane.cpuReportUs) return;
    this.#events.spent(this.#cell, this.#spentUs, this.#heldUs, this.#ownUs);
    this.#spentUs = 0;
    this.#heldUs = 0;
    this.#ownUs = 0;
  }

  /**
   * Charges the cell for work that the lane does because of it: work that no call waits for, or that takes long. Turns
   * of other cells inside that work are charged to those cells. Work inside it is awaited if it is.
   */
  measure(work: () => void, isAwaited = this.#isAwaited): void {
    const wasAwaited = this.#isAwaited;
    this.#isAwaited = isAwaited;
    const startedMs = performance.now();
    const chargedBeforeUs = totalUs;
    try {
      work();
    } finally {
      this.#isAwaited = wasAwaited;
    }
    const tookMs = performance.now() - startedMs - (totalUs - chargedBeforeUs) / 1000;
    const cpuUs = turnCpuUs(Math.max(tookMs, 0));
    this.#held(cpuUs, isAwaited);
    if (tookMs >= LIMITS.lane.quickTurnMs) this.#events.long();
    this.charge(cpuUs);
  }

  /** As `measure`, for work without turns that began at `startedMs`. */
  chargeSince(startedMs: number): void {
    const tookMs = performance.now() - startedMs;
    const cpuUs = turnCpuUs(tookMs);
    this.#heldUs += cpuUs;
    if (tookMs >= LIMITS.lane.quickTurnMs) this.#events.long();
    this.charge(cpuUs);
  }

  /**
   * Neighbours waited for the whole turn, unless the machine was busy and the thread hardly had a CPU. That is known
   * only if the CPU clock was read before the turn, so the next turns read it.
   */
  #wasLong(cpuUs: number, isAwaited: boolean): void {
    if (this.#beganUs !== undefined)
      this.#held(cpuUs >= LIMITS.lane.quickTurnMs * 1000 ? Math.round(this.tookMs * 1000) : cpuUs, isAwaited);
    this.#wary = LIMITS.lane.waryTurns;
    this.#events.long();
  }

  #held(us: number, isAwaited: boolean): void {
    this.#heldUs += us;
    if (!isAwaited) this.#ownUs += us;
  }
}

/**
 * `beganUs` is the CPU clock before the turn. Without it a long turn is charged everything since the mark that no turn
 * was charged for, which includes the lane's own work.
 */
function turnCpuUs(wallMs: number, beganUs?: number): number {
  const wallUs = Math.round(wallMs * 1000);
  if (wallMs < LIMITS.lane.quickTurnMs) {
    totalUs += wallUs;
    return wallUs;
  }
  const nowUs = threadCpuUs();
  const spentUs = beganUs === undefined ? nowUs - markUs - (totalUs - totalAtMarkUs) : nowUs - beganUs;
  const chargedUs = Math.min(Math.max(spentUs, 0), wallUs);
  markUs = nowUs;
  totalUs += chargedUs;
  totalAtMarkUs = totalUs;
  return chargedUs;
}

function threadCpuUs(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}
