// How long until a runaway is stopped? A gate that loops for ever on one command, with the default budget. What counts is the time after the budget's end: until the caller has
// its answer (blocked), and until the plugin serves again. Against V8's own timeout on an isolate of the same thread, which stops at its time and leaves the isolate as it is.
// Then the same beside eight busy processes: 200 loops, and innocent turns of up to their budget, of which none may be ended; see crowd.ts.
import { openHost } from "creel";
import { ratio } from "../../case.ts";
import type { Case } from "../../case.ts";
import { stoppedByV8 } from "../../floors/stopped.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";
import { turn, turns } from "../../turns.ts";
import type { Turn } from "../../turns.ts";
import { silentLogger } from "../../../src/host/report/silent-logger.ts";
import { crowd, RUNAWAY } from "./crowd.ts";

async function runaway(isolation: "thread" | "process", stack: AsyncDisposableStack): Promise<Turn<string>> {
  const host = stack.use(await openHost({ isolation, lanes: 1, plugins: [{ id: "runaway", source: RUNAWAY }], logger: silentLogger }));
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
    const crowded = await crowd(effort);
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
        ...crowded.ratios,
      ],
      series: [...series, ...crowded.series],
    };
  },
} satisfies Case;
