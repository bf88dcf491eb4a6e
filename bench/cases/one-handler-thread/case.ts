// What does `host.run` add to the least a sandboxed call can cost? One asynchronous handler that sees its context and rewrites, one call at a time, thread isolation,
// against a hand-written worker with a port that gives the handler the same clock and nothing else.
import { ratio, reopened } from "../../case.ts";
import type { Case } from "../../case.ts";
import { creel } from "../../creel.ts";
import { threadFloor } from "../../floors/thread.ts";
import { TAILORING } from "../../handlers.ts";
import { latency, over } from "../../../src/cli/bench/measure.ts";

export default {
  question: "one handler, one call at a time, thread isolation: what does Creel add to a hand-written worker?",
  run: async (effort) => {
    const series = await reopened(
      [() => creel(TAILORING, { isolation: "thread" }), () => threadFloor(TAILORING), () => threadFloor(TAILORING, { timed: false })],
      effort,
      (contestants, share) => latency(contestants, share),
    );
    const [subject, floor, untimed] = series;
    return {
      ratios: [
        ratio("creel / floor, latency", over(subject, floor), { atMost: 0.8 }),
        ratio("creel / floor without a timeout (does not do the job)", over(subject, untimed)),
      ],
      series,
    };
  },
} satisfies Case;
