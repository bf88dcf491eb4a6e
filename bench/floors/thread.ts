/**
 * Floor for thread isolation: a worker, a MessagePort, `applySync`, JSON. No order, no merge, no validation, no ids (answers
 * come in order), no failures. Calls made in one tick travel in one message, and so do their answers: with many in flight that is
 * the better floor by far, and with one it costs nothing.
 */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { contestant } from "../../src/cli/bench/contestant.ts";
import type { Contestant } from "../../src/cli/bench/contestant.ts";
import { eventAt } from "../handlers.ts";
import type { Work } from "../handlers.ts";
import type { ThreadOptions, ThreadReply, ThreadRequest } from "./thread-worker.ts";

export async function threadFloor(work: Work, { timed = true, batched = true, handlers = 1, chained = true } = {}): Promise<Contestant> {
  const worker = await started({ handler: work.handler, isTimed: timed, handlers, isChained: chained });
  const waiting: ((result: unknown) => void)[] = [];
  let settled = 0;
  worker.on("message", (reply: ThreadReply) => {
    for (const text of reply) waiting[settled++]!(text === undefined ? undefined : JSON.parse(text));
    if (settled === waiting.length) {
      waiting.length = 0;
      settled = 0;
    }
  });
  let outbox: ThreadRequest = [];
  const flush = (): void => {
    worker.postMessage(outbox);
    outbox = [];
  };
  const call = (at: number): Promise<unknown> =>
    new Promise((resolve) => {
      waiting.push(resolve);
      outbox.push(JSON.stringify(eventAt(work, at)), JSON.stringify(work.context));
      if (!batched) flush();
      else if (outbox.length === 2) queueMicrotask(flush);
    });
  const name = `floor: port + applySync${timed ? "" : ", no timeout"}${batched ? "" : ", a message per call"}${handlers > 1 ? `, ${handlers} handlers` : ""}`;
  return contestant(name, call, () => worker.terminate());
}

/** A text to a thread and back, and nothing else. */
export async function portEcho(work: Work): Promise<Contestant> {
  const worker = await started({ handler: undefined, isTimed: false, handlers: 0, isChained: false });
  const texts = work.events.map((event) => JSON.stringify(event));
  const waiting: ((reply: ThreadReply) => void)[] = [];
  worker.on("message", (reply: ThreadReply) => waiting.shift()!(reply));
  const call = (at: number): Promise<ThreadReply> =>
    new Promise((resolve) => {
      waiting.push(resolve);
      worker.postMessage([texts[at % texts.length]!, ""] satisfies ThreadRequest);
    });
  return contestant("floor: MessagePort echo", call, () => worker.terminate());
}

async function started(options: ThreadOptions): Promise<Worker> {
  const worker = new Worker(new URL("./thread-worker.ts", import.meta.url), { workerData: options });
  await once(worker, "message");
  return worker;
}
