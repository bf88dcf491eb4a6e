// How does the cost grow with the number of plugins in a chain? 1, 5, 10 and 50 plugins in one lane, handlers that pass. They share one hop, so each further one
// should cost the same; a hand-written chain is beside it.
import { among } from "../../case.ts";
import type { Case } from "../../case.ts";
import { creel } from "../../creel.ts";
import { lighter, line } from "../../curve.ts";
import { threadFloor } from "../../floors/thread.ts";
import { PASSING_GATE } from "../../handlers.ts";
import { latency } from "../../../src/cli/bench/measure.ts";

const LENGTHS = [1, 5, 10, 50];

export default {
  question: "how does the cost of a call grow with the plugins in its chain, from 1 to 50?",
  run: (effort) =>
    among(
      [
        ...LENGTHS.map((handlers) => () => creel(PASSING_GATE, { isolation: "thread", handlers })),
        ...LENGTHS.map((handlers) => () => creel(PASSING_GATE, { isolation: "process", handlers })),
        ...LENGTHS.map((handlers) => () => threadFloor(PASSING_GATE, { handlers })),
      ],
      async (contestants) => {
        // By calls and not by time: with a third of it the longest chain had 2,000 calls behind it, the shortest 20,000, and its handlers were not compiled yet.
        const light = { ...lighter(effort, 3), warmUpMs: effort.warmUpMs * 2 };
        const series = await latency(contestants, light, { samples: 10 });
        const of = (group: number) => series.slice(group * LENGTHS.length, (group + 1) * LENGTHS.length);
        return {
          ratios: [],
          series: [...of(0), of(1).at(-1)!, of(2).at(-1)!],
          curves: [
            {
              what: "latency against chain length",
              x: { name: "plugins in the chain", scale: "linear" },
              unit: "µs",
              lines: [
                line("creel, thread", LENGTHS, of(0), "linear"),
                line("creel, process", LENGTHS, of(1), "linear"),
                line("hand-written chain in a thread", LENGTHS, of(2), "linear"),
              ],
            },
          ],
        };
      },
    ),
} satisfies Case;
