// How does the cost grow with the size of an event? A prompt modifier with 1 KB to 1 MB of messages, one listener. An event is encoded once and decoded once per
// listener, so it should be a straight line.
import { among, ratio } from "../../case.ts";
import type { Case } from "../../case.ts";
import { creel } from "../../creel.ts";
import { lighter, line } from "../../curve.ts";
import { threadFloor } from "../../floors/thread.ts";
import { promptOf } from "../../handlers.ts";
import { contestant } from "../../../src/cli/bench/contestant.ts";
import type { Contestant } from "../../../src/cli/bench/contestant.ts";
import { latency, over } from "../../../src/cli/bench/measure.ts";
import type { Work } from "../../handlers.ts";

const KB = [1, 4, 16, 64, 256, 1024];
const WORKS = KB.map((kb) => promptOf(kb * 1024));
/** All sizes in one work: a host is opened once, and each contestant keeps to its events. */
const ALL: Work = { ...WORKS[0]!, events: WORKS.flatMap(({ events }) => events) };
const EACH = WORKS[0]!.events.length;

function sized(all: Contestant): Contestant[] {
  return KB.map((kb, size) => contestant(`${all.name}, ${kb} KB`, (at) => all.call(size * EACH + (at % EACH))));
}

export default {
  question: "how does the cost of a call grow with its event, from 1 KB to 1 MB?",
  run: (effort) =>
    among(
      [() => creel(ALL, { isolation: "thread" }), () => creel(ALL, { isolation: "process" }), () => threadFloor(ALL)],
      async (opened) => {
        const contestants = opened.flatMap(sized);
        const series = await latency(contestants, { ...lighter(effort, 4), warmUpMs: effort.warmUpMs / 4 }, { samples: 8 });
        const [thread, child, floor] = opened.map((_, at) => series.slice(at * KB.length, (at + 1) * KB.length));
        const at100 = KB.indexOf(64);
        return {
          ratios: [
            ratio("creel, thread / floor, 64 KB", over(thread![at100]!, floor![at100]!)),
            ratio("creel, thread / floor, 1 MB", over(thread!.at(-1)!, floor!.at(-1)!)),
            ratio("creel, process / creel, thread, 1 MB", over(child!.at(-1)!, thread!.at(-1)!)),
          ],
          series: [thread!.at(-1)!, child!.at(-1)!, floor!.at(-1)!],
          curves: [
            {
              what: "latency against payload size",
              x: { name: "messages in the event", unit: "KB", scale: "log" },
              unit: "µs",
              lines: [
                line("creel, thread", KB, thread!, "linear"),
                line("creel, process", KB, child!, "linear"),
                line("floor: port + applySync", KB, floor!, "linear"),
              ],
            },
          ],
        };
      },
    ),
} satisfies Case;
