/**
 * Untrusted side, lane thread: who comes next in a lane's event loop. After a long turn the lane reads its links before
 * it enters another cell, so that a plugin with long turns delays a call by one turn at most. Meanwhile runs that have
 * started wait as `yielded`, and items that came behind the long turn wait as the `backlog`. Frames to send wait in the
 * outbox until the loop flushes it.
 */
import type { RequestPoller } from "../../transport/busy-poll.ts";
import type { Frame } from "../../transport/frames.ts";
import type { Link } from "../../transport/link.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { Slot } from "./cell/slot-lane.ts";
import type { Item } from "./items.ts";
import { QueuedTurns } from "./queued-turns.ts";

export class LaneLoop {
  readonly #outbox: Outbox;
  readonly #poller: RequestPoller;
  readonly #serveBacklog: (items: readonly Item[]) => void;
  readonly turns = new QueuedTurns(() => this.#comeBack());
  /**
   * Slots whose cells were entered since the last tidying. Not a Set: one that is filled and emptied for every call
   * allocates a new table each time.
   */
  readonly #entered: Slot[] = [];
  /** Slots whose cells may have left mail after their answers. */
  readonly #unswept = new Set<Slot>();
  #unsweptSinceMs = 0;
  readonly #yielded: (() => void)[] = [];
  /** Items of the main link that wait for the loop to turn; undefined: items are served as they come. */
  backlog: Item[] | undefined;
  /** A turn was long since the links were last read. */
  wasLong = false;
  #isComingBack = false;
  #isGoingOn = false;
  /**
   * A turn was long in a callback of a link. An immediate would follow in the same turn of the event loop, before the
   * links are read again.
   */
  #mustTurn = false;
  /** How much time queued turns have left in this turn of the loop. */
  #queueLeftMs: number = LIMITS.lane.queueSliceMs;
  /** Queued turns got no time in the last turn of the loop, so they go first in the next one. */
  #isQueueFirst = false;

  /** `serveBacklog` serves items of the main link. */
  constructor(outbox: Outbox, poller: RequestPoller, serveBacklog: (items: readonly Item[]) => void) {
    this.#outbox = outbox;
    this.#poller = poller;
    this.#serveBacklog = serveBacklog;
  }

  /** The lane starts to serve items. */
  begin(): void {
    this.#outbox.isServing = true;
    this.wasLong = false;
  }

  /** The lane has served its items, or those up to a long turn. */
  end(isSync: boolean): void {
    this.#tidy();
    if (!this.turns.isEmpty && this.#queueLeftMs > 0 && !this.wasLong && !isSync) this.#serveQueue();
    this.#outbox.isServing = false;
    const nowMs = performance.now();
    if (this.#unsweptSinceMs === 0) this.#unsweptSinceMs = nowMs;
    this.#poller.start(nowMs);
    // A polling lane sweeps when it stops polling, or under a stream of calls after `sweepMs`. Not by a timer: a
    // pending timer makes blocking more expensive (52 instead of 40 µs per call, at a load of 2).
    if (!this.#poller.isOn || nowMs - this.#unsweptSinceMs > LIMITS.lane.sweepMs) this.sweep();
  }

  /** A turn was long. */
  tookLong(): void {
    this.wasLong = true;
    this.#mustTurn = !this.#isGoingOn;
  }

  /** A long turn was served: the items behind it wait until the loop has turned. */
  postpone(items: Item[]): void {
    this.backlog = items;
    this.#comeBack();
  }

  /** A run that has started goes on when the loop has turned. */
  yield(resume: () => void): void {
    this.#yielded.push(resume);
    this.#comeBack();
  }

  entered(slot: Slot): void {
    if (!this.#entered.includes(slot)) this.#entered.push(slot);
  }

  /** Reads the mail that cells left after their answers. */
  sweep(): void {
    this.#unsweptSinceMs = 0;
    if (this.#unswept.size === 0) return;
    for (const slot of this.#unswept) slot.sweep();
    this.#unswept.clear();
    this.#outbox.flush();
  }

  /** The lane ends: nothing that waits is served any more. */
  stop(): void {
    this.#yielded.length = 0;
    this.backlog = undefined;
  }

  /** The slots are disposed of. */
  forgetSlots(): void {
    this.#entered.length = 0;
    this.#unswept.clear();
  }

  /** Sends the answers first; reading the mail that the turns left comes after that. */
  #tidy(): void {
    this.#outbox.flush();
    for (const slot of this.#entered) {
      if (slot.hasMail) slot.sweep();
      else if (slot.mayHaveMail) this.#unswept.add(slot);
    }
    this.#entered.length = 0;
    this.#outbox.flush();
  }

  #comeBack(): void {
    if (this.#isComingBack) return;
    this.#isComingBack = true;
    setImmediate(this.#goOn);
  }

  /**
   * The loop has turned, and the links were read. Yielded runs go first, then the backlog, then queued turns; if all
   * turns are long, runs and queued turns alternate.
   */
  readonly #goOn = (): void => {
    if (this.#mustTurn) {
      this.#mustTurn = false;
      setImmediate(this.#goOn);
      return;
    }
    this.#isComingBack = false;
    this.#isGoingOn = true;
    this.#queueLeftMs = LIMITS.lane.queueSliceMs;
    this.wasLong = false;
    this.#outbox.isServing = true;
    if (this.#isQueueFirst) this.#serveQueue();
    while (this.#yielded.length > 0 && !this.wasLong) this.#yielded.shift()!();
    this.#tidy();
    this.#outbox.isServing = false;
    const items = this.backlog;
    if (items && !this.wasLong) {
      this.backlog = undefined;
      if (items.length > 0) this.#serveBacklog(items);
    }
    if (!this.turns.isEmpty && this.#queueLeftMs > 0) {
      this.#outbox.isServing = true;
      if (this.wasLong) this.#isQueueFirst = true;
      else this.#serveQueue();
      this.#outbox.isServing = false;
    }
    // When a turn settles a promise, V8 runs its reactions after the turn has returned. So an answer may be in the mail
    // only now, and no further message may come that would make the lane read it.
    if (!this.#poller.isOn) this.sweep();
    this.#isGoingOn = false;
    if (this.#yielded.length > 0 || this.backlog || !this.turns.isEmpty) this.#comeBack();
  };

  /** Runs queued turns for a slice of time, with at most one long turn. */
  #serveQueue(): void {
    this.#isQueueFirst = false;
    this.#comeBack();
    let nowMs: number | undefined = performance.now();
    const untilMs = nowMs + this.#queueLeftMs;
    while (nowMs !== undefined && nowMs < untilMs && !this.wasLong) {
      this.#queueLeftMs = untilMs - nowMs;
      nowMs = this.turns.serve(nowMs);
    }
    if (nowMs !== undefined) this.#queueLeftMs = untilMs - nowMs;
    if (this.wasLong) this.backlog ??= [];
    this.#tidy();
  }
}

export interface OutboxSide {
  readonly link: Link<Frame>;
  outbox: string[];
}

/** Frames that are ready to be sent, for each link. Frames that are ready together travel together. */
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
