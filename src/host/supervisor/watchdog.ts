/**
 * Trusted side: looks after one unit. The unit's stall detector reports long turns; the watchdog pings the process and
 * reads its memory. When V8 cannot stop a turn, or the process does not answer or takes too much memory, the watchdog
 * has the unit replaced, and names the cell that was executing. It runs in the gateway's process, where no plugin can
 * starve it.
 */
import { setImmediate } from "node:timers";
import { errorMessage } from "../../protocol/errors.ts";
import { LIMITS, turnMs } from "../../protocol/limits.ts";
import type { StalledTurn } from "../../protocol/messages/host-lane.ts";
import { failure } from "./unit-loss.ts";
import type { Culprit } from "./unit-loss.ts";
import { Growth } from "./memory-growth.ts";
import type { LaneUnit } from "./unit.ts";

/** A turn that was reported at most this many looks before the unit's last sign of life, and is not known to be over, still lasts. */
const FRESH_LOOKS = 4;

/**
 * A process that is too large, without a cell that explains it: how long the stall detector, which may have to wait for a CPU, has to report
 * who grew, unless the process grows on to so many times its limit.
 */
const EXPLAIN_MS = 300;
const EXPLAIN_FACTOR = 1.5;

export interface Diagnosis {
  readonly why: string;
  /** The culprit's lane, if one lane is to blame. */
  readonly lane?: number;
  readonly culprit?: Culprit;
  readonly begun?: number;
  /** It died by itself, and no turn was seen to last: a load that had just begun may be the reason. */
  readonly isCrash?: boolean;
}

export interface WatchdogOptions {
  readonly memoryBytes: number;
  /** CPU budget of a turn; undefined: no such cell is in that lane. */
  cpuMsOf(turn: StalledTurn): number | undefined;
  /** Has the unit a run that it should have answered by now? */
  isOverdue(): boolean;
  /** Is a turn over, according to its run? */
  isOver(turn: StalledTurn): boolean;
  /** Is any other lane of the unit busy? */
  isBusyBeside(lane: number): boolean;
  replace(diagnosis: Diagnosis): void;
}

/** A turn as it was last reported. */
interface Sight {
  readonly turn: StalledTurn;
  readonly atMs: number;
  /** How many reports in a row found the thread asleep, with no CPU time in between. */
  readonly idleLooks: number;
  /** CPU time of the turn when the host first knew that V8 was told to stop it. */
  readonly lateCpuMs: number | undefined;
  /** It has used up its CPU time: its cell is at fault, whatever comes of it. */
  readonly isSpent: boolean;
}

export class Watchdog {
  readonly #unit: LaneUnit;
  readonly #options: WatchdogOptions;
  #timer: NodeJS.Timeout | undefined;
  /** Looks since the last beat. Looks rather than time, so that a gateway that was busy itself replaces no unit. */
  #silent = 0;
  /** When it last reported anything, or answered. */
  #signMs = performance.now();
  /** Its memory at the last look. */
  #bytes: number | undefined;
  /** Since when the process is too large and no cell explains it. */
  #unexplainedMs: number | undefined;
  /** Since when its memory cannot be read any more. */
  #goneMs: number | undefined;
  /** The last long turn of each lane. */
  readonly #sights = new Map<number, Sight>();
  readonly #growth = new Growth();

  constructor(unit: LaneUnit, options: WatchdogOptions) {
    this.#unit = unit;
    this.#options = options;
    unit.observe({
      stalled: (turn) => this.#stalled(turn),
      grown: (growth) => this.#growth.reported(growth),
      beat: () => this.#hear(),
      protocolError: (why) => this.#replace({ why: errorMessage("ERR_SANDBOX_PROTOCOL", { detail: why }) }),
    });
    this.#look();
  }

  /** Its memory was known, and is not any more: its main thread has ended. The exit of the process may not have been told yet. */
  get isGone(): boolean {
    return this.#bytes !== undefined && this.#unit.rssBytes?.() === undefined;
  }

