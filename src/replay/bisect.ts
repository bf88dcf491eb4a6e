/**
 * Trusted side: which plugins cause an outcome. Runs one recorded event with fewer and fewer plugins, each time on a fresh copy of the
 * state, and gives a smallest set that alone makes the same decision with the same result: what a plugin rewrote counts as well.
 */
import type { RecordedRun } from "../protocol/recording.ts";
import { canonicalJson } from "../text/canonical-json.ts";
import { bisectWords } from "./bisect-words.ts";
import { ReplayHost } from "./replay-host.ts";
import type { ReplaySetup } from "./replay-host.ts";
import { recordedVerdict, verdictOf } from "./verdict.ts";
import type { Verdict } from "./verdict.ts";

export interface Bisection {
  readonly verdict: Verdict;
  /** What was recorded; if it differs, the run cannot be reproduced and the set is about today's. */
  readonly recorded: Verdict;
  /** Empty: it happens without any plugin. */
  readonly plugins: readonly string[];
  /** Verdict of the run without them. */
  readonly without: Verdict;
  /** Results, if they differ though the decision is the same: what the plugins have rewritten. */
  readonly rewritten?: { readonly result: unknown; readonly without: unknown };
  readonly runs: number;
  /** The same in words, for people. It holds words of plugins. */
  readonly words: readonly string[];
}

interface Tried {
  readonly verdict: Verdict;
  readonly result: unknown;
}

export async function bisect(recorded: RecordedRun, setup: ReplaySetup): Promise<Bisection> {
  let runs = 0;
  const ids: string[] = [];
  const suspects: string[] = [];
  const tried = async (kept: readonly string[] | undefined): Promise<Tried> => {
    runs += 1;
    await using host = await ReplayHost.open(setup, { without: kept ? ids.filter((id) => !kept.includes(id)) : [] });
    const outcome = await host.run(recorded);
    if (!kept) {
      ids.push(...host.ids());
      // Only handlers of the run can decide it: plugins share no data, and a replay has no sessions.
      suspects.push(...new Set(outcome.calls.map(({ plugin }) => plugin)));
    }
    return { verdict: verdictOf(outcome), result: outcome.result };
  };
  const { verdict, result } = await tried(undefined);
  const text = canonicalJson(result ?? null);
  let isStable = false;
  const makesTheSame = async (kept: readonly string[]): Promise<boolean> => {
    const other = await tried(kept);
    const isSame = other.verdict.decision === verdict.decision && canonicalJson(other.result ?? null) === text;
    isStable ||= isSame;
    return isSame;
  };
  let plugins = await smallest(suspects, makesTheSame);
  // Not even all of them make this result again, as with a time in it: then only the decision can be compared. A long search never tried all.
  if (!isStable && !(await makesTheSame(suspects)))
    plugins = await smallest(suspects, async (kept) => (await tried(kept)).verdict.decision === verdict.decision);
  const other = await tried(ids.filter((id) => !plugins.includes(id)));
  const { verdict: without } = other;
  const isRewritten = isStable && without.decision === verdict.decision && canonicalJson(other.result ?? null) !== text;
  const rewritten = isRewritten ? { rewritten: { result, without: other.result } } : {};
  const found = { verdict, recorded: recordedVerdict(recorded), plugins, without, ...rewritten, runs };
  return { ...found, words: bisectWords(found) };
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
