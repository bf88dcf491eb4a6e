// How long is the gap when the sandbox dies? Its process is killed (SIGKILL), and a call is made at once: how long until a good answer, with a spare process that is kept warm (the
// default), and without one; ten plugins. Against a hand-written child that is started again.
import { setTimeout as sleep } from "node:timers/promises";
import { openHost } from "creel";
import { ratio } from "../../case.ts";
import type { Case } from "../../case.ts";
import { runner } from "../../creel.ts";
import { processFloor } from "../../floors/process.ts";
import { asPlugins, PASSING_GATE } from "../../handlers.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";
import { turn, turns } from "../../turns.ts";
import type { Turn } from "../../turns.ts";
import { over } from "../../../src/cli/bench/measure.ts";
import type { Series } from "../../../src/cli/bench/measure.ts";
import { silentLogger } from "../../../src/host/report/silent-logger.ts";

const PLUGINS = 10;
/** For the spare to be there again: it is started a while after the last one was needed, and nothing tells when it is warm. */
const SPARE_MS = LIMITS.sandbox.spareDelayMs + LIMITS.sandbox.spareAgainMs + 500;

async function killed(name: string, spare: boolean, stack: AsyncDisposableStack): Promise<Turn<string>> {
  const config = { sandbox: { spare } };
  const host = stack.use(
    await openHost({ isolation: "process", lanes: 1, plugins: asPlugins(PASSING_GATE, PLUGINS), config, logger: silentLogger }),
  );
  const run = runner(host, PASSING_GATE);
  return turn(name, async () => {
    for (const { id } of host.plugins()) await host.release(id);
    await run(0);
    if (spare) await sleep(SPARE_MS);
    const [pid] = host.pids();
    const started = performance.now();
    process.kill(pid!, "SIGKILL");
    for (let at = 0; ; at++) {
      const { calls } = await run(at);
      if (calls.length === PLUGINS && calls.every(({ status }) => status === "ok") && host.pids()[0] !== pid) break;
    }
    return performance.now() - started;
  });
}

async function startedAgain(): Promise<number> {
  const started = performance.now();
  await using floor = await processFloor(PASSING_GATE);
  await floor.call(0);
  return performance.now() - started;
}

export default {
  question: "the sandbox process is killed: how long until the next good answer?",
  run: async (effort) => {
    await using stack = new AsyncDisposableStack();
    const contestants = [
      await killed("creel, with a spare", true, stack),
      await killed("creel, without a spare", false, stack),
      turn("floor: a child, its worker, an isolate, started again", startedAgain),
    ];
    const series = await turns(contestants, effort, { unit: "ms", rounds: Math.ceil(effort.rounds / 12) });
    const [spare, fresh, floor] = series as [Series, Series, Series];
    return {
      ratios: [
        ratio("creel, with a spare / a child started again", over(spare, floor)),
        ratio("creel, without a spare / a child started again", over(fresh, floor)),
      ],
      series,
    };
  },
} satisfies Case;
