/**
 * Which files of src one `before_tool_call` executes in the gateway and in its lane, by V8's exact counts of function calls. With thread
 * isolation both threads are in this process. Prints the files that every one of several runs executed, and those that any did.
 */
import { Session } from "node:inspector/promises";
import { openHost } from "creel";
import { silentLogger } from "../../../src/host/report/silent-logger.ts";

interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly { readonly ranges: readonly { readonly count: number }[] }[];
  }[];
}
interface Attached {
  readonly params: { readonly sessionId: string };
}
interface Received {
  readonly params: { readonly message: string };
}

const RUNS = 6;
const SRC = new URL("../../../src/", import.meta.url).href;
const COUNT = { callCount: true, detailed: false };
const SOURCE = `export default (api) => api.on("before_tool_call", () => ({ block: true, blockReason: "no" }))`;

const session = new Session();
session.connect();
// The types know only the gateway's own domains.
const post = session.post.bind(session) as (method: string, params?: object) => Promise<unknown>;
const lanes: string[] = [];
const waiting = new Map<number, (result: unknown) => void>();
const listen = session.on.bind(session) as unknown as (event: string, listener: (message: never) => void) => void;
listen("NodeWorker.attachedToWorker", ({ params }: Attached) => void lanes.push(params.sessionId));
listen("NodeWorker.receivedMessageFromWorker", ({ params }: Received) => {
  const { id, result } = JSON.parse(params.message) as { id: number; result: unknown };
  waiting.get(id)?.(result);
});

function inLane(sessionId: string, method: string, params: object = {}): Promise<unknown> {
  const id = waiting.size + 1;
  const { promise, resolve } = Promise.withResolvers<unknown>();
  waiting.set(id, resolve);
  void post("NodeWorker.sendMessageToWorker", { sessionId, message: JSON.stringify({ id, method, params }) });
  return promise;
}

/** What was executed since the last time. */
async function taken(): Promise<Set<string>> {
  const found = [await post("Profiler.takePreciseCoverage")];
  for (const lane of lanes) found.push(await inLane(lane, "Profiler.takePreciseCoverage"));
  const executed = (found as Coverage[]).flatMap(({ result }) =>
    result.filter(({ url, functions }) => url.startsWith(SRC) && functions.some(({ ranges }) => ranges[0]!.count > 0)),
  );
  return new Set(executed.map(({ url }) => `src/${url.slice(SRC.length)}`));
}

await post("Profiler.enable");
await post("Profiler.startPreciseCoverage", COUNT);
await post("NodeWorker.enable", { waitForDebuggerOnStart: false });
const host = await openHost({ isolation: "thread", lanes: 1, plugins: [{ id: "no", source: SOURCE }], logger: silentLogger });
for (const lane of lanes) {
  await inLane(lane, "Profiler.enable");
  await inLane(lane, "Profiler.startPreciseCoverage", COUNT);
}
const run = () => host.run("before_tool_call", { toolName: "exec", params: { command: "ls" } }, { toolName: "exec" });
await run();
const runs: Set<string>[] = [];
while (runs.length < RUNS) {
  await taken();
  const { decision } = await run();
  if (decision !== "block") throw new Error(`the run ended as ${decision}`);
  runs.push(await taken());
}
const any = new Set(runs.flatMap((files) => [...files]));
const always = [...any].filter((file) => runs.every((files) => files.has(file)));
console.log(JSON.stringify({ lanes: lanes.length, always: always.toSorted(), any: [...any].toSorted() }));
await host.close();
