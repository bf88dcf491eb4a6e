// Does a plugin cost anything while others are called? 10 to 500 plugins are loaded, three of them listen. Order is decided when handlers register, so the
// number of those that do not listen should not matter.
import { among, ratio } from "../../case.ts";
import type { Case } from "../../case.ts";
import { creel } from "../../creel.ts";
import { lighter, line } from "../../curve.ts";
import { PASSING_GATE } from "../../handlers.ts";
import { latency, over } from "../../../src/cli/bench/measure.ts";

const LISTENING = 3;
const INSTALLED = [3, 10, 50, 150, 500];

export default {
  question: "three plugins listen: does it matter how many others are installed, up to 500?",
  run: (effort) =>
    among(
      INSTALLED.map((count) => () => creel(PASSING_GATE, { isolation: "thread", handlers: LISTENING, beside: count - LISTENING })),
      async (contestants) => {
        const series = await latency(contestants, lighter(effort, 2), { samples: 20 });
        return {
          // Within noise: a tenth is what two runs of the same thing may differ by.
          ratios: [ratio("500 installed / 3 installed, latency", over(series.at(-1)!, series[0]!), { atMost: 1.1 })],
          series,
          curves: [
            {
              what: "latency against installed plugins",
              x: { name: "plugins installed, 3 listening", scale: "linear" },
              unit: "µs",
              lines: [line("creel, thread", INSTALLED, series, "flat")],
            },
          ],
        };
      },
    ),
} satisfies Case;
