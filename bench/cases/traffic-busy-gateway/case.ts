// What does a call cost in a gateway that has other things to do? Its event loop is busy for 5 of every 10 ms, as one that parses and logs; a call every 5 ms. Against a worker with a port and `applySync` in the same process.
import { among, ratio } from "../../case.ts";
import type { Case } from "../../case.ts";
import { creel } from "../../creel.ts";
import { threadFloor } from "../../floors/thread.ts";
import { TAILORING } from "../../handlers.ts";
import { over } from "../../../src/cli/bench/measure.ts";
import { every, traffic } from "../../traffic.ts";

const PERIOD_MS = 10;
const BUSY_MS = 5;

function computing(): NodeJS.Timeout {
  return setInterval(() => {
    const until = performance.now() + BUSY_MS;
    while (performance.now() < until);
  }, PERIOD_MS);
}

export default {
  question: "a gateway whose event loop is half busy, a call every 5 ms: what does Creel add to a port and applySync?",
  run: (effort) =>
    among(
      [() => creel(TAILORING, { isolation: "thread" }), () => creel(TAILORING, { isolation: "process" }), () => threadFloor(TAILORING)],
      async (contestants) => {
        const timer = computing();
        try {
          const found = await traffic(contestants, { ...effort, warmUpCalls: effort.warmUpCalls / 20 }, every(5, 40));
          const [thread, process, floor] = found;
          const p99 = floor!.at(0.99);
          return {
            ratios: [
              ratio("creel, thread / port + applySync", over(thread!.latency, floor!.latency)),
              ratio("creel, process / port + applySync", over(process!.latency, floor!.latency)),
              ratio(
                "creel, process / port + applySync, p99",
                process!.at(0.99).map((us, round) => us / p99[round]!),
              ),
            ],
            series: found.flatMap(({ latency, cpu }) => [latency, cpu]),
          };
        } finally {
          clearInterval(timer);
        }
      },
    ),
} satisfies Case;
