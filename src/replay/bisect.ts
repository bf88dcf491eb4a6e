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
  const verdictWith = async (kept: readonly string[] | undefined): Promise<Verdict> => {
    runs += 1;
    await using host = await ReplayHost.open(setup, { without: kept ? ids.filter((id) => !kept.includes(id)) : [] });
    if (!kept) ids.push(...host.ids());
    return verdictOf(await host.run(recorded));
  };
  const verdict = await verdictWith(undefined);
  // Only plugins that were called then, or have come since, can matter; those that listened come first.
  const called = new Set(recorded.calls.map(({ plugin }) => plugin));
  const suspects = ids.toSorted((a, b) => Number(called.has(b)) - Number(called.has(a)));
  const plugins = await smallest(suspects, async (kept) => (await verdictWith(kept)).decision === verdict.decision);
  const without = await verdictWith(ids.filter((id) => !plugins.includes(id)));
  return { verdict, recorded: recordedVerdict(recorded), plugins, without, runs };
}

/**
 * None, one alone, two together; then, since there are too many larger sets, what is left when nothing more can be taken away. Pure, for
 * tests.
 */
export async function smallest(all: readonly string[], causes: (kept: readonly string[]) => Promise<boolean>): Promise<string[]> {
  if (await causes([])) return [];
  for (const one of all) if (await causes([one])) return [one];
  if (all.length <= PAIRS)
    for (const [at, one] of all.entries()) for (const two of all.slice(at + 1)) if (await causes([one, two])) return [one, two];
  let kept = [...all];
  for (const one of all) {
    const fewer = kept.filter((id) => id !== one);
    if (await causes(fewer)) kept = fewer;
  }
  return kept;
}

/** So many plugins have 28 pairs, a few seconds of replays. */
const PAIRS = 8;
