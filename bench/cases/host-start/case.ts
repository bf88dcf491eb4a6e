// How long until the first answer? A host is opened with one plugin and run once, against a hand-written worker and a hand-written child that are started and called once.
// In a process that has done it before: Node's own start, the loading of modules, and the one-time trial of walls are not in it.
// Both sides are run from their TypeScript sources here, which a thread or a process strips of types as it starts.
import { openHost } from "creel";
import { ratio } from "../../case.ts";
import type { Case } from "../../case.ts";
import { runner } from "../../creel.ts";
import { processFloor } from "../../floors/process.ts";
import { threadFloor } from "../../floors/thread.ts";
import { asPlugins, POLICY_GATE } from "../../handlers.ts";
import { turn, turns } from "../../turns.ts";
import type { Contestant } from "../../../src/cli/bench/contestant.ts";
import { over } from "../../../src/cli/bench/measure.ts";
import type { Series } from "../../../src/cli/bench/measure.ts";

async function host(isolation: "thread" | "process"): Promise<number> {
  const started = performance.now();
  await using opened = await openHost({ isolation, lanes: 1, plugins: asPlugins(POLICY_GATE, 1) });
  await runner(opened, POLICY_GATE)(0);
  return performance.now() - started;
}

async function floor(open: () => Promise<Contestant>): Promise<number> {
  const started = performance.now();
  await using opened = await open();
  await opened.call(0);
  return performance.now() - started;
}

export default {
  question: "how long from opening a host to its first answer?",
  run: async (effort) => {
    const series = await turns(
      [
        turn("creel, thread", () => host("thread")),
        turn("creel, process", () => host("process")),
        turn("floor: a worker with an isolate", () => floor(() => threadFloor(POLICY_GATE))),
        turn("floor: a child, its worker, an isolate", () => floor(() => processFloor(POLICY_GATE))),
      ],
      effort,
      { unit: "ms", rounds: Math.ceil(effort.rounds / 8) },
    );
    const [thread, child, worker, other] = series as [Series, Series, Series, Series];
    return {
      ratios: [
        ratio("creel, thread / a worker with an isolate", over(thread, worker)),
        ratio("creel, process / a child, its worker, an isolate", over(child, other)),
      ],
      series,
    };
  },
} satisfies Case;
