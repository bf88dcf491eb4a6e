// What does an observer cost? Three plugins that only look at `after_tool_call`; nobody waits for them in a gateway (`emit`), here the bench does (`run`). What the gateway's
// thread spends on an `emit` that it does not wait for is shown, too.
import { openHost } from "creel";
import { among, ratio } from "../../case.ts";
import type { Case } from "../../case.ts";
import { creel } from "../../creel.ts";
import { lighter } from "../../curve.ts";
import { threadFloor } from "../../floors/thread.ts";
import { asPlugins, eventAt, OBSERVER } from "../../handlers.ts";
import { contestant } from "../../../src/cli/bench/contestant.ts";
import type { Contestant } from "../../../src/cli/bench/contestant.ts";
import { latency, over } from "../../../src/cli/bench/measure.ts";

const OBSERVERS = 3;

/** Bursts of emits, each followed by one run that waits, so that nothing piles up. */
const BURST = 8;

async function emitting(): Promise<Contestant> {
  const host = await openHost({ isolation: "thread", lanes: 1, plugins: asPlugins(OBSERVER, OBSERVERS) });
  const emit = host.emit.bind(host) as (hook: string, event: object, context: object) => void;
  const run = host.run.bind(host) as (hook: string, event: object, context: object) => Promise<unknown>;
  return contestant(
    `creel, thread, ${BURST - 1} emits and a run`,
    async (at) => {
      for (let i = 1; i < BURST; i++) emit(OBSERVER.hook, eventAt(OBSERVER, at + i), OBSERVER.context);
      await run(OBSERVER.hook, eventAt(OBSERVER, at), OBSERVER.context);
    },
    () => host.close(),
  );
}

export default {
  question: "three observers: what does it take to tell them, and what if nobody waits?",
  run: (effort) =>
    among(
      [
        () => creel(OBSERVER, { isolation: "thread", handlers: OBSERVERS }),
        () => creel(OBSERVER, { isolation: "process", handlers: OBSERVERS }),
        () => threadFloor(OBSERVER, { handlers: OBSERVERS, chained: false }),
        emitting,
      ],
      async (contestants) => {
        const series = await latency(contestants, lighter(effort, 2), { samples: 20 });
        const [thread, child, floor, burst] = series;
        return {
          ratios: [
            ratio("creel, thread / one encode + one hop + 3 calls", over(thread, floor)),
            ratio("creel, process / one encode + one hop + 3 calls", over(child, floor)),
            ratio(
              `one of ${BURST} events in a burst / one alone`,
              over(burst, thread).map((times) => times / BURST),
            ),
          ],
          series,
        };
      },
    ),
} satisfies Case;
