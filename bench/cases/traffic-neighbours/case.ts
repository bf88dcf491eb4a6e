// What is left beside busy neighbours? A process that computes without end on every core, as a build or another agent does. 64 calls in flight and one at a time, against the same floors under the same load. A throughput with
// two modes shows in its spread: the ninetieth percentile of blocks over the tenth.
import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { ratio, reopened } from "../../case.ts";
import type { Case, Ratio } from "../../case.ts";
import { creel } from "../../creel.ts";
import { threadFloor } from "../../floors/thread.ts";
import { TAILORING } from "../../handlers.ts";
import { latency, over, throughput } from "../../../src/cli/bench/measure.ts";
import type { Effort, Series } from "../../../src/cli/bench/measure.ts";
import { quantile } from "../../../src/cli/bench/statistics.ts";

const IN_FLIGHT = 64;
const OPENINGS = [
  () => creel(TAILORING, { isolation: "thread" }),
  () => creel(TAILORING, { isolation: "process" }),
  () => threadFloor(TAILORING, { batched: false }),
] as const;

const spread = ({ rounds }: Series): number => quantile(rounds, 0.9) / quantile(rounds, 0.1);

async function crowd(what: string, effort: Effort): Promise<{ ratios: Ratio[]; series: Series[] }> {
  const [thread, process, floor] = await reopened(OPENINGS, { ...effort, roundsMs: effort.roundsMs / 2 }, (contestants, share) =>
    throughput(contestants, share, IN_FLIGHT),
  );
  return {
    ratios: [
      ratio(`creel, thread / a message per call, 64 in flight, ${what}`, over(thread, floor), { atLeast: 1 }),
      ratio(`creel, process / a message per call, 64 in flight, ${what}`, over(process, floor), { atLeast: 1 }),
      ...[thread, process].map((one) =>
        ratio(`${one.name}: 90th / 10th percentile of blocks, ${what}`, [spread(one)], { atMost: Math.max(2, spread(floor)) }),
      ),
      ratio(`${floor.name}: 90th / 10th percentile of blocks, ${what}`, [spread(floor)]),
    ],
    series: [thread, process, floor].map((one) => ({ ...one, name: `${one.name} (${what})` })),
  };
}

async function lone(effort: Effort): Promise<{ ratios: Ratio[]; series: Series[] }> {
  const [thread, process, floor] = await reopened(OPENINGS, { ...effort, roundsMs: effort.roundsMs / 2 }, (contestants, share) =>
    latency(contestants, share),
  );
  return {
    ratios: [
      ratio("creel, thread / port + applySync, one at a time, a busy process on every core", over(thread, floor)),
      ratio("creel, process / port + applySync, one at a time, a busy process on every core", over(process, floor)),
    ],
    series: [thread, process, floor].map((one) => ({ ...one, name: `${one.name} (one at a time, busy)` })),
  };
}

export default {
  question:
    "64 in flight with an asynchronous handler that rewrites, alone and beside a busy process on every core: how much of a floor's throughput is left, and is it one mode?",
  async run(effort) {
    const quiet = await crowd("quiet", effort);
    const neighbours = Array.from({ length: availableParallelism() }, () =>
      spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" }),
    );
    try {
      const busy = await crowd("a busy process on every core", effort);
      const one = await lone(effort);
      return { ratios: [quiet, busy, one].flatMap(({ ratios }) => ratios), series: [quiet, busy, one].flatMap(({ series }) => series) };
    } finally {
      for (const neighbour of neighbours) neighbour.kill("SIGKILL");
    }
  },
} satisfies Case;
