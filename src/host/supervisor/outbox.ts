/**
 * Trusted side: what waits to be sent to a lane. Frames of one tick of the gateway travel together; a lane that does
 * not read gets no more.
 */
import type { Frame } from "../../transport/frames.ts";
import { ReplyPoller } from "../../transport/busy-poll.ts";
import type { Link } from "../../transport/link.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { PendingRun } from "./lane-run.ts";
import type { PendingRuns } from "./pending-runs.ts";

/** A third of the cost of `queueMicrotask`, which makes a resource for async hooks. */
const SOON = Promise.resolve();

export class Outbox {
  readonly #pending: PendingRuns<PendingRun>;
  readonly #poller: ReplyPoller;
  readonly #flushed: () => void;
  #items: (string | PendingRun)[] = [];
  #link: Link | undefined;
  #isReady = false;
  #isHeld = false;
  #isFlushing = false;

  /** `flushed`: called after items were sent, or had to go on waiting. */
  constructor(pending: PendingRuns<PendingRun>, flushed: () => void) {
    this.#pending = pending;
    this.#flushed = flushed;
    this.#poller = new ReplyPoller(() => pending.size);
  }

  connect(link: Link): void {
    this.#link = link;
  }

  /** The unit is gone. Runs that it had not begun are sent to the next one, ahead of those that still wait. */
  disconnect(unbegun: readonly PendingRun[]): void {
    this.#poller.stop();
    this.#link = undefined;
    this.#isReady = false;
    this.#isHeld = false;
    for (const run of unbegun) run.isSent = false;
    // Responses and other messages are meant for the unit that is gone.
    this.#items = [...unbegun, ...this.#items.filter((item) => typeof item !== "string")];
  }

  /** Has the lane said that it is ready? Until then everything waits. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Are replies polled for? So it is in a burst of calls. */
  get isPolling(): boolean {
    return this.#poller.isOn;
  }

  /** Has the lane left so much unread that it gets no more? */
  get isChoked(): boolean {
    return (this.#link?.unsentBytes ?? 0) > LIMITS.frames.unreadBytes;
  }

  ready(): void {
    this.#isReady = true;
    this.#flush();
  }

  /** The unit is about to be replaced: no further run is sent to it. */
  hold(): void {
    this.#isHeld = true;
  }

  push(item: string | PendingRun): void {
    this.#items.push(item);
    if (!this.#isReady) return;
    // The lane may start on these while the gateway makes more.
    if (this.#items.length >= LIMITS.lane.callsAtOnce && !this.#isHeld) return this.#flush();
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    void SOON.then(this.#flushNow);
  }

  withdraw(run: PendingRun): void {
    this.#items = this.#items.filter((item) => item !== run);
  }

  readonly #flushNow = (): void => {
    this.#isFlushing = false;
    this.#flush();
    this.#flushed();
  };

  /** Items wait here, where they are anyway, instead of being copied into the socket's buffer. */
  #flushLater(): void {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    setTimeout(this.#flushNow, LIMITS.frames.intakeSliceMs).unref();
  }

  #flush(): void {
    if (!this.#link || !this.#isReady || this.#items.length === 0) return;
    if (this.isChoked) return this.#flushLater();
    const items = this.#isHeld ? this.#items.filter((item) => typeof item === "string") : this.#items;
    this.#items = this.#isHeld ? this.#items.filter((item) => typeof item !== "string") : [];
    const frames: Frame[] = [];
    for (const item of items) {
      if (typeof item === "string") {
        frames.push(item);
      } else {
        item.isSent = true;
        frames.push(item.frame);
      }
    }
    if (frames.length === 0) return;
    if (this.#pending.size > 0) this.#poller.start(this.#link);
    this.#link.send(frames);
  }
}
