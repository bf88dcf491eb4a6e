/** Untrusted side: one `run` message on its way through the cells of a lane, and the replies it has collected. */
import { pack } from "../protocol/frame.ts";
import type { Run, StepReply } from "../protocol/messages.ts";
import type { Link } from "../protocol/link.ts";

export class Hop {
  readonly run: Run;
  readonly context: string;
  readonly link: Link;
  /** As the next handler sees it. */
  event: string;
  /** The next step to start. */
  next = 0;
  /** Steps started and not answered. */
  open = 0;
  isCancelled = false;
  #replies: StepReply[] = [];
  #bodies: string[] = [];

  constructor(run: Run, event: string, context: string, link: Link) {
    this.run = run;
    this.event = event;
    this.context = context;
    this.link = link;
  }

  add(step: number, status: StepReply[1], wallMs: number, cpuUs: number, body: string): void {
    this.#replies.push([step, status, Math.round(wallMs * 1000), cpuUs]);
    this.#bodies.push(body);
  }

  /** The frame for what has been answered since the last one. */
  reply(last: boolean): string {
    const frame = pack({ kind: "reply", id: this.run.id, last, steps: this.#replies }, ...this.#bodies);
    this.#replies = [];
    this.#bodies = [];
    return frame;
  }

  get hasReplies(): boolean {
    return this.#replies.length > 0;
  }
}
