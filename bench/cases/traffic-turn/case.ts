// What does a whole turn cost? A message comes in, the prompt is built, three tools are called and answer, a reply goes out: eight runs, ten plugins that each listen to all of them, one turn every 100 ms. Against the same
// number of hops to a worker with ten isolates, and against functions in the gateway's own process, which is what gateways do without a sandbox.
import { runInThisContext } from "node:vm";
import { openHost } from "creel";
import type { PluginSpec } from "creel";
import { among, ratio } from "../../case.ts";
import type { Case } from "../../case.ts";
import { contestant } from "../../../src/cli/bench/contestant.ts";
import type { Contestant } from "../../../src/cli/bench/contestant.ts";
import { over } from "../../../src/cli/bench/measure.ts";
import { threadFloor } from "../../floors/thread.ts";
import { TAILORING } from "../../handlers.ts";
import { silentLogger } from "../../../src/host/report/silent-logger.ts";
import { every, traffic } from "../../traffic.ts";
import type { Served } from "../../traffic.ts";

const PLUGINS = 10;
const TOOLS = 3;
/** message_received, before_prompt_build, three times before and after a tool, message_sending. */
const RUNS = 3 + 2 * TOOLS;

const HANDLERS = {
  message_received: "async (event) => { globalThis.seen = (globalThis.seen ?? 0) + event.content.length; }",
  before_prompt_build: `async (event, ctx) => ({ appendContext: "Agent " + ctx.agentId + " answers in short sentences." })`,
  before_tool_call: TAILORING.handler,
  after_tool_call: "async (event) => { globalThis.spent = (globalThis.spent ?? 0) + (event.durationMs ?? 0); }",
  message_sending: `async (event) => ({ content: event.content.replace(/sk-[a-z0-9]{8,}/g, "[key]") })`,
} as const;

const messages = Array.from({ length: 20 }, (_, at) => ({
  role: at % 2 ? "assistant" : "user",
  content: `${at}: the build failed in step four.`,
}));
const agent = { agentId: "main", sessionKey: "agent:main:telegram:dm:123456", runId: "run-1", channelId: "telegram" };
const chat = { channelId: "telegram", accountId: "default", conversationId: "dm:123456" };

type Run = (hook: keyof typeof HANDLERS, event: object, ctx: object) => unknown;

async function turn(run: Run, at: number): Promise<void> {
  await run("message_received", { from: "user", content: `and now? (${at})` }, chat);
  await run("before_prompt_build", { prompt: `and now? (${at})`, messages }, agent);
  for (let tool = 0; tool < TOOLS; tool++) {
    const event = { ...TAILORING.events[(at + tool) % TAILORING.events.length], toolName: "exec" };
    const ctx = { ...TAILORING.context, toolName: "exec" };
    await run("before_tool_call", event, ctx);
    await run("after_tool_call", { ...event, result: { content: [{ type: "text", text: "done" }] }, durationMs: 12 }, ctx);
  }
  await run("message_sending", { to: "telegram:1", content: "Done. All 214 tests pass." }, chat);
}

async function sandboxed(isolation: "thread" | "process"): Promise<Served> {
  const source = `export default (api) => { ${Object.entries(HANDLERS)
    .map(([hook, handler]) => `api.on("${hook}", ${handler});`)
    .join(" ")} }`;
  const plugins = Array.from({ length: PLUGINS }, (_, at): PluginSpec => ({
    id: `bench-${at}`,
    source,
    hooks: { allowConversationAccess: true, allowPromptInjection: true },
  }));
  const host = await openHost({ isolation, plugins, logger: silentLogger });
  const run = host.run.bind(host) as unknown as (...args: Parameters<Run>) => Promise<{ calls: readonly { status: string }[] }>;
  for (const hook of Object.keys(HANDLERS) as (keyof typeof HANDLERS)[]) if (!host.has(hook)) throw new Error(`nobody listens to ${hook}`);
  await turn(async (...args) => {
    const { calls } = await run(...args);
    if (calls.length !== PLUGINS || calls.some(({ status }) => status !== "ok")) throw new Error(`${args[0]}: ${JSON.stringify(calls)}`);
  }, 0);
  const one = contestant(
    `creel, ${isolation}`,
    (at) => turn(run, at),
    () => host.close(),
  );
  return { ...one, pids: () => (isolation === "process" ? host.pids() : []) };
}

/** The same functions without any wall: no copy, no order, no merge, no budget. */
function inProcess(): Contestant {
  const compiled = Object.fromEntries(
    Object.entries(HANDLERS).map(([hook, handler]) => [
      hook,
      runInThisContext(handler) as (event: object, ctx: object) => Promise<unknown>,
    ]),
  );
  const run: Run = async (hook, event, ctx) => {
    for (let at = 0; at < PLUGINS; at++) await compiled[hook]!(event, ctx);
  };
  return contestant("functions in the gateway's process, no sandbox", (at) => turn(run, at));
}

async function hops(): Promise<Served> {
  const floor = await threadFloor(TAILORING, { handlers: PLUGINS });
  const call = async (at: number): Promise<void> => {
    for (let run = 0; run < RUNS; run++) await floor.call(at + run);
  };
  return { ...floor, name: `floor: ${RUNS} times port + applySync, ${PLUGINS} handlers`, call };
}

export default {
  question: "a turn with three tool calls and ten plugins, nine runs in all: what does it cost, in time and in processor time?",
  run: (effort) =>
    among([() => sandboxed("process"), () => sandboxed("thread"), hops, inProcess], async (contestants) => {
      const found = await traffic(contestants, { ...effort, warmUpCalls: 200, roundsMs: effort.roundsMs * 2 }, every(100, 6));
      const [process, thread, floor, plain] = found;
      return {
        ratios: [
          ratio("a turn, creel, process / the same hops by hand", over(process!.latency, floor!.latency)),
          ratio("a turn, creel, thread / the same hops by hand", over(thread!.latency, floor!.latency)),
          ratio("processor time of a turn, creel, process / the same hops by hand", over(process!.cpu, floor!.cpu)),
          ...[process!, thread!, floor!, plain!].flatMap(({ latency, cpu }) => [
            ratio(`a turn, ${latency.name}`, latency.rounds, undefined, "µs"),
            ratio(`a turn, ${cpu.name}`, cpu.rounds, undefined, "µs"),
          ]),
        ],
        series: found.flatMap(({ latency, cpu }) => [latency, cpu]),
      };
    }),
} satisfies Case;
