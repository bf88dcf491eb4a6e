// How long does it take to replace a plugin's code? `host.reload` of one of two plugins while their hook is run all the time: the new version is loaded beside the old one and
// takes its place in one step. Against an isolate that is made with the same handler. And the longest of the runs meanwhile, against the longest of as many at another time.
import { openHost } from "creel";
import { ratio } from "../../case.ts";
import type { Case } from "../../case.ts";
import { runner } from "../../creel.ts";
import { isolateWith } from "../../floors/isolate.ts";
import { asPlugins, POLICY_GATE } from "../../handlers.ts";
import { elapsed, turns } from "../../turns.ts";
import type { Turn } from "../../turns.ts";
import { over } from "../../../src/cli/bench/measure.ts";
import type { Series } from "../../../src/cli/bench/measure.ts";

const ISOLATIONS = ["thread", "process"] as const;

async function reloading(isolation: (typeof ISOLATIONS)[number], stack: AsyncDisposableStack): Promise<Turn<string>> {
  const host = stack.use(await openHost({ isolation, lanes: 1, plugins: asPlugins(POLICY_GATE, 2) }));
  const run = runner(host, POLICY_GATE);
  const names = [
    `creel, ${isolation}, reload`,
    `creel, ${isolation}, longest run meanwhile`,
    `creel, ${isolation}, longest of as many otherwise`,
  ];
  const longest = async (until: () => boolean): Promise<number> => {
    let most = 0;
    for (let at = 0; !until(); at++) most = Math.max(most, await elapsed(() => run(at)));
    return most;
  };
  return {
    names,
    async once() {
      let calls = 0;
      let isOver = false;
      const took = elapsed(() => host.reload("bench-0")).then((ms) => {
        isOver = true;
        return ms;
      });
      const meanwhile = await longest(() => isOver || !++calls);
      const ms = await took;
      const otherwise = await longest(() => calls-- <= 0);
      return { [names[0]!]: ms, [names[1]!]: meanwhile, [names[2]!]: otherwise };
    },
  };
}

const FLOOR = "floor: an isolate with the handler";

export default {
  question: "how long does a hot reload take, and who feels it?",
  run: async (effort) => {
    await using stack = new AsyncDisposableStack();
    const contestants: Turn<string>[] = [];
    for (const isolation of ISOLATIONS) contestants.push(await reloading(isolation, stack));
    contestants.push({
      names: [FLOOR],
      once: async () => {
        const started = performance.now();
        const cell = isolateWith(POLICY_GATE.handler, true);
        const took = performance.now() - started;
        cell.dispose();
        return { [FLOOR]: took };
      },
    });
    const series = await turns(contestants, effort, { unit: "ms", rounds: Math.ceil(effort.rounds / 3) });
    const [thread, , , child, , , floor] = series as [Series, Series, Series, Series, Series, Series, Series];
    return {
      ratios: [
        ratio("creel, thread / an isolate with the handler", over(thread, floor)),
        ratio("creel, process / an isolate with the handler", over(child, floor)),
      ],
      series,
    };
  },
} satisfies Case;
