/**
 * Untrusted side, lane thread: the timers of a lane whose time moves only when the host says so, for an author's test.
 * What a plugin wants done as soon as possible (a delay of 0) does not wait for that.
 */
import { LaneClock } from "./lane-clock.ts";
import type { Alarm } from "./lane-clock.ts";

export class ManualLaneClock extends LaneClock {
  /** Milliseconds since 1970. */
  nowMs: number;
  /** In the order in which they are due. */
  readonly #alarms: Alarm[] = [];
  readonly #soon = new Set<Alarm>();
  #order = 0;

  constructor(nowMs: number) {
    super();
    this.nowMs = nowMs;
  }

  override get size(): number {
    return this.#alarms.length + this.#soon.size;
  }

  /** Undefined: no alarm is set. */
  get nextMs(): number | undefined {
    return this.#alarms[0]?.dueMs;
  }

  /** Alarms that do not wait for the clock are about to ring. */
  get isAboutToRing(): boolean {
    return this.#soon.size > 0;
  }

  override set(ms: number, ring: () => void): Alarm {
    const alarm: Alarm = { dueMs: this.nowMs + ms, order: this.#order++, ring, at: 0 };
    if (ms > 0) {
      const after = this.#alarms.findLastIndex(({ dueMs }) => dueMs <= alarm.dueMs);
      this.#alarms.splice(after + 1, 0, alarm);
    } else {
      this.#soon.add(alarm);
      setImmediate(() => {
        if (this.#soon.delete(alarm)) this.#ring(alarm);
      });
    }
    return alarm;
  }

  override clear(alarm: Alarm): void {
    if (alarm.at < 0) return;
    alarm.at = -1;
    if (this.#soon.delete(alarm)) return;
    const at = this.#alarms.indexOf(alarm);
    if (at >= 0) this.#alarms.splice(at, 1);
  }

  override stop(): void {
    for (const alarm of [...this.#alarms, ...this.#soon]) alarm.at = -1;
    this.#alarms.length = 0;
    this.#soon.clear();
  }

  /** Rings what is due by then. */
  advance(toMs: number): void {
    this.nowMs = Math.max(this.nowMs, toMs);
    for (let first = this.#alarms[0]; first && first.dueMs <= this.nowMs; first = this.#alarms[0]) {
      this.#alarms.shift();
      this.#ring(first);
    }
  }

  #ring(alarm: Alarm): void {
    alarm.at = -1;
    alarm.ring();
  }
}
