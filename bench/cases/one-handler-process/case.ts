// What does a process of its own cost? One asynchronous handler that sees its context and rewrites, one call at a time, process isolation, against a hand-written child whose worker
// thread serves a unix socket, and against Creel's own thread isolation.
import { ratio, reopened } from "../../case.ts";
import type { Case } from "../../case.ts";
import { creel } from "../../creel.ts";
import { processFloor } from "../../floors/process.ts";
import { TAILORING } from "../../handlers.ts";
import { latency, over } from "../../../src/cli/bench/measure.ts";

export default {
  question: "one handler, one call at a time, process isolation: what does it add to a hand-written child, and to thread isolation?",
  run: async (effort) => {
    const series = await reopened(
      [
        () => creel(TAILORING, { isolation: "process" }),
        () => creel(TAILORING, { isolation: "thread" }),
        () => processFloor(TAILORING),
        () => processFloor(TAILORING, { timed: false }),
      ],
      effort,
      (contestants, share) => latency(contestants, share),
    );
    const [subject, thread, floor, untimed] = series;
    return {
      ratios: [
        ratio("creel / floor, latency", over(subject, floor), { atMost: 1 }),
        ratio("creel, process / creel, thread", over(subject, thread), { atMost: 1.4 }),
        ratio("creel / floor without a timeout (does not do the job)", over(subject, untimed)),
      ],
      series,
    };
  },
} satisfies Case;
