/**
 * A lane's gauge: where its thread is at this moment, in a few numbers of memory that it shares with a thread that runs no
 * plugin code. Whoever watches can tell which cell a lane is inside of, and since when, although the lane itself can
 * say nothing: it may be in a built-in that V8 cannot interrupt. Plain stores are enough: the watcher looks again and again, and what it
 * looks for does not move any more.
 */

/** Odd while the thread is inside a cell; every entry and every leave adds one. */
const TURN = 0;
const CELL = 1;
/** The run whose call it is: positive as numbered by the host, negative on a synchronous line, 0 for a turn of no run. */
const RUN = 2;
/** The step of the route; without a run, one of BACKGROUND and LOAD. */
const STEP = 3;
/** The newest run that the lane has begun: later ones have only arrived. */
const BEGUN = 4;
/** The thread as the kernel numbers it; 0: not known. */
const THREAD = 5;
/** How long V8 was told to let this turn last. */
const LIMIT = 6;
/** Written by the watcher: how many threads want each CPU, 1 at least. */
const CROWD = 7;
const FIELDS = 8;

/** What a turn of no run is for. */
export const TURN_OF = { background: 0, load: 1 } as const;

export const GAUGE_BYTES = FIELDS * Float64Array.BYTES_PER_ELEMENT;

/** The lane's side. On the path of every call. */
export class Gauge {
  readonly #at: Float64Array;

  constructor(memory: SharedArrayBuffer, thread: number) {
    this.#at = new Float64Array(memory);
    this.#at[THREAD] = thread;
    this.#at[CROWD] ||= 1;
  }

  /** How much longer than its CPU time a turn may take on this machine at present. */
  get crowd(): number {
    return this.#at[CROWD]!;
  }

  begin(run: number): void {
    this.#at[BEGUN] = run;
  }

  /** Whose the next turn is; without a word it is nobody's. */
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

/** A lane as its watcher saw it. */
export interface Glance {
  readonly turn: number;
  readonly isInside: boolean;
  readonly cell: number;
  readonly run: number;
  readonly step: number;
  readonly begun: number;
  readonly thread: number;
  readonly limitMs: number;
}

/** The watcher's side. */
export function setCrowd(memory: SharedArrayBuffer, crowd: number): void {
  new Float64Array(memory)[CROWD] = crowd;
}

export function glance(memory: SharedArrayBuffer): Glance {
  const at = new Float64Array(memory);
  const turn = at[TURN]!;
  const [, cell, run, step, begun, thread, limitMs] = at as unknown as number[];
  return { turn, isInside: turn % 2 === 1, cell: cell!, run: run!, step: step!, begun: begun!, thread: thread!, limitMs: limitMs! };
}