  #hear(): void {
    this.#silent = 0;
    this.#signMs = performance.now();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /**
   * More often while a run is overdue; a look costs a file read and a ping. A busy event loop runs timers before it
   * reads sockets, so an immediate lets it first read what the sandbox has reported meanwhile.
   */
  #look(): void {
    const isOverdue = this.#options.isOverdue();
    const isUnexplained = this.#unexplainedMs !== undefined;
    const paceMs = isUnexplained ? LIMITS.sandbox.watchMs : isOverdue ? LIMITS.sandbox.superviseMs : LIMITS.sandbox.memoryMs;
    this.#timer = setTimeout(() => setImmediate(() => this.#timer && this.#look()), paceMs).unref();
    const bytes = this.#unit.rssBytes?.();
    this.#bytes = bytes ?? this.#bytes;
    if (bytes !== undefined && this.#checkMemory(bytes)) return;
    if (bytes === undefined && this.#bytes !== undefined) return this.#awaitExit();
    this.#goneMs = undefined;
    if (!isOverdue || !this.#unit.ping) {
      this.#silent = 0;
      return;
    }
    // At a faster pace as well it has as long to answer.
    if (!isUnexplained) this.#silent += 1;
    if (this.#silent > LIMITS.sandbox.lostBeats) return this.#replace({ why: errorMessage("ERR_SANDBOX_FROZEN"), ...this.#spender() });
    this.#unit.ping();
  }

  /** SECURITY: a process whose other threads go on without the main one would be measured by nobody. test/host/supervisor/watchdog.test.ts */
  #awaitExit(): void {
    this.#goneMs ??= performance.now();
    if (performance.now() - this.#goneMs >= LIMITS.sandbox.exitMs)
      this.#replace({ why: errorMessage("ERR_SANDBOX_FROZEN"), ...this.#spender() });
  }

  /** True: the process is too large, and is replaced. */
  #checkMemory(bytes: number): boolean {
    const { memoryBytes } = this.#options;
    if (bytes <= memoryBytes) {
      this.#unexplainedMs = undefined;
      if (this.#growth.note(bytes, memoryBytes)) this.#unit.tighten?.();
      return false;
    }
    const lasting = this.#lasting().map(({ turn }) => turn);
    const culprit = this.#growth.culprit(bytes, lasting);
    const why = errorMessage("ERR_SANDBOX_MEMORY", { mb: Math.round(bytes / 2 ** 20), limit: Math.round(memoryBytes / 2 ** 20) });
    if (culprit) {
      this.#replace({ why, ...culprit });
      return true;
    }
    this.#unexplainedMs ??= performance.now();
    if (bytes < memoryBytes * EXPLAIN_FACTOR && performance.now() - this.#unexplainedMs < EXPLAIN_MS) return false;
    this.#replace({ why: `${why}; no single plugin explains it` });
    return true;
  }

  /** Turns that last at this moment, as far as the host knows: a unit that reports nothing any more is where it was. */
  #lasting(): Sight[] {
    const sinceMs = this.#signMs - LIMITS.sandbox.watchMs * FRESH_LOOKS;
    return [...this.#sights.values()].filter(({ atMs, turn }) => atMs >= sinceMs && !this.#options.isOver(turn));
  }

  /** The one turn that lasts although its CPU time is used up: if the unit crashes or freezes, it is the reason. Undefined: none, or several. */
  #spender(): Pick<Diagnosis, "lane" | "culprit" | "begun"> | undefined {
    const [sight, ...others] = this.#lasting().filter(({ isSpent }) => isSpent);
    return sight && others.length === 0 ? blame(sight.turn, sight.idleLooks > 0) : undefined;
  }

  /** Was a turn reported from this lane in the last milliseconds? Its run may be answered by now, because it was late. */
  hasSeen(lane: number, withinMs: number): boolean {
    return (this.#sights.get(lane)?.atMs ?? -Infinity) >= performance.now() - withinMs;
  }

  #stalled(turn: StalledTurn): void {
    this.#hear();
    const cpuMs = this.#options.cpuMsOf(turn);
    if (cpuMs === undefined)
      return this.#replace({ why: errorMessage("ERR_SANDBOX_PROTOCOL", { detail: "a turn of a cell that is not in that lane" }) });
    // The sandbox reports the timeout that V8 was given. It cannot be longer than the longest one there is.
    const allowedMs = Math.min(turn.limitMs, turnMs(cpuMs));
    const isLate = turn.isStopped === true || turn.stalledMs >= allowedMs;
    const sight = this.#see(turn, isLate, cpuMs);
    if (!isLate) return;
    const isParked = sight.idleLooks >= LIMITS.sandbox.parkedLooks;
    if (!isParked && !isWedged(turn, sight, cpuMs, allowedMs)) {
      // No plugin is to blame for CPU time that the thread did not get.
      const ms = Math.round(turn.stalledMs);
      if (turn.stalledMs >= Math.max(LIMITS.sandbox.starvedMs, allowedMs * LIMITS.sandbox.stuckFactor))
        this.#replace({ why: errorMessage("ERR_SANDBOX_STUCK", { ms }) });
      return;
    }
    this.#replace({ why: errorMessage("ERR_SANDBOX_WEDGED", { ms: Math.round(turn.stalledMs) }), ...blame(turn, isParked) });
  }

  #see(turn: StalledTurn, isLate: boolean, budgetMs: number): Sight {
    const last = this.#sights.get(turn.lane);
    const before = last?.turn.turn === turn.turn && last.turn.cell === turn.cell ? last : undefined;
    const isIdle = before !== undefined && turn.isAsleep === true && turn.cpuMs !== undefined && turn.cpuMs === before.turn.cpuMs;
    const sight: Sight = {
      turn,
      atMs: performance.now(),
      idleLooks: isIdle ? before.idleLooks + 1 : 0,
      lateCpuMs: before?.lateCpuMs ?? (isLate ? turn.cpuMs : undefined),
      isSpent: isLate && (turn.isStopped === true || (turn.cpuMs ?? 0) >= budgetMs),
    };
    this.#sights.set(turn.lane, sight);
    return sight;
  }

  /**
   * The unit died by itself. The cell that was executing is named if there is no doubt: its CPU time was used up, or one turn lasted and no
   * other lane was busy.
   */
  suspect(): Partial<Diagnosis> {
    const [sight, ...others] = this.#lasting();
    if (!sight) return { isCrash: true };
    const isAlone = others.length === 0 && !this.#options.isBusyBeside(sight.turn.lane);
    return this.#spender() ?? (isAlone ? blame(sight.turn, true) : {});
  }

  /**
   * The unit was ended by SIGKILL: by anybody, or by the kernel for lack of memory. If it was filling its memory, `why` says so, and a cell is named
   * that took as much of it as one must have taken before a process at its limit is replaced in its name.
   */
  killed(why: string): Diagnosis {
    const { memoryBytes } = this.#options;
    const { tightMemory, growthShare } = LIMITS.sandbox;
    const bytes = this.#bytes ?? 0;
    if (bytes < memoryBytes * tightMemory) return { why };
    const lasting = this.#lasting().map(({ turn }) => turn);
    const culprit = this.#growth.culprit(bytes, lasting, memoryBytes * (1 - tightMemory) * growthShare);
    const [mb, limit] = [Math.round(bytes / 2 ** 20), Math.round(memoryBytes / 2 ** 20)];
    return { why: errorMessage("ERR_SANDBOX_KILLED", { detail: why, mb, limit }), ...culprit };
  }

  #replace(diagnosis: Diagnosis): void {
    if (this.#timer === undefined) return;
    this.stop();
    this.#options.replace(diagnosis);
  }
}

/**
 * V8 was told to stop the turn, and cannot: the thread has used its budget, and then a good deal of CPU time more. A
 * thread that waits for a CPU, or for the lock that isolated-vm's timer holds while it stops the turn, uses none,
 * however long that takes.
 */
function isWedged({ stalledMs, cpuMs }: StalledTurn, { lateCpuMs }: Sight, budgetMs: number, allowedMs: number): boolean {
  if (cpuMs === undefined || lateCpuMs === undefined) return stalledMs >= allowedMs * LIMITS.sandbox.stuckFactor;
  // Until V8 was told, the thread cannot have used more CPU time than wall time.
  return cpuMs >= budgetMs + LIMITS.call.stopCpuMs && cpuMs - Math.min(lateCpuMs, allowedMs) >= LIMITS.call.stopCpuMs;
}

/** V8 parks a thread inside a cell that has run out of memory. */
function blame(turn: StalledTurn, isMemory: boolean): Pick<Diagnosis, "lane" | "culprit" | "begun"> {
  const { lane, cell, run, step, begun, stalledMs, cpuMs } = turn;
  const status = isMemory ? "memory" : "cpu";
  const answer = {
    ...failure(status, "ERR_CALL_WEDGED", { ms: Math.round(stalledMs) }),
    wallUs: Math.round(stalledMs * 1000),
    cpuUs: Math.round((cpuMs ?? 0) * 1000),
  };
  return { lane, begun, culprit: { cell, run, step, answer } };
}
