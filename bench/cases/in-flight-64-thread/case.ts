// How much of a hand-written worker's throughput is left? One policy gate, 64 calls always open, thread isolation. The floor is a worker as one
// writes it, with a message per call; the one that sends what was asked in one tick in one message, which is better, is shown beside it.
import { ratio, reopened } from "../../case.ts";
import type { Case } from "../../case.ts";
import { creel } from "../../creel.ts";
import { threadFloor } from "../../floors/thread.ts";
import { TAILORING } from "../../handlers.ts";
import { over, throughput } from "../../../src/cli/bench/measure.ts";

export default {
  question: "one handler, 64 calls in flight, thread isolation: how much of a hand-written worker's throughput is left?",
  run: async (effort) => {
    const series = await reopened(
      [
        () => creel(TAILORING, { isolation: "thread" }),
        () => threadFloor(TAILORING),
        () => threadFloor(TAILORING, { batched: false }),
        () => threadFloor(TAILORING, { timed: false }),
      ],
      effort,
      (contestants, share) => throughput(contestants, share, 64),
    );
    const [subject, floor, single, untimed] = series;
    return {
      ratios: [
        ratio("creel / floor with a message per call, throughput", over(subject, single), { atLeast: 1 }),
        ratio("creel / floor that batches by hand", over(subject, floor)),
        ratio("creel / floor without a timeout (does not do the job)", over(subject, untimed)),
      ],
      series,
    };
  },
} satisfies Case;
