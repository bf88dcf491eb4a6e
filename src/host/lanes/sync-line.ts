/**
 * Trusted side: blocks the caller until a lane has answered, or the budget is over. How it blocks is the port's business.
 */
import { pack } from "../../protocol/frame.ts";
import { readReply, writeRun } from "../../protocol/hot.ts";
import type { Route } from "../../protocol/messages.ts";
import { takeReply } from "./lane-client.ts";
import type { RunRequest, StepAnswer } from "./lane-client.ts";
import type { SyncPort } from "./sync-port.ts";

export class SyncLine {
  readonly #port: SyncPort;
  readonly #routes = new Set<Route>();
  #nextRun = 1;

  constructor(port: SyncPort) {
    this.#port = port;
  }

  /** Undefined: the lane is gone. Undefined answers: it left the step to the host, or did not answer in time. Throws when it sends nonsense. */
  run(request: RunRequest, budgetMs: number): (StepAnswer | undefined)[] | undefined {
    const id = this.#nextRun++;
    const answers: (StepAnswer | undefined)[] = [];
    const deadline = performance.now() + budgetMs;
    // The lane may not have heard of the route yet: that message went another way.
    const isNew = !this.#routes.has(request.route);
    if (isNew) this.#routes.add(request.route);
    const run = writeRun(id, request.route.route, request);
    this.#port.send(isNew ? [pack(request.route), run] : [run], budgetMs);
    for (;;) {
      const leftMs = deadline - performance.now();
      const frames = this.#port.receive(Math.max(leftMs, 0));
      if (!frames) return undefined;
      if (this.#read(frames, id, request.route, answers) || leftMs <= 0) return answers;
    }
  }

  /** True: the last reply of this run has been read. Late replies to earlier runs are dropped. */
  #read(frames: readonly unknown[], id: number, route: Route, answers: (StepAnswer | undefined)[]): boolean {
    let isLast = false;
    for (const frame of frames) {
      const reply = readReply(String(frame));
      if (reply.id !== id) continue;
      takeReply(reply, route, answers);
      isLast ||= reply.isLast;
    }
    return isLast;
  }
}
