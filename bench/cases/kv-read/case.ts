// What does a handler cost that asks the host? A gate that awaits a read of its own store before it answers: the question travels to the host and the answer back, so
// the floor is two hops and a read: twice port + applySync, and a read of SQLite.
import { among, ratio } from "../../case.ts";
import type { Case } from "../../case.ts";
import { creel } from "../../creel.ts";
import { lighter } from "../../curve.ts";
import { sqliteFloor } from "../../floors/sqlite.ts";
import { threadFloor } from "../../floors/thread.ts";
import { KV_GATE, PASSING_GATE } from "../../handlers.ts";
import { latency, over } from "../../../src/cli/bench/measure.ts";

const WARM_UP_CALLS = 4_000;

export default {
  question: "a handler that awaits a read of its store: what does Creel add to two hops and a read?",
  run: (effort) =>
    among(
      [
        () => creel(KV_GATE, { isolation: "thread" }),
        () => creel(KV_GATE, { isolation: "process" }),
        () => creel(PASSING_GATE, { isolation: "thread" }),
        () => threadFloor(PASSING_GATE),
        sqliteFloor,
      ],
      async (contestants) => {
        // A plugin may send the host 5,000 requests within a second, and a quiet machine makes more: the warm-up must not be what that stops.
        const series = await latency(contestants, { ...lighter(effort, 2), warmUpCalls: WARM_UP_CALLS }, { samples: 20 });
        const [thread, child, without, hop, read] = series;
        const floor = { ...hop, rounds: hop.rounds.map((time, round) => 2 * time + read.rounds[round]!) };
        return {
          ratios: [
            ratio("creel, thread / two hops and a read", over(thread, floor)),
            ratio("creel, process / two hops and a read", over(child, floor)),
            ratio("creel, thread, with the read / without", over(thread, without)),
          ],
          series: series.map((one) => (one === thread || one === child ? { ...one, name: `${one.name}, awaits a kv read` } : one)),
        };
      },
    ),
} satisfies Case;
