/**
 * Trusted side: sends a run to a lane and blocks until the lane has answered, or the budget is used up. sync-port.ts
 * does the blocking.
 */
import { pack } from "../../../transport/frames.ts";
import { readReply, writeCallRequest } from "../../../transport/call-frames.ts";
import type { Route } from "../../../protocol/messages/host-lane.ts";
import { takeReply } from "../lane-run.ts";
import type { RunRequest, StepAnswer } from "../lane-run.ts";
import type { SyncPort } from "./sync-port.ts";

export class SyncLine {
  readonly #port: SyncPort;
  readonly #routes = new Set<Route>();
  #nextRun = 1;
  /** Characters of the answers to the current run. */
  #chars = 0;

  constructor(port: SyncPort) {
    this.#port = port;
  }

  /**
   * Undefined: the lane is gone. Missing answers: the lane left the step to the host, or did not answer in time. Throws
   * when the lane breaks the protocol. `moreMs`: called once, when the budget is used up.
   */
  run(request: RunRequest, budgetMs: number, moreMs: () => number = () => 0): (StepAnswer | undefined)[] | undefined {
    const id = this.#nextRun++;
    const answers: (StepAnswer | undefined)[] = [];
    this.#chars = 0;
    let deadline = performance.now() + budgetMs;
    let isExtended = false;
    // The `route` message goes over the other link, and the lane may not have read it yet.
    const isNew = !this.#routes.has(request.route);
    if (isNew) this.#routes.add(request.route);
    const run = writeCallRequest(id, request.route.route, request);
    this.#port.send(isNew ? [pack(request.route), run] : [run], budgetMs);
    for (;;) {
      const leftMs = deadline - performance.now();
      const frames = this.#port.receive(Math.max(leftMs, 0));
      if (!frames) return undefined;
      if (this.#read(frames, id, request.route, answers)) return answers;
      if (leftMs > 0) continue;
      // Some steps are answered: the lane has begun the run, and keeps its budgets itself.
      if (isExtended || answers.length > 0) return answers;
      isExtended = true;
      deadline += moreMs();
    }
  }

  /** True: the last reply of this run has been read. Late replies to earlier runs are dropped. */
  #read(frames: readonly unknown[], id: number, route: Route, answers: (StepAnswer | undefined)[]): boolean {
    let isLast = false;
    for (const frame of frames) {
      const reply = readReply(String(frame));
      if (reply.id !== id) continue;
      this.#chars = takeReply(reply, route, answers, this.#chars);
      isLast ||= reply.isLast;
    }
    return isLast;
  }
}
