/**
 * Both sides: the status record of a lane: what its thread is doing at this moment, as numbers in memory that it shares
 * with the stall detector, a thread that runs no plugin code. So the stall detector knows which cell the lane is in,
 * and since when, even if the lane is inside a built-in that V8 cannot interrupt. Plain stores are enough: the stall
 * detector reads again and again, and the record of a stalled lane does not change.
 */

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
const FIELDS = 12;

/** Purpose of a turn that belongs to no run. */
export const TURN_OF = { background: 0, load: 1 } as const;

export const LANE_STATUS_BYTES = FIELDS * Float64Array.BYTES_PER_ELEMENT;

/** The lane's side, on the path of every call. */
export class LaneStatus {
  readonly #at: Float64Array;

  constructor(memory: SharedArrayBuffer, thread: number) {
    this.#at = new Float64Array(memory);
    this.#at[THREAD] = thread;
    this.#at[CPU_PRESSURE] ||= 1;
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

  enter(cell: number, limitMs: number): void {
    const at = this.#at;
    at[CELL] = cell;
    at[LIMIT] = limitMs;
    at[TURN]! += 1;
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
}

/** The stall detector's side. */
export function setCpuPressure(memory: SharedArrayBuffer, cpuPressure: number): void {
  new Float64Array(memory)[CPU_PRESSURE] = cpuPressure;
}

export function setTight(memory: SharedArrayBuffer): void {
  new Float64Array(memory)[TIGHT] = 1;
}

/** Growth by cell, as the lane has measured it; undefined: none yet. */
export function growthOf(memory: SharedArrayBuffer): { cell: number; bytes: number; others: number } | undefined {
  const at = new Float64Array(memory);
  const bytes = at[GREW_BYTES]!;
  return bytes > 0 ? { cell: at[GREW_CELL]!, bytes, others: Math.max(0, at[GREW_OTHERS]!) } : undefined;
}

export function readLaneStatus(memory: SharedArrayBuffer): LaneSnapshot {
  const at = new Float64Array(memory);
  const turn = at[TURN]!;
  const [, cell, run, step, begun, thread, limitMs] = at as unknown as number[];
  return { turn, isInside: turn % 2 === 1, cell: cell!, run: run!, step: step!, begun: begun!, thread: thread!, limitMs: limitMs! };
}
