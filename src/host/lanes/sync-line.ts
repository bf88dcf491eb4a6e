/**
 * Trusted side: blocks the caller until a lane has answered, or the budget is over. A port carries the frames and a shared
 * counter the wake-up; at the far end of the port is the lane's thread, or the bridge that relays to the sandbox process.
 */
import { receiveMessageOnPort } from "node:worker_threads";
import { pack } from "../../protocol/frame.ts";
import { readReply, writeRun } from "../../protocol/hot.ts";
import type { Route } from "../../protocol/messages.ts";
import { takeReply } from "./lane-client.ts";
import type { RunRequest, StepAnswer } from "./lane-client.ts";
import type { SyncPort } from "./unit.ts";

/** From the bridge: the lane has hung up. */
export const GONE = "gone";

export class SyncLine {
  readonly #sync: SyncPort;
  readonly #routes = new Set<Route>();
  #nextRun = 1;

  constructor(sync: SyncPort) {
    this.#sync = sync;
  }

  /** Undefined: the lane is gone. Undefined answers: it left the step to the host, or did not answer in time. Throws when it sends nonsense. */
  run(request: RunRequest, budgetMs: number): (StepAnswer | undefined)[] | undefined {
    const { port, notify } = this.#sync;
    const id = this.#nextRun++;
    const answers: (StepAnswer | undefined)[] = [];
    const deadline = performance.now() + budgetMs;
    // The lane may not have heard of the route yet: that message went another way.
    const isNew = !this.#routes.has(request.route);
    if (isNew) this.#routes.add(request.route);
    const run = writeRun(id, request.route.route, request);
    port.postMessage(isNew ? [pack(request.route), run] : [run]);
    for (;;) {
      const seen = Atomics.load(notify, 0);
      for (let received; (received = receiveMessageOnPort(port));) {
        if (received.message === GONE) return undefined;
        if (this.#read(received.message, id, request.route, answers)) return answers;
      }
      const left = deadline - performance.now();
      if (left <= 0) return answers;
      Atomics.wait(notify, 0, seen, left);
    }
  }

  /** True: the last reply of this run has been read. Late replies to earlier runs are dropped. */
  #read(frames: unknown, id: number, route: Route, answers: (StepAnswer | undefined)[]): boolean {
    let isLast = false;
    for (const frame of [frames].flat()) {
      const reply = readReply(String(frame));
      if (reply.id !== id) continue;
      takeReply(reply, route, answers);
      isLast ||= reply.isLast;
    }
    return isLast;
  }
}
