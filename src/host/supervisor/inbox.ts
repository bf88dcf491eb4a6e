/**
 * Trusted side: reads what a lane sends, no faster than the gateway can afford. Replies are always read. Of what the
 * host did not ask for (log lines, requests of plugins, replies to nothing) an ordinary lane never sends too much. If a
 * lane does, the host stops reading it for a while, so that the lane has to wait: a compromised sandbox process costs
 * the gateway neither its time nor its memory.
 */
// Not the global, see busy-poll.ts.
import { setImmediate } from "node:timers";
import { LIMITS } from "../../protocol/limits.ts";
import type { Link } from "../../transport/link.ts";

/**
 * So many messages are read in each turn of the event loop in any case: the first ones may take long for reasons of the
 * gateway.
 */
const AT_LEAST = 16;

/** A message counts as one, and as one more for every 16 KB. */
const UNIT_SHIFT = 14;

export interface InboxOptions {
  /** True: the frame is the last reply to a run. */
  receive(frame: string): boolean;
  /** Does the lane leave unread what the host sends? */
  isChoked(): boolean;
}

export class Inbox {
  readonly #options: InboxOptions;
  #link: Link | undefined;
  /** Frames that arrived while the link was paused; undefined: it is not. */
  #unread: string[] | undefined;
  #sinceMs = -Infinity;
  #units = 0;
  /** When this turn of the event loop read its first message; undefined: it has read none. */
  #turnMs: number | undefined;
  #ofTurn = 0;
  readonly #turned = (): void => {
    this.#turnMs = undefined;
  };

  constructor(options: InboxOptions) {
    this.#options = options;
  }

  connect(link: Link): void {
    this.#link = link;
  }

  disconnect(): void {
    this.#link = undefined;
    this.#unread = undefined;
  }

  read(frames: readonly string[], link: Link): void {
    if (this.#unread) this.#unread.push(...frames);
    else this.#read(frames, link);
  }

  #read(frames: readonly string[], link: Link): void {
    for (let at = 0; at < frames.length; at++) {
      if (this.#link !== link) return;
      const waitMs = this.#options.receive(frames[at]!) ? 0 : this.#waitMs(frames[at]!.length);
      if (waitMs > 0) return this.#pause(frames.slice(at + 1), link, waitMs);
    }
  }

  #pause(rest: string[], link: Link, waitMs: number): void {
    this.#unread = rest;
    link.pause?.();
    setTimeout(() => this.#resume(link), waitMs).unref();
  }

  #resume(link: Link): void {
    if (this.#link !== link) return;
    // A lane that does not read responses may send further requests when it has read them.
    if (this.#options.isChoked()) return void setTimeout(() => this.#resume(link), LIMITS.frames.intakeSliceMs).unref();
    const frames = this.#unread ?? [];
    this.#unread = undefined;
    this.#read(frames, link);
    if (this.#unread === undefined) link.resume?.();
  }

  /**
   * The lane has sent a message that the host did not ask for, and the host has handled it. Gives how long to wait
   * before the next one is read.
   */
  #waitMs(chars: number): number {
    const nowMs = performance.now();
    if (nowMs - this.#sinceMs > LIMITS.frames.intakeSliceMs) {
      this.#sinceMs = nowMs;
      this.#units = 0;
    }
    if (this.#turnMs === undefined) {
      this.#turnMs = nowMs;
      this.#ofTurn = 0;
      setImmediate(this.#turned);
    }
    this.#units += 1 + (chars >>> UNIT_SHIFT);
    if (this.#units > LIMITS.frames.intakeMessages) return LIMITS.frames.intakeSliceMs * (this.#units / LIMITS.frames.intakeMessages);
    this.#ofTurn += 1;
    const spentMs = nowMs - this.#turnMs;
    return spentMs < LIMITS.frames.intakeMs || this.#ofTurn < AT_LEAST ? 0 : spentMs;
  }
}
