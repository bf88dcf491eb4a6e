/**
 * Trusted side: runs that the host no longer waits for, because it has given them up or the gateway has cancelled them. Their turns may go on
 * in the lane: if the process is then lost, the plugin in such a turn is the reason, although its call was answered long ago.
 */
import type { CallReply } from "../../transport/call-frames.ts";
import type { PendingRun } from "./lane-run.ts";

/** More than a lane answers late, unless it lies. Only a run in its turn matters, and that is one. */
const KEPT = 256;

export class UnawaitedRuns {
  /** The steps that the lane has not answered, by run. A reply only takes some away: a lane cannot make this grow. */
  readonly #open = new Map<number, Set<number>>();

  add({ id, answers, isSent, request }: PendingRun): void {
    if (!isSent) return;
    this.#open.set(id, new Set([...request.route.steps.keys()].filter((step) => answers[step] === undefined)));
    if (this.#open.size > KEPT) this.#open.delete(this.#open.keys().next().value!);
  }

  answered({ id, isLast, steps }: CallReply): void {
    if (isLast) this.#open.delete(id);
    else for (const { step } of steps) this.#open.get(id)?.delete(step);
  }

  /** May that step be in its turn? */
  isOpen(run: number, step: number): boolean {
    return this.#open.get(run)?.has(step) === true;
  }

  clear(): void {
    this.#open.clear();
  }
}
