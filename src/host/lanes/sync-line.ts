/**
 * Trusted side: blocks the caller until a lane has answered, or the budget is over. A port carries the frames and a shared
 * counter the wake-up; at the far end of the port is the lane's thread, or the bridge that relays to the sandbox process.
 */
import { receiveMessageOnPort } from "node:worker_threads";
import { pack, unpack } from "../../protocol/frame.ts";
import { laneMessage } from "../../protocol/messages.ts";
import type { Run } from "../../protocol/messages.ts";
import { readReply } from "./lane-client.ts";
import type { RunRequest, StepAnswer } from "./lane-client.ts";
import type { SyncPort } from "./unit.ts";

export class SyncLine {
  readonly #sync: SyncPort;
  /** Apart from the numbers of the lane's main link. */
  #nextRun = 2 ** 40;

  constructor(sync: SyncPort) {
    this.#sync = sync;
  }

  /** Undefined answers: the lane left the step to the host, or did not answer in time. Throws when the lane sends nonsense. */
  run(request: RunRequest, event: string, context: string, budgetMs: number): (StepAnswer | undefined)[] {
    const { port, notify } = this.#sync;
    const id = this.#nextRun++;
    const answers: (StepAnswer | undefined)[] = Array.from({ length: request.steps.length });
    const deadline = performance.now() + budgetMs;
    port.postMessage([pack({ kind: "run", id, ...request } satisfies Run, event, context)]);
    for (;;) {
      const seen = Atomics.load(notify, 0);
      for (let received; (received = receiveMessageOnPort(port));) {
        if (this.#read(received.message, id, answers)) return answers;
      }
      const left = deadline - performance.now();
      if (left <= 0) return answers;
      Atomics.wait(notify, 0, seen, left);
    }
  }

  /** True: the last reply of this run has been read. Late replies to earlier runs are dropped. */
  #read(frames: unknown, id: number, answers: (StepAnswer | undefined)[]): boolean {
    let isLast = false;
    for (const frame of Array.isArray(frames) ? (frames as unknown[]) : []) {
      const { header, bodies } = unpack(String(frame));
      const reply = laneMessage.parse(header);
      if (reply.kind !== "reply" || reply.id !== id) continue;
      readReply(reply, bodies, answers);
      isLast ||= reply.last;
    }
    return isLast;
  }
}
