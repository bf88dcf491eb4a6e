/**
 * Untrusted side, lane thread: turns that no call starts (timers that are due, responses to a cell's requests) wait
 * here, in one queue per cell. The cell that has taken the least time goes first. So a cell with long turns, or with
 * many, waits until the others have had as much time. The lane serves a few queued turns per turn of its event loop
 * (lane-loop.ts).
 */
import { LIMITS } from "../../protocol/limits.ts";

export interface QueuedTurn {
  /** The call that it belongs to; undefined: it makes calls that came while the plugin was loading. */
  readonly call: number | undefined;
  run(): void;
}

/** The queued turns of one cell. */
export class TurnQueue {
  readonly #lane: QueuedTurns;
  readonly #isAwaited: (call: number) => boolean;
  #turns: QueuedTurn[] = [];
  /** Turns that wait until the slot is resumed. */
  #parked: QueuedTurn[] = [];
  #isPaused = false;
  /** Time that its turns have taken. It starts at what the others had taken when this queue joined them. */
  takenMs = 0;

  constructor(lane: QueuedTurns, isAwaited: (call: number) => boolean) {
    this.#lane = lane;
    this.#isAwaited = isAwaited;
  }

  add(turn: QueuedTurn): void {
    if (this.#turns.push(turn) === 1) this.#lane.join(this);
  }

  /** While paused, only turns of pending calls run. */
  setPaused(isPaused: boolean): void {
    this.#isPaused = isPaused;
    if (isPaused || this.#parked.length === 0) return;
    const isNew = this.#turns.length === 0;
    this.#turns = [...this.#parked, ...this.#turns];
    this.#parked = [];
    if (isNew) this.#lane.join(this);
  }

  /** Undefined: all turns in the queue are parked now. */
  take(): QueuedTurn | undefined {
    for (let turn = this.#turns.shift(); turn; turn = this.#turns.shift()) {
      if (!this.#isPaused || turn.call === undefined || this.#isAwaited(turn.call)) return turn;
      this.#parked.push(turn);
    }
    return undefined;
  }

  get isEmpty(): boolean {
    return this.#turns.length === 0;
  }

  /** Its cell is gone. */
  clear(): void {
    this.#turns = [];
    this.#parked = [];
    this.#lane.leave(this);
  }
}

export class QueuedTurns {
  readonly #wake: () => void;
  /** Queues that have a turn. */
  readonly #queues: TurnQueue[] = [];
  /** Time that the queue served last had taken before its turn: a queue that joins starts from here. */
  #takenMs = 0;

  /** `wake` is called when there is a turn and there was none before. */
  constructor(wake: () => void) {
    this.#wake = wake;
  }

  get isEmpty(): boolean {
    return this.#queues.length === 0;
  }

  queue(isAwaited: (call: number) => boolean): TurnQueue {
    return new TurnQueue(this, isAwaited);
  }

  /** A queue that was empty has a turn now. Time that it did not use meanwhile is not saved up. */
  join(queue: TurnQueue): void {
    queue.takenMs = Math.max(queue.takenMs, this.#takenMs);
    if (this.#queues.push(queue) === 1) this.#wake();
  }

  leave(queue: TurnQueue): void {
    const at = this.#queues.indexOf(queue);
    if (at >= 0) this.#queues.splice(at, 1);
  }

  /** Runs the next turn. Gives the time at which it ended; undefined: there was none to run. */
  serve(nowMs: number): number | undefined {
    for (let queue = this.#first(); queue; queue = this.#first()) {
      const turn = queue.take();
      if (queue.isEmpty) this.leave(queue);
      if (!turn) continue;
      this.#takenMs = queue.takenMs;
      turn.run();
      const endMs = performance.now();
      queue.takenMs += Math.max(endMs - nowMs, LIMITS.lane.queueTurnMs);
      return endMs;
    }
    return undefined;
  }

  /** The queue that has taken the least time; of several, the one that joined first. */
  #first(): TurnQueue | undefined {
    let first = this.#queues[0];
    for (const queue of this.#queues) if (queue.takenMs < first!.takenMs) first = queue;
    return first;
  }
}
