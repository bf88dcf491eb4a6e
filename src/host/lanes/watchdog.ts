/**
 * Trusted side: looks after one unit. It is told of turns that last by a thread that runs no plugin code, asks for a sign of
 * life, and reads how much memory the process takes; when a turn cannot be stopped, the process does not answer or takes too much, it says
 * so, and who was executing. It runs in the gateway's process, where no plugin can starve it.
 */
import { setImmediate } from "node:timers";
import { errorMessage } from "../../protocol/errors.ts";
import { LIMITS, turnMs } from "../../protocol/limits.ts";
import type { HeldTurn } from "../../protocol/messages.ts";
import { failure } from "./death.ts";
import type { Culprit } from "./death.ts";
import type { LaneUnit } from "./unit.ts";

export interface Verdict {
  readonly why: string;
  /** Whose lane it is, if one lane is to blame. */
  readonly lane?: number;
  readonly culprit?: Culprit;
  readonly begun?: number;
}

export interface WatchdogOptions {
  readonly memoryBytes: number;
  /** The CPU time that a turn may take; undefined: no such cell is in that lane. */
  cpuMsOf(turn: HeldTurn): number | undefined;
  /** Is there something in the unit that should have been answered by now? */
  isOverdue(): boolean;
  condemn(verdict: Verdict): void;
}

export class Watchdog {
  readonly #unit: LaneUnit;
  readonly #options: WatchdogOptions;
  #timer: NodeJS.Timeout | undefined;
  /** Looks since the last sign of life; counted in looks, so that a gateway that was busy itself does not condemn anybody. */
  #silent = 0;
  #lastHeld: { readonly turn: HeldTurn; readonly atMs: number; readonly idleLooks: number } | undefined;

  constructor(unit: LaneUnit, options: WatchdogOptions) {
    this.#unit = unit;
    this.#options = options;
    unit.watch({
      held: (turn) => this.#held(turn),
      beat: () => {
        this.#silent = 0;
      },
      nonsense: (why) => this.#condemn({ why: errorMessage("ERR_SANDBOX_PROTOCOL", { detail: why }) }),
    });
    this.#look();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /**
   * Closer while something is overdue; it costs a file read and a ping. A loop that was busy runs its timers before it reads what has come meanwhile: what the sandbox has said by
   * now, of who is executing and that it lives, is heard first.
   */
  #look(): void {
    const isOverdue = this.#options.isOverdue();
    const paceMs = isOverdue ? LIMITS.superviseMs : LIMITS.watchIdleMs;
    this.#timer = setTimeout(() => setImmediate(() => this.#timer && this.#look()), paceMs).unref();
    const bytes = this.#unit.residentBytes?.();
    if (bytes !== undefined && bytes > this.#options.memoryBytes) return this.#tooLarge(bytes);
    if (!isOverdue || !this.#unit.ping) {
      this.#silent = 0;
      return;
    }
    this.#silent += 1;
    if (this.#silent > LIMITS.lostBeats) return this.#condemn({ why: errorMessage("ERR_SANDBOX_FROZEN"), ...this.suspect() });
    this.#unit.ping();
  }

  #tooLarge(bytes: number): void {
    const why = errorMessage("ERR_SANDBOX_MEMORY", {
      mb: Math.round(bytes / 2 ** 20),
      limit: Math.round(this.#options.memoryBytes / 2 ** 20),
    });
    this.#condemn({ why, ...this.suspect() });
  }

  #held(turn: HeldTurn): void {
    this.#silent = 0;
    const cpuMs = this.#options.cpuMsOf(turn);
    if (cpuMs === undefined)
      return this.#condemn({ why: errorMessage("ERR_SANDBOX_PROTOCOL", { detail: "a turn of a cell that is not there" }) });
    const idleLooks = this.#idleLooks(turn);
    this.#lastHeld = { turn, atMs: performance.now(), idleLooks };
    // What V8 was told, as the sandbox says; it may not say more than it could have told it.
    const allowedMs = Math.min(turn.limitMs, turnMs(cpuMs));
    // On a busy machine V8's own clock is late, too.
    if (turn.heldMs < allowedMs + Math.max(LIMITS.stopGraceMs, allowedMs / 4)) return;
    const isParked = idleLooks >= LIMITS.parkedLooks;
    // A thread that would run and is not let: the machine is too busy, and V8 has not got round to stopping it.
    const isStarved = turn.cpuMs !== undefined && turn.cpuMs < cpuMs && !isParked;
    if (isStarved && turn.heldMs < allowedMs * LIMITS.stuckFactor) return;
    this.#condemn({ why: errorMessage("ERR_SANDBOX_WEDGED", { ms: Math.round(turn.heldMs) }), ...blame(turn, isParked) });
  }

  /** How often in a row the thread was found asleep in the same turn, without having run in between. */
  #idleLooks(turn: HeldTurn): number {
    const last = this.#lastHeld;
    const isSame = last?.turn.lane === turn.lane && last.turn.cell === turn.cell && last.turn.heldMs < turn.heldMs;
    if (!isSame || turn.isAsleep !== true || turn.cpuMs === undefined) return 0;
    return turn.cpuMs - (last.turn.cpuMs ?? 0) < 1 ? last.idleLooks + 1 : 0;
  }

  /** Who was inside a cell a moment ago. */
  suspect(): Partial<Verdict> {
    const held = this.#lastHeld;
    return held && performance.now() - held.atMs < LIMITS.watchMs * 4 ? blame(held.turn, true) : {};
  }

  #condemn(verdict: Verdict): void {
    if (this.#timer === undefined) return;
    this.stop();
    this.#options.condemn(verdict);
  }
}

/** A thread that sleeps inside a cell was parked by V8: it had run out of memory. */
function blame(turn: HeldTurn, isMemory: boolean): Pick<Verdict, "lane" | "culprit" | "begun"> {
  const { lane, cell, run, step, begun, heldMs, cpuMs } = turn;
  const status = isMemory ? "memory" : "cpu";
  const answer = {
    ...failure(status, "ERR_CALL_WEDGED", { ms: Math.round(heldMs) }),
    wallUs: Math.round(heldMs * 1000),
    cpuUs: Math.round((cpuMs ?? 0) * 1000),
  };
  return { lane, begun, culprit: { cell, run, step, answer } };
}
