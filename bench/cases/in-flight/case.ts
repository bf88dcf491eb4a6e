// How does throughput grow with the number of calls in flight? One policy gate, 1 to 256 calls always open, against hand-written workers that batch.
import { among, ratio } from "../../case.ts";
import type { Case } from "../../case.ts";
import { lighter, line } from "../../curve.ts";
import { BESIDE_FLOORS } from "../../floors/beside.ts";
import { over, throughput } from "../../../src/cli/bench/measure.ts";
import type { Series } from "../../../src/cli/bench/measure.ts";

const IN_FLIGHT = [1, 4, 16, 64, 256];

export default {
  question: "how does throughput grow with the calls in flight, from 1 to 256?",
  run: (effort) =>
    among(BESIDE_FLOORS, async (contestants) => {
      const found: Series[][] = [];
      for (const [at, inFlight] of IN_FLIGHT.entries()) {
        // Half warm after the first.
        const warmUpMs = at === 0 ? effort.warmUpMs : effort.warmUpMs / 4;
        found.push(await throughput(contestants, { ...lighter(effort, 4), warmUpMs, roundsMs: effort.roundsMs / 3 }, inFlight));
      }
      const last = found.at(-1)!;
      return {
        ratios: [
          ratio("creel, thread / floor, 256 in flight", over(last[0]!, last[2]!)),
          ratio("creel, process / floor, 256 in flight", over(last[1]!, last[3]!)),
        ],
        series: last.map((one) => ({ ...one, name: `${one.name}, 256 in flight` })),
        curves: [
          {
            what: "throughput against calls in flight",
            x: { name: "calls in flight", scale: "log" },
            unit: "calls/ms",
            lines: contestants.map(({ name }, at) =>
              line(
                name,
                IN_FLIGHT,
                found.map((series) => series[at]!),
              ),
            ),
          },
        ],
      };
    }),
} satisfies Case;
