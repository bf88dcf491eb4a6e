// What does a call take that comes after a pause, when every thread sleeps? A hook that is run now and then, and not in a burst: each contestant rests for a few milliseconds, and
// then makes one call, which wakes everybody.
import { setTimeout as sleep } from "node:timers/promises";
import { among, ratio } from "../../case.ts";
import type { Case } from "../../case.ts";
import { BESIDE_FLOORS } from "../../floors/beside.ts";
import { elapsed, turn, turns } from "../../turns.ts";
import type { Contestant } from "../../../src/cli/bench/contestant.ts";
import { over } from "../../../src/cli/bench/measure.ts";
import type { Series } from "../../../src/cli/bench/measure.ts";

const PAUSE_MS = 5;
const WARM_CALLS = 5_000;

async function afterPause({ call }: Contestant, at: number): Promise<number> {
  await sleep(PAUSE_MS);
  return (await elapsed(() => call(at))) * 1_000;
}

export default {
  question: `one call after a pause of ${PAUSE_MS} ms, when all threads sleep: what does it take?`,
  run: (effort) =>
    among(BESIDE_FLOORS, async (contestants) => {
      for (const { call } of contestants) for (let at = 0; at < WARM_CALLS; at++) await call(at);
      const series = await turns(
        contestants.map((one) => turn(one.name, (round) => afterPause(one, round))),
        effort,
        { unit: "µs", rounds: effort.rounds * 3 },
      );
      const [thread, child, threadOnly, childOnly] = series as [Series, Series, Series, Series];
      return {
        ratios: [
          ratio("creel, thread / floor", over(thread, threadOnly)),
          ratio("creel, process / floor", over(child, childOnly)),
          ratio("creel, process / creel, thread", over(child, thread)),
        ],
        series,
      };
    }),
} satisfies Case;
