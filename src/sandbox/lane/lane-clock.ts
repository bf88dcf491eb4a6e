/**
 * Untrusted side, lane thread: the timers of all cells of a lane, in a heap ordered by due time, behind a single Node
 * timer. With one Node timer each, Node would run all that are due before it reads the lane's links again. An alarm
 * does not enter a cell: it only queues a turn (queued-turns.ts).
 */

export interface Alarm {
  readonly dueMs: number;
  /** Alarms that are due at the same time ring in the order in which they were set. */
  readonly order: number;
  readonly ring: () => void;
  /** Its index in the heap; -1: it has rung or was cleared. */
  at: number;
}

/** Node's timers count whole milliseconds, so an alarm that is due within the next millisecond rings now. */
const TICK_MS = 1;

export class LaneClock {
  readonly #heap: Alarm[] = [];
  #nextOrder = 0;
  #timer: NodeJS.Timeout | undefined;
  /** When the timer fires; Infinity: none is set. */
  #wakesMs = Infinity;

  get size(): number {
    return this.#heap.length;
  }

  set(ms: number, ring: () => void): Alarm {
    const nowMs = performance.now();
    const alarm: Alarm = { dueMs: nowMs + ms, order: this.#nextOrder++, ring, at: this.#heap.length };
    this.#heap.push(alarm);
    this.#rise(alarm);
    if (alarm.dueMs < this.#wakesMs) this.#wakeAt(alarm.dueMs, nowMs);
    return alarm;
  }

  /** Leaves Node's timer set: a wake-up that finds nothing due is cheaper than setting the timer again. */
  clear(alarm: Alarm): void {
    const { at } = alarm;
    if (at < 0) return;
    alarm.at = -1;
    const last = this.#heap.pop()!;
    if (last === alarm) return;
    this.#put(last, at);
    this.#sink(last);
    this.#rise(last);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#wakesMs = Infinity;
    for (const alarm of this.#heap) alarm.at = -1;
    this.#heap.length = 0;
  }

  readonly #wake = (): void => {
    this.#wakesMs = Infinity;
    const nowMs = performance.now();
    for (let first = this.#heap[0]; first && first.dueMs < nowMs + TICK_MS; first = this.#heap[0]) {
      this.clear(first);
      first.ring();
    }
    const next = this.#heap[0];
    if (next && next.dueMs < this.#wakesMs) this.#wakeAt(next.dueMs, nowMs);
  };

  #wakeAt(dueMs: number, nowMs: number): void {
    clearTimeout(this.#timer);
    this.#wakesMs = dueMs;
    this.#timer = setTimeout(this.#wake, Math.max(1, Math.round(dueMs - nowMs)));
  }

  #rise(alarm: Alarm): void {
    while (alarm.at > 0) {
      const parent = this.#heap[(alarm.at - 1) >> 1]!;
      if (isBefore(parent, alarm)) return;
      this.#swap(parent, alarm);
    }
  }

  #sink(alarm: Alarm): void {
    for (;;) {
      const left = this.#heap[alarm.at * 2 + 1];
      const right = this.#heap[alarm.at * 2 + 2];
      const child = right && left && isBefore(right, left) ? right : left;
      if (!child || isBefore(alarm, child)) return;
      this.#swap(alarm, child);
    }
  }

  #swap(a: Alarm, b: Alarm): void {
    const { at } = a;
    this.#put(a, b.at);
    this.#put(b, at);
  }

  #put(alarm: Alarm, at: number): void {
    alarm.at = at;
    this.#heap[at] = alarm;
  }
}

function isBefore(a: Alarm, b: Alarm): boolean {
  return a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.order < b.order);
}
