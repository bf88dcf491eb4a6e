// How much throughput does a process of its own leave? One policy gate, 64 calls always open, against a hand-written child whose worker
// thread serves a unix socket, and against Creel's own thread isolation.
import { ratio, reopened } from "../../case.ts";
import type { Case } from "../../case.ts";
import { creel } from "../../creel.ts";
import { processFloor } from "../../floors/process.ts";
import { TAILORING } from "../../handlers.ts";
import { over, throughput } from "../../../src/cli/bench/measure.ts";

export default {
  question: "one handler, 64 calls in flight, process isolation: how much of a hand-written child's throughput is left?",
  run: async (effort) => {
    const series = await reopened(
      [
        () => creel(TAILORING, { isolation: "process" }),
        () => creel(TAILORING, { isolation: "thread" }),
        () => processFloor(TAILORING),
        () => processFloor(TAILORING, { timed: false }),
      ],
      effort,
      (contestants, share) => throughput(contestants, share, 64),
    );
    const [subject, thread, floor, untimed] = series;
    return {
      ratios: [
        ratio("creel / floor, throughput", over(subject, floor)),
        ratio("creel, process / creel, thread, throughput", over(subject, thread), { atLeast: 0.9 }),
        ratio("creel / floor without a timeout (does not do the job)", over(subject, untimed)),
      ],
      series,
    };
  },
} satisfies Case;
