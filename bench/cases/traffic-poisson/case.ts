// A gateway's day: a thousand sessions whose calls come at random, 50, 500 and 5,000 a second in all, ten plugins on the hook. The tail counts, and what a million calls cost. Against a worker with a port and ten isolates in turn.
import { among, ratio } from "../../case.ts";
import type { Case, Ratio, Target } from "../../case.ts";
import { creel } from "../../creel.ts";
import { line } from "../../curve.ts";
import { threadFloor } from "../../floors/thread.ts";
import { TAILORING } from "../../handlers.ts";
import type { Work } from "../../handlers.ts";
import type { Series } from "../../../src/cli/bench/measure.ts";
import { isKnown, pooled, samplesOf } from "../../pooled.ts";
import type { Tail } from "../../pooled.ts";
import { poisson, traffic } from "../../traffic.ts";
import type { Measured } from "../../traffic.ts";

const HANDLERS = 10;
const SESSIONS = 1_000;
/** Seconds are of the full effort. A p99.9 needs thousands of calls, which 50 a second do not give in any time that a bench has. */
const RATES = [
  { perSecond: 50, calls: 25, seconds: 30 },
  { perSecond: 500, calls: 250, seconds: 60 },
  { perSecond: 5_000, calls: 2_500, seconds: 25 },
];
const SECONDS = 20;

/** Every call is one of another session. */
const SESSIONED: Work = {
  ...TAILORING,
  events: Array.from({ length: SESSIONS }, (_, at) => ({ ...TAILORING.events[at % TAILORING.events.length], runId: `run-${at}` })),
};

const tail = ({ blocks }: Measured, q: number): Tail => ({ blocks, q });

function tails(found: readonly Measured[], rate: number): Ratio[] {
  const [process, thread, floor] = found as [Measured, Measured, Measured];
  const isHeld = rate === 500;
  const held = (target: Target): Target | undefined => (isHeld ? target : undefined);
  return [
    pooled(`creel, process: p99 / p50, ${rate} a second`, tail(process, 0.99), tail(process, 0.5), held({ atMost: 5 })),
    pooled(`creel, process / floor, p99, ${rate} a second`, tail(process, 0.99), tail(floor, 0.99), held({ atMost: 2 })),
    pooled(`creel, thread / floor, p99, ${rate} a second`, tail(thread, 0.99), tail(floor, 0.99)),
    pooled(`creel, process / floor, p50, ${rate} a second`, tail(process, 0.5), tail(floor, 0.5)),
    ...found.flatMap((one) =>
      [0.5, 0.99, 0.999].flatMap((q) => {
        const calls = samplesOf(one.blocks).toLocaleString("en-US");
        const what = `${one.latency.name}: p${q * 100} of ${calls} calls, ${rate} a second`;
        return isKnown(tail(one, q)) ? pooled(what, tail(one, q), undefined, undefined, "µs") : [];
      }),
    ),
    ...found.map((one) =>
      ratio(
        `${one.latency.name}: calls lost of ${one.calls.toLocaleString("en-US")}, ${rate} a second`,
        [one.lost],
        { atMost: 0 },
        "calls",
      ),
    ),
    // A microsecond per call is a second per million calls.
    ...found.map(({ latency, cpu }) =>
      ratio(`${latency.name}: processor time of a million calls, ${rate} a second`, cpu.rounds, undefined, "s"),
    ),
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
        for (const { perSecond, calls, seconds } of RATES) {
          const share = { ...effort, rounds: effort.rounds * 4, roundsMs: (effort.roundsMs * seconds) / SECONDS };
          found.push(await traffic(contestants, share, poisson(perSecond, calls)));
        }
        const byRate = (at: number): Series[] => found.map((each) => each[at]!.latency);
        const rates = RATES.map(({ perSecond }) => perSecond);
        return {
          ratios: found.flatMap((each, rate) => tails(each, rates[rate]!)),
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
