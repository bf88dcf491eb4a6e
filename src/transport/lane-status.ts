/**
 * Both sides: the status record of a lane: what its thread is doing at this moment, as numbers in memory that it shares
 * with the stall detector, a thread that runs no plugin code. So the stall detector knows which cell the lane is in,
 * and since when, even if the lane is inside a built-in that V8 cannot interrupt. Plain stores are enough: the stall
 * detector reads again and again, and the record of a stalled lane does not change.
 */
import { LIMITS } from "../protocol/limits.ts";

/** Odd while the thread is inside a cell: every entry and every exit adds one. */
const TURN = 0;
const CELL = 1;
/** The run: positive as numbered by the host, negative on a synchronous line, 0 for a turn that belongs to no run. */
const RUN = 2;
/** The step of the route; without a run, one of `TURN_OF`. */
const STEP = 3;
/** The newest run that the lane has begun. Later ones have only arrived. */
const BEGUN = 4;
/** The number by which thread-clock.ts finds the thread; 0: not known. */
const THREAD = 5;
/** The timeout that V8 was given for this turn. */
const LIMIT = 6;
/** Written by the stall detector: runnable threads per CPU, at least 1. */
const CPU_PRESSURE = 7;
/** Written by the stall detector: 1 once the lane has to report which cells grow. */
const TIGHT = 8;
/** Since then: the cell that grew most, by how much, and how much all other cells of the lane grew. */
const GREW_CELL = 9;
const GREW_BYTES = 10;
const GREW_OTHERS = 11;
/** CPU time in milliseconds that this turn may use; Infinity: no limit. */
const BUDGET = 12;
/** When the turn began, by a clock that all threads share. */
const STARTED = 13;
/** A reading of the thread's CPU clock, and when it was made: at the start of a turn, or a moment before. */
const MARK = 14;
const MARK_CPU = 15;
/** Written by the stall detector: the turn that has to be stopped, and 1 where it can read the thread's CPU clock at any time. */
const STOP = 16;
const STEADY = 17;
/** Written by the stopper: the turn that it stopped, and its cell. */
const STOPPED = 18;
const STOPPED_CELL = 19;
const FIELDS = 20;

/** Words to wait on, behind the fields. The stopper waits on the first; it leaves its wait for good if the second is 1. */
const WORDS = FIELDS * 2;
const STOPPER_SIGNAL = WORDS;
const STOPPER_LEAVES = WORDS + 1;
/** The stall detector waits here while the lanes are quiet. */
const DETECTOR_SIGNAL = WORDS + 2;
const WORD_COUNT = 4;

/** What the stopper needs to know, which is text in an isolate of its own; see sandbox/lane/cell/stopper.ts. */
export const STOPPER_FIELDS = { TURN, CELL, STOP, STOPPED, STOPPED_CELL, STOPPER_SIGNAL, STOPPER_LEAVES } as const;

/** A mark of the CPU clock is this old at most: reading the clock with every turn would cost more than a short turn. */
const MARK_MS = 10;

/** Purpose of a turn that belongs to no run. */
export const TURN_OF = { background: 0, load: 1 } as const;

export const LANE_STATUS_BYTES = FIELDS * Float64Array.BYTES_PER_ELEMENT + WORD_COUNT * Int32Array.BYTES_PER_ELEMENT;

/** By the clock that all threads share. */
const sharedMs = (ms: number): number => performance.timeOrigin + ms;

/** The lane's side, on the path of every call. */
export class LaneStatus {
  readonly memory: SharedArrayBuffer;
  readonly #at: Float64Array;
  readonly #words: Int32Array;
  /** When the CPU clock was last read, by this thread's clock. */
  #markedMs = -Infinity;

  constructor(memory: SharedArrayBuffer, thread: number) {
    this.memory = memory;
    this.#at = fieldsOf(memory);
    this.#words = new Int32Array(memory);
    this.#at[THREAD] = thread;
    this.#at[CPU_PRESSURE] ||= 1;
  }

  /** Is the turn of a cell with a stopper stopped when its CPU time is over, whatever the gateway does meanwhile? */
  get isSteady(): boolean {
    return this.#at[STEADY] === 1;
  }

  /** Has the stopper ended this cell? */
  isStopped(cell: number): boolean {
    return this.#at[STOPPED_CELL] === cell && this.#at[STOPPED]! > 0;
  }

