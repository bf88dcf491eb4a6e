/** The worker of the thread floor: texts from the port, `applySync`, texts to the port. */
import { parentPort, workerData } from "node:worker_threads";
import { isolateWith } from "./isolate.ts";

export interface ThreadOptions {
  /** Unset: texts go back as they came. */
  readonly handler: string | undefined;
  readonly isTimed: boolean;
  /** Each call goes through as many handlers, each in its own isolate. */
  readonly handlers: number;
  /** Whether a handler sees what the ones before it changed; otherwise all see the same text, and all results go back. */
  readonly isChained: boolean;
}
/** Event, context, event, context … */
export type ThreadRequest = string[];
/** A result's JSON or nothing, per call. */
export type ThreadReply = (string | undefined)[];

const { handler, isTimed, handlers, isChained } = workerData as ThreadOptions;
const cells = handler === undefined ? [] : Array.from({ length: handlers }, () => isolateWith(handler, isTimed));
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

function each(event: string, context: string): string {
  const results: string[] = [];
  for (const { apply } of cells) {
    const result = apply(event, context);
    if (result !== undefined) results.push(result);
  }
  return `[${results.join(",")}]`;
}

function echo(event: string): string {
  return event;
}

const run = handler === undefined ? echo : handlers === 1 ? cells[0]!.apply : isChained ? chain : each;

port.on("message", (request: ThreadRequest) => {
  const reply: ThreadReply = [];
  for (let at = 0; at < request.length; at += 2) reply.push(run(request[at]!, request[at + 1]!));
  port.postMessage(reply);
});
port.postMessage("ready");
