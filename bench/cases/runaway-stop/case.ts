// How long until a runaway is stopped? A gate that loops for ever on one command, with the default budget. What counts is the time after the budget's end: until the caller has
// its answer (blocked), and until the plugin serves again. Against V8's own timeout on an isolate of the same thread, which stops at its time and leaves the isolate as it is.
// Budgets are processor time: the same beside eight busy processes, where a loop gets a fraction of a core, so what counts there is the processor time that it had beyond its budget.
// Beside it runs an innocent plugin whose turns take four fifths of their budget: none of them may be ended.
import { spawn } from "node:child_process";
import { openHost } from "creel";
import { ratio } from "../../case.ts";
import type { Case } from "../../case.ts";
import { stoppedByV8 } from "../../floors/stopped.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";
import type { Effort, Series } from "../../../src/cli/bench/measure.ts";
import { turn, turns } from "../../turns.ts";
import type { Turn } from "../../turns.ts";
import { silentLogger } from "../../../src/host/report/silent-logger.ts";

const SOURCE = `export default (api) => { api.on("before_tool_call", (event) => { if (event.params.command === "loop") for (;;); }) }`;

async function runaway(isolation: "thread" | "process", stack: AsyncDisposableStack): Promise<Turn<string>> {
  const host = stack.use(await openHost({ isolation, lanes: 1, plugins: [{ id: "runaway", source: SOURCE }], logger: silentLogger }));
  const run = (command: string) => host.run("before_tool_call", { toolName: "exec", params: { command } }, { toolName: "exec" });
  const names = [`creel, ${isolation}, to the answer`, `creel, ${isolation}, to serving again`];
  return {
    names,
    async once() {
      // Out of the slow lane and with a closed breaker: every runaway is a first one.
      await host.release("runaway");
      await host.reload("runaway");
      await run("ls");
      const started = performance.now();
      const { calls } = await run("loop");
      const answered = performance.now() - started;
      if (calls[0]?.status !== "cpu" && calls[0]?.status !== "timeout") throw new Error(`not stopped: ${JSON.stringify(calls)}`);
      let served = await run("ls");
      while (served.calls[0]?.status !== "ok") {
        if (served.calls[0]?.status === "quarantined") await host.release("runaway");
        served = await run("ls");
      }
      return { [names[0]!]: answered - LIMITS.call.cpuMs, [names[1]!]: performance.now() - started - LIMITS.call.cpuMs };
    },
  };
}

const NEIGHBOURS = 8;
const TRIALS = 200;
/** By its own thread's clock it would need a grant, so it counts rounds of a loop that were timed when nobody else ran. */
const INNOCENT = `export default (api) => { api.on("message_sending", (event) => {
  const spin = (rounds) => { let x = 1; for (let i = 0; i < rounds; i++) x = (x * 16807) % 2147483647; return x; };
  return { content: String(spin(Number(event.content))) };
}) }`;

/** How many rounds of its loop take so much processor time in a cell. */
async function roundsFor(run: (content: string) => Promise<{ calls: readonly { cpuMs: number }[] }>, ms: number): Promise<number> {
  const rounds = 2_000_000;
  await run(String(rounds));
  const { calls } = await run(String(rounds));
  return Math.floor((rounds * ms) / calls[0]!.cpuMs);
}

/** Beside busy processes: processor time of loops beyond their budget, innocent turns that were ended, loops that were called wedged. */
async function crowded(effort: Effort): Promise<{ over: Series; ended: number; wedged: number; restarts: number }> {
  const plugins = [
    { id: "runaway", source: SOURCE },
    { id: "innocent", source: INNOCENT },
  ];
  await using host = await openHost({ isolation: "process", lanes: 1, plugins, logger: silentLogger });
  const say = (content: string) => host.run("message_sending", { to: "x", content }, { channelId: "chat" });
  const rounds = await roundsFor(say, LIMITS.call.cpuMs * 0.8);
  const pid = host.pids()[0];
  const neighbours = Array.from({ length: NEIGHBOURS }, () => spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" }));
  const found: number[] = [];
  let [ended, wedged] = [0, 0];
  try {
    const trials = Math.ceil(TRIALS * Math.min(1, effort.rounds / 40));
    // The rest of the case's time: a loop takes a second here.
    const untilMs = performance.now() + MOST_MS;
    for (let trial = 0; trial < trials && performance.now() < untilMs; trial++) {
      const innocent = await say(String(rounds));
      if (innocent.calls[0]!.status !== "ok" && innocent.calls[0]!.cpuMs <= LIMITS.call.cpuMs) ended += 1;
      if (trial % 10 !== 0) continue;
      await host.release("runaway");
      await host.reload("runaway");
      const { calls } = await host.run("before_tool_call", { toolName: "exec", params: { command: "loop" } }, { toolName: "exec" });
      if (calls[0]!.error?.code === "ERR_CALL_WEDGED") wedged += 1;
      found.push(calls[0]!.cpuMs - LIMITS.call.cpuMs);
    }
  } finally {
    for (const neighbour of neighbours) neighbour.kill("SIGKILL");
  }
  const name = "creel, process, processor time beyond the budget, beside eight busy processes";
  return { over: { name, unit: "ms", samples: found, rounds: found }, ended, wedged, restarts: host.pids()[0] === pid ? 0 : 1 };
}

const MOST_MS = 100_000;

export default {
  question: "a handler that loops for ever: how long after its budget's end until it is stopped, and until it serves again?",
  run: async (effort) => {
    await using stack = new AsyncDisposableStack();
    const contestants = [
      await runaway("thread", stack),
      await runaway("process", stack),
      turn("floor: applySync with a timeout, same thread", stoppedByV8),
    ];
    const series = await turns(contestants, effort, { unit: "ms", rounds: Math.ceil(effort.rounds / 8) });
    await stack.disposeAsync();
    const { over, ended, wedged, restarts } = await crowded(effort);
    return {
      ratios: [
        ...series.map(({ name, rounds }) =>
          ratio(
            `${name}, after the budget of ${LIMITS.call.cpuMs} ms`,
            rounds,
            name.endsWith("to the answer") ? { atMost: 25 } : undefined,
            "ms",
          ),
        ),
        ratio(over.name, over.rounds, { atMost: 100 }, "ms"),
        ratio("innocent turns that were ended beside eight busy processes", [ended], { atMost: 0 }),
        ratio("loops that were called wedged beside eight busy processes", [wedged], { atMost: 0 }),
        ratio("sandbox processes that were replaced for a loop", [restarts], { atMost: 0 }),
      ],
      series: [...series, over],
    };
  },
} satisfies Case;
