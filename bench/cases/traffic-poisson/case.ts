// A gateway's day: a thousand sessions whose calls come at random, 50, 500 and 5,000 a second in all, ten plugins on the hook. The tail counts, and what a million calls cost. Against a worker with a port and ten isolates in turn.
import { among, ratio } from "../../case.ts";
import type { Case, Ratio } from "../../case.ts";
import { creel } from "../../creel.ts";
import { line } from "../../curve.ts";
import { threadFloor } from "../../floors/thread.ts";
import { TAILORING } from "../../handlers.ts";
import type { Work } from "../../handlers.ts";
import type { Series } from "../../../src/cli/bench/measure.ts";
import { poisson, traffic } from "../../traffic.ts";
import type { Measured } from "../../traffic.ts";

const HANDLERS = 10;
const SESSIONS = 1_000;
const RATES = [
  { perSecond: 50, calls: 25 },
  { perSecond: 500, calls: 250 },
  { perSecond: 5_000, calls: 2_500 },
];

/** Every call is one of another session. */
const SESSIONED: Work = {
  ...TAILORING,
  events: Array.from({ length: SESSIONS }, (_, at) => ({ ...TAILORING.events[at % TAILORING.events.length], runId: `run-${at}` })),
};

/** A quantile of one over a quantile of the other, round by round. */
function pairs(one: Measured, q: number, other: Measured, p: number): number[] {
  const below = other.at(p);
  return one.at(q).map((us, round) => us / below[round]!);
}

function tails(found: readonly Measured[], rate: number): Ratio[] {
  const [process, thread, floor] = found;
  const isHeld = rate === 500;
  return [
    ratio(`creel, process: p99 / p50, ${rate} a second`, pairs(process!, 0.99, process!, 0.5), isHeld ? { atMost: 5 } : undefined),
    ratio(`creel, process / floor, p99, ${rate} a second`, pairs(process!, 0.99, floor!, 0.99), isHeld ? { atMost: 2 } : undefined),
    ratio(`creel, thread / floor, p99, ${rate} a second`, pairs(thread!, 0.99, floor!, 0.99)),
    ratio(`creel, process / floor, p50, ${rate} a second`, pairs(process!, 0.5, floor!, 0.5)),
    ...found.map(({ latency, at }) => ratio(`${latency.name}: p99.9, ${rate} a second`, at(0.999), undefined, "µs")),
    ...found.map(({ cpu }) => ratio(`${cpu.name}, ${rate} a second`, cpu.rounds, undefined, "µs")),
  ];
}

export default {
  question:
    "1,000 sessions at random, 50, 500 and 5,000 calls a second, ten plugins: what are the tails, and what does a call cost in processor time?",
  run: (effort) =>
    among(
      [
        () => creel(SESSIONED, { isolation: "process", handlers: HANDLERS }),
        () => creel(SESSIONED, { isolation: "thread", handlers: HANDLERS }),
        () => threadFloor(SESSIONED, { handlers: HANDLERS }),
      ],
      async (contestants) => {
        const found: Measured[][] = [];
        for (const { perSecond, calls } of RATES) found.push(await traffic(contestants, effort, poisson(perSecond, calls)));
        const byRate = (at: number): Series[] => found.map((each) => each[at]!.latency);
        const rates = RATES.map(({ perSecond }) => perSecond);
        return {
          ratios: found.flatMap((each, at) => tails(each, rates[at]!)),
          series: found.flatMap((each, at) =>
            each.flatMap(({ latency, cpu }) => [latency, cpu]).map((one) => ({ ...one, name: `${one.name} (${rates[at]} a second)` })),
          ),
          curves: [
            {
              what: "latency against calls a second",
              x: { name: "calls a second", scale: "log" },
              unit: "µs",
              lines: contestants.map(({ name }, at) => line(name, rates, byRate(at))),
            },
          ],
        };
      },
    ),
} satisfies Case;
