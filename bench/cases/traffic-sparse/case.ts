// What does a lone call cost? A user's tool call comes every few milliseconds at most, when all threads sleep: here one every 5 ms and one every 50 ms, with a handler as most are, asynchronous, that sees its
// context and rewrites. Against a worker with a port and `applySync`, in time and in processor time.
import { among, ratio } from "../../case.ts";
import type { Case, Ratio } from "../../case.ts";
import { creel } from "../../creel.ts";
import { processFloor } from "../../floors/process.ts";
import { threadFloor } from "../../floors/thread.ts";
import { TAILORING } from "../../handlers.ts";
import { over } from "../../../src/cli/bench/measure.ts";
import type { Effort, Series } from "../../../src/cli/bench/measure.ts";
import { every, traffic } from "../../traffic.ts";

const PACES = [
  { ms: 5, calls: 40 },
  { ms: 50, calls: 8 },
];

async function paced({ ms, calls }: (typeof PACES)[number], effort: Effort): Promise<{ ratios: Ratio[]; series: Series[] }> {
  const openings = [
    () => creel(TAILORING, { isolation: "thread" }),
    () => creel(TAILORING, { isolation: "process" }),
    () => threadFloor(TAILORING),
    () => processFloor(TAILORING),
  ] as const;
  const found = await among(openings, (contestants) =>
    traffic(contestants, { ...effort, roundsMs: effort.roundsMs * 1.5 }, every(ms, calls)),
  );
  const [thread, process, floor, socket] = found;
  const held = ms === PACES[0]!.ms;
  const line = (what: string, one: Series, other: Series, atMost: number): Ratio =>
    ratio(`${what}, a call every ${ms} ms`, over(one, other), held ? { atMost } : undefined);
  return {
    ratios: [
      line("creel, thread / port + applySync", thread!.latency, floor!.latency, 1.2),
      line("creel, process / port + applySync", process!.latency, floor!.latency, 1.5),
      ratio(`creel, process / socket + applySync, a call every ${ms} ms`, over(process!.latency, socket!.latency)),
      line("processor time, creel, thread / port + applySync", thread!.cpu, floor!.cpu, 1.3),
      line("processor time, creel, process / socket + applySync", process!.cpu, socket!.cpu, 1.3),
    ],
    series: found.flatMap(({ latency, cpu }) => [latency, cpu]).map((series) => ({ ...series, name: `${series.name} (every ${ms} ms)` })),
  };
}

export default {
  question:
    "a lone call every 5 and every 50 ms, asynchronous handler that sees its context and rewrites: what does it add to its hop, and in processor time?",
  async run(effort) {
    const found = [];
    for (const pace of PACES) found.push(await paced(pace, effort));
    return { ratios: found.flatMap(({ ratios }) => ratios), series: found.flatMap(({ series }) => series) };
  },
} satisfies Case;
