/**
 * Untrusted side, lane thread: frames that are ready to be sent, for each link. Frames that are ready together travel
 * together.
 */
import type { Frame } from "../../transport/frames.ts";
import type { Link } from "../../transport/link.ts";
import { LIMITS } from "../../protocol/limits.ts";

export interface OutboxSide {
  readonly link: Link<Frame>;
  outbox: string[];
}

export class Outbox {
  /** Sides that have something in their outbox. */
  readonly #unsent: OutboxSide[] = [];
  #firstUnsentMs = 0;
  /** The lane is serving, and flushes when it has served. */
  isServing = false;

  push(side: OutboxSide, frame: string): void {
    side.outbox.push(frame);
    if (side.outbox.length > 1) return;
    this.#unsent.push(side);
    // A turn that no message started (a timer, a cell that was rebuilt) is not followed by a flush.
    if (!this.isServing) setImmediate(() => this.flush());
  }

  flush(): void {
    this.#firstUnsentMs = 0;
    for (let side = this.#unsent.pop(); side; side = this.#unsent.pop()) {
      const frames = side.outbox;
      side.outbox = [];
      side.link.send(frames);
    }
  }

  /** Called between the runs of a long list, so that the first answers do not wait for the last run. */
  flushInTime(): void {
    if (this.#unsent.length === 0) return;
    const nowMs = performance.now();
    if (this.#firstUnsentMs === 0) this.#firstUnsentMs = nowMs;
    else if (nowMs - this.#firstUnsentMs > LIMITS.lane.flushMs) this.flush();
  }
}
