/**
 * Trusted side: which plugins cause an outcome. Runs one recorded event with fewer and fewer plugins, each time on a fresh copy of the
 * state, and gives a smallest set that alone makes the same decision.
 */
import type { RecordedRun } from "../protocol/recording.ts";
import { ReplayHost } from "./replay-host.ts";
import type { ReplaySetup } from "./replay-host.ts";
import { recordedVerdict, verdictOf } from "./verdict.ts";
import type { Verdict } from "./verdict.ts";

export interface Bisection {
  readonly verdict: Verdict;
  /** What was recorded; if its decision differs, the run cannot be reproduced and the set is about today's. */
  readonly recorded: Verdict;
  /** Empty: it happens without any plugin. */
  readonly plugins: readonly string[];
  /** Verdict of the run without them. */
  readonly without: Verdict;
  readonly runs: number;
}

export async function bisect(recorded: RecordedRun, setup: ReplaySetup): Promise<Bisection> {
  let runs = 0;
  const ids: string[] = [];
  const suspects: string[] = [];
  const verdictWith = async (kept: readonly string[] | undefined): Promise<Verdict> => {
    runs += 1;
    await using host = await ReplayHost.open(setup, { without: kept ? ids.filter((id) => !kept.includes(id)) : [] });
    const outcome = await host.run(recorded);
    if (!kept) {
      ids.push(...host.ids());
      // Only handlers of the run can decide it: plugins share no data, and a replay has no sessions.
      suspects.push(...new Set(outcome.calls.map(({ plugin }) => plugin)));
    }
    return verdictOf(outcome);
  };
  const verdict = await verdictWith(undefined);
  const plugins = await smallest(suspects, async (kept) => (await verdictWith(kept)).decision === verdict.decision);
  const without = await verdictWith(ids.filter((id) => !plugins.includes(id)));
  return { verdict, recorded: recordedVerdict(recorded), plugins, without, runs };
}

/**
 * By size, so that the first that is found is a smallest one: none, each alone, each pair and so on, for as long as that takes at most so
 * many tries. With more plugins than that: what is left when nothing more can be taken away. Pure, for tests.
 */
export async function smallest(
  all: readonly string[],
  causes: (kept: readonly string[]) => Promise<boolean>,
  maxTries = TRIES,
): Promise<string[]> {
  let tries = 0;
  for (let size = 0; size <= all.length; size++) {
    const sets = combinations(all, size);
    tries += sets.length;
    if (tries > maxTries && size > 1) break;
    for (const set of sets) if (await causes(set)) return set;
  }
  let kept = [...all];
  for (const one of all) {
    const fewer = kept.filter((id) => id !== one);
    if (await causes(fewer)) kept = fewer;
  }
  return kept;
}

function combinations(all: readonly string[], size: number): string[][] {
  if (size === 0) return [[]];
  return all.flatMap((one, at) => combinations(all.slice(at + 1), size - 1).map((rest) => [one, ...rest]));
}

/** Each opens a sandbox, about a tenth of a second: all sets of six plugins, or all pairs of ten. */
const TRIES = 64;
