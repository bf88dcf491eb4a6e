// Does the number of lanes cost anything? The default is one lane per core but one. Ten plugins on one hook, each of which rewrites, with 1, 2, 4 and 8 lanes: back to back, and one call every 5 ms.
import { among, ratio } from "../../case.ts";
import type { Case } from "../../case.ts";
import { creel } from "../../creel.ts";
import { line } from "../../curve.ts";
import { TAILORING } from "../../handlers.ts";
import { latency, over } from "../../../src/cli/bench/measure.ts";
import type { Series } from "../../../src/cli/bench/measure.ts";
import { every, traffic } from "../../traffic.ts";

const LANES = [1, 2, 4, 8] as const;
const HANDLERS = 10;

function named(series: readonly Series[], what: string): Series[] {
  return series.map((one) => ({ ...one, name: `${one.name} (${what})` }));
}

export default {
  question: "ten plugins on one hook: what do 2, 4 and 8 lanes cost over one, back to back and every 5 ms?",
  run: (effort) =>
    among(
      LANES.map((lanes) => () => creel(TAILORING, { isolation: "process", handlers: HANDLERS, lanes })),
      async (contestants) => {
        const busy = await latency(contestants, { ...effort, warmUpCalls: effort.warmUpCalls / 4 }, { samples: 20 });
        const paced = await traffic(contestants, effort, every(5, 30));
        const sparse = paced.map((one) => one.latency);
        const cpu = paced.map((one) => one.cpu);
        const ratios = [
          { what: "back to back", series: busy },
          { what: "a call every 5 ms", series: sparse },
        ].flatMap(({ what, series }) =>
          LANES.slice(1).map((lanes, at) =>
            ratio(
              `ten plugins, ${lanes} lanes / 1 lane, ${what}`,
              over(series[at + 1]!, series[0]!),
              lanes > 2 ? { atMost: 1.2 } : undefined,
            ),
          ),
        );
        return {
          ratios,
          series: [...named(busy, "back to back"), ...named([...sparse, ...cpu], "every 5 ms")],
          curves: [
            {
              what: "latency against lanes",
              x: { name: "lanes", scale: "log" },
              unit: "µs",
              lines: [line("back to back", LANES, busy, "flat"), line("a call every 5 ms", LANES, sparse, "flat")],
            },
          ],
        };
      },
    ),
} satisfies Case;
