// What would I pay with something else? One policy gate, one call at a time, run in every way there is: sandboxed by Creel, sandboxed in the ways
// people build themselves, in another process, and not sandboxed at all. Without a sandbox a handler costs next to nothing, and may do anything.
import { ratio, startedOften } from "../../case.ts";
import type { Case, Target } from "../../case.ts";
import { lighter } from "../../curve.ts";
import { POLICY_GATE } from "../../handlers.ts";
import { amongPresent } from "../../subjects/absent.ts";
import type { Present } from "../../subjects/absent.ts";
import { lasting } from "../../subjects/all.ts";
import { spawned } from "../../subjects/spawned.ts";
import type { Contestant } from "../../../src/cli/bench/contestant.ts";
import { latency, over } from "../../../src/cli/bench/measure.ts";
import type { Effort, Series } from "../../../src/cli/bench/measure.ts";

/**
 * Starting a process makes all memory of the one that starts it copy-on-write: everything else in there is two to three times as slow for thousands of calls. That is a price of this way, but
 * not the others' to pay, so it has rounds of its own, with Creel alone.
 */
const SPAWNED = "a process per hook";
const OPENINGS = { ...lasting(POLICY_GATE), [SPAWNED]: () => spawned(POLICY_GATE) };
type Name = keyof typeof OPENINGS;

/** How many times what Creel takes the other one takes. */
const TIMES: readonly (readonly [Name, Target?])[] = [
  ["naive", { atLeast: 3 }],
  ["quickjs-emscripten", { atLeast: 1 }],
  ["isolated-vm from the main thread"],
  ["a WebAssembly component"],
  ["a long-lived child over stdio"],
  ["openclaw's hook runner"],
];

/** How threads are placed on the cores is settled when they start, more or less. There are too many of them for more. */
const STARTS = 3;

/** A series for each that is there, and Creel's again from the rounds with a process per hook. */
async function measure({ contestants, indexOf }: Present<Name>, effort: Effort): Promise<Series[]> {
  const last = indexOf(SPAWNED)!;
  const others: readonly Contestant[] = contestants.filter((_, at) => at !== last);
  const series: Series[] = await latency(others, effort, { samples: 20 });
  const pair = [contestants[indexOf("creel, thread")!]!, contestants[last]!];
  const [beside, child] = (await latency(pair, { ...effort, roundsMs: effort.roundsMs / 2 }, { samples: 20 })) as [Series, Series];
  series[last] = child;
  return [...series, beside];
}

export default {
  question: "one handler, one call at a time: what would something else cost?",
  run: async (effort) => {
    let present: Present<Name>;
    const measured = await startedOften(lighter(effort, 2), STARTS, (share) =>
      amongPresent(OPENINGS, (these) => measure((present = these), share), POLICY_GATE),
    );
    const { absent, indexOf } = present!;
    const beside = measured.pop()!;
    const creel = measured[indexOf("creel, thread")!]!;
    const ratios = TIMES.flatMap(([name, target]) => {
      const at = indexOf(name);
      return at === undefined ? [] : [ratio(`${name} / creel, thread, latency`, over(measured[at]!, creel), target)];
    });
    const child = measured[indexOf(SPAWNED)!]!;
    return {
      ratios: [...ratios, ratio(`${SPAWNED} / creel, thread, latency`, over(child, beside), { atLeast: 300 })],
      series: measured,
      absent,
    };
  },
} satisfies Case;