  /** There is another cell in the slot. */
  forgetStop(cell: number): void {
    if (this.#at[STOPPED_CELL] === cell) this.#at[STOPPED] = 0;
  }

  /** Makes the stopper wait, or leave its wait. */
  setStopperWaits(isWaiting: boolean): void {
    Atomics.store(this.#words, STOPPER_LEAVES, isWaiting ? 0 : 1);
    if (!isWaiting) signal(this.#words, STOPPER_SIGNAL);
  }

  /** Runnable threads per CPU: how much longer than its CPU time a turn may take at present. */
  get cpuPressure(): number {
    return this.#at[CPU_PRESSURE]!;
  }

  /** Does the lane have to report which cells grow? */
  get isTight(): boolean {
    return this.#at[TIGHT] === 1;
  }

  grew(cell: number, bytes: number, others: number): void {
    const at = this.#at;
    at[GREW_CELL] = cell;
    at[GREW_BYTES] = bytes;
    at[GREW_OTHERS] = others;
  }

  begin(run: number): void {
    this.#at[BEGUN] = run;
  }

  /** Names the run of the next turn; without it, the turn belongs to no run. */
  attribute(run: number, step: number): void {
    this.#at[RUN] = run;
    this.#at[STEP] = step;
  }

  /** `budgetMs`: CPU time; the turn is stopped when it is over, if there is a stopper. */
  enter(cell: number, limitMs: number, budgetMs = Infinity, nowMs = performance.now()): void {
    const at = this.#at;
    at[CELL] = cell;
    at[LIMIT] = limitMs;
    at[BUDGET] = budgetMs;
    at[STARTED] = sharedMs(nowMs);
    if (nowMs - this.#markedMs > MARK_MS) this.#mark(nowMs);
    at[TURN]! += 1;
  }

  #mark(nowMs: number): void {
    const { user, system } = process.threadCpuUsage();
    this.#at[MARK] = sharedMs(nowMs);
    this.#at[MARK_CPU] = (user + system) / 1000;
    if (nowMs - this.#markedMs > LIMITS.sandbox.watchQuietMs) signal(this.#words, DETECTOR_SIGNAL);
    this.#markedMs = nowMs;
  }

  leave(): void {
    const at = this.#at;
    at[TURN]! += 1;
    at[RUN] = 0;
    at[STEP] = TURN_OF.background;
  }
}

/** A lane's status at one moment. */
export interface LaneSnapshot {
  readonly turn: number;
  readonly isInside: boolean;
  readonly cell: number;
  readonly run: number;
  readonly step: number;
  readonly begun: number;
  readonly thread: number;
  readonly limitMs: number;
  readonly budgetMs: number;
  /** How long before the turn the thread's CPU clock was read, and what it showed. */
  readonly markAgeMs: number;
  readonly markCpuMs: number;
}

function fieldsOf(memory: SharedArrayBuffer): Float64Array {
  return new Float64Array(memory, 0, FIELDS);
}

function signal(words: Int32Array, word: number): void {
  Atomics.add(words, word, 1);
  Atomics.notify(words, word);
}

/** The stall detector's side. */
export function setCpuPressure(memory: SharedArrayBuffer, cpuPressure: number): void {
  fieldsOf(memory)[CPU_PRESSURE] = cpuPressure;
}

export function setTight(memory: SharedArrayBuffer): void {
  fieldsOf(memory)[TIGHT] = 1;
}

export function setSteady(memory: SharedArrayBuffer): void {
  fieldsOf(memory)[STEADY] = 1;
}

/** Has the stopper end this turn, if it still lasts. */
export function stopTurn(memory: SharedArrayBuffer, turn: number): void {
  fieldsOf(memory)[STOP] = turn;
  signal(new Int32Array(memory), STOPPER_SIGNAL);
}

/** Resolves when the lane begins a turn after it was quiet. */
export async function untilActive(memory: SharedArrayBuffer): Promise<void> {
  const words = new Int32Array(memory);
  await Atomics.waitAsync(words, DETECTOR_SIGNAL, Atomics.load(words, DETECTOR_SIGNAL)).value;
}

/** Ends `untilActive`, which would keep its caller in memory for as long as the process lives. */
export function endWait(memory: SharedArrayBuffer): void {
  signal(new Int32Array(memory), DETECTOR_SIGNAL);
}

/** Is the lane still in that turn? */
export function isInTurn(memory: SharedArrayBuffer, turn: number): boolean {
  return fieldsOf(memory)[TURN] === turn;
}

/** Growth by cell, as the lane has measured it; undefined: none yet. */
export function growthOf(memory: SharedArrayBuffer): { cell: number; bytes: number; others: number } | undefined {
  const at = fieldsOf(memory);
  const bytes = at[GREW_BYTES]!;
  return bytes > 0 ? { cell: at[GREW_CELL]!, bytes, others: Math.max(0, at[GREW_OTHERS]!) } : undefined;
}

export function readLaneStatus(memory: SharedArrayBuffer): LaneSnapshot {
  const at = fieldsOf(memory);
  const turn = at[TURN]!;
  const [, cell, run, step, begun, thread, limitMs] = at as unknown as number[];
  return {
    turn,
    isInside: turn % 2 === 1,
    cell: cell!,
    run: run!,
    step: step!,
    begun: begun!,
    thread: thread!,
    limitMs: limitMs!,
    budgetMs: at[BUDGET]!,
    markAgeMs: Math.max(0, at[STARTED]! - at[MARK]!),
    markCpuMs: at[MARK_CPU]!,
  };
}
