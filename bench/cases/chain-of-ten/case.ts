// What does a chain cost? Ten plugins in one lane: at most one hop and, for each handler, 1.3 times a bare `applySync`. The bound is formed inside each round: a hand-written worker
// with one handler, less one bare `applySync`, is the hop; to that come ten times 1.3 bare `applySync` into ten isolates in turn, since a chain of ten plugins enters ten.
//
// And what does one more handler cost? Ten plugins against one: a ninth of the difference is one extra handler, and is compared with
// a bare `applySync` of the same handler on the caller's thread, into ten isolates in turn; the same into
// one hot isolate, whose code and data never leave the caches, is shown beside it. Once with handlers that return nothing, once with handlers that each
// rewrite what the next one sees, where the floor also writes the event and reads the result.
import { ratio, reopened } from "../../case.ts";
import type { Case, CaseResult } from "../../case.ts";
import { creel } from "../../creel.ts";
import { bareFloor } from "../../floors/bare.ts";
import { threadFloor } from "../../floors/thread.ts";
import { EXCLAIM, PASSING_GATE } from "../../handlers.ts";
import type { Work } from "../../handlers.ts";
import { latency } from "../../../src/cli/bench/measure.ts";
import type { Effort, Series } from "../../../src/cli/bench/measure.ts";

const CHAIN = 10;
/** What a handler may cost, in bare calls. */
const SHARE = 1.3;

/** Per round: what one more handler cost. */
function perExtra(one: Series, ten: Series): number[] {
  return ten.rounds.map((time, round) => (time - one.rounds[round]!) / (CHAIN - 1));
}

async function chain(what: string, work: Work, encodes: boolean, effort: Effort): Promise<CaseResult> {
  const series = await reopened(
    [
      () => creel(work, { isolation: "thread" }),
      () => creel(work, { isolation: "thread", handlers: CHAIN }),
      () => bareFloor(work, { encodes }),
      () => bareFloor(work, { encodes, isolates: CHAIN }),
      () => bareFloor(work, { encodes, timed: false }),
      () => threadFloor(work),
      () => threadFloor(work, { handlers: CHAIN }),
    ],
    { ...effort, warmUpCalls: effort.warmUpCalls / 2 },
    (contestants, share) => latency(contestants, share, { samples: 20 }),
  );
  const [one, ten, bare, inTurn, untimed, floorOne, floorTen] = series;
  const extra = perExtra(one, ten);
  const floorExtra = perExtra(floorOne, floorTen);
  const bound = floorOne.rounds.map((hand, round) => hand - bare.rounds[round]! + CHAIN * SHARE * inTurn.rounds[round]!);
  const against = (floor: readonly number[]): number[] => extra.map((cost, round) => cost / floor[round]!);
  return {
    ratios: [
      ratio(
        `ten handlers, each ${what} / (1 hop + 10 × ${SHARE} applySync)`,
        ten.rounds.map((time, round) => time / bound[round]!),
        { atMost: 1 },
      ),
      ratio(`extra handler that ${what} / bare applySync, ten isolates in turn`, against(inTurn.rounds)),
      ratio(`extra handler that ${what} / bare applySync, one hot isolate`, against(bare.rounds)),
      ratio(`extra handler that ${what} / extra handler of a hand-written chain`, against(floorExtra)),
      ratio(`extra handler that ${what} / bare applySync without a timeout (does not do the job)`, against(untimed.rounds)),
    ],
    series: series.map((line) => ({ ...line, name: `${line.name} (${what})` })),
  };
}

export default {
  question: "ten handlers in one lane: what do they cost, in one hop and bare applySync calls?",
  run: async (effort) => {
    const passing = await chain("passes", PASSING_GATE, false, effort);
    const rewriting = await chain("rewrites", EXCLAIM, true, effort);
    return { ratios: [...passing.ratios, ...rewriting.ratios], series: [...passing.series, ...rewriting.series] };
  },
} satisfies Case;
