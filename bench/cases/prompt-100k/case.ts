// What does a long conversation cost? A prompt modifier with 100 KB of messages, and three plugins that listen. The floor is one encode, one hop and three decodes,
// by hand: the event is written once, travels once, and each of three isolates parses it. QuickJS, which parses more slowly than V8, is shown beside it.
import { ratio } from "../../case.ts";
import type { Case } from "../../case.ts";
import { creel } from "../../creel.ts";
import { lighter } from "../../curve.ts";
import { threadFloor } from "../../floors/thread.ts";
import { promptOf } from "../../handlers.ts";
import { amongPresent } from "../../subjects/absent.ts";
import { quickjs } from "../../subjects/quickjs.ts";
import { latency, over } from "../../../src/cli/bench/measure.ts";

const WORK = promptOf(100 * 1024);
const LISTENERS = 3;

export default {
  question: "100 KB of messages, three listeners: what does Creel add to one encode, one hop and three decodes?",
  run: (effort) =>
    amongPresent(
      {
        thread: () => creel(WORK, { isolation: "thread", handlers: LISTENERS }),
        process: () => creel(WORK, { isolation: "process", handlers: LISTENERS }),
        floor: () => threadFloor(WORK, { handlers: LISTENERS, chained: false }),
        one: () => creel(WORK, { isolation: "thread" }),
        quickjs: () => quickjs(WORK),
      },
      async ({ contestants, absent, indexOf }) => {
        const series = await latency(contestants, { ...lighter(effort, 2), warmUpMs: effort.warmUpMs / 2 }, { samples: 10 });
        const [thread, child, floor, one] = [series[0]!, series[1]!, series[2]!, series[3]!];
        const interpreter = series[indexOf("quickjs") ?? -1];
        return {
          ratios: [
            ratio("creel, thread / one encode + one hop + 3 decodes", over(thread, floor), { atMost: 1.5 }),
            ratio("creel, process / one encode + one hop + 3 decodes", over(child, floor)),
            ...(interpreter ? [ratio("quickjs on the same thread / creel, thread, one listener", over(interpreter, one))] : []),
          ],
          series,
          absent,
        };
      },
    ),
} satisfies Case;
