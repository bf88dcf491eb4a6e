/** The worker of the thread floor: texts from the port, `applySync`, texts to the port. */
import { parentPort, workerData } from "node:worker_threads";
import { isolateWith } from "./isolate.ts";

export interface ThreadOptions {
  readonly handler: string;
  readonly isTimed: boolean;
  /** Each call goes through as many handlers, each in its own isolate. */
  readonly handlers: number;
}
/** Event, context, event, context … */
export type ThreadRequest = string[];
/** A result's JSON or nothing, per call. */
export type ThreadReply = (string | undefined)[];

const { handler, isTimed, handlers } = workerData as ThreadOptions;
const cells = Array.from({ length: handlers }, () => isolateWith(handler, isTimed));
const [first] = cells;
const port = parentPort!;

/** The least a chain does: what one handler changes, the next one sees. */
function chain(event: string, context: string): string | undefined {
  let seen = event;
  let last: string | undefined;
  for (const { apply } of cells) {
    const result = apply(seen, context);
    if (result === undefined) continue;
    last = result;
    seen = JSON.stringify({ ...(JSON.parse(seen) as object), ...(JSON.parse(result) as object) });
  }
  return last;
}

const run = handlers === 1 ? first!.apply : chain;

port.on("message", (request: ThreadRequest) => {
  const reply: ThreadReply = [];
  for (let at = 0; at < request.length; at += 2) reply.push(run(request[at]!, request[at + 1]!));
  port.postMessage(reply);
});
port.postMessage("ready");
