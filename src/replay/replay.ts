/**
 * Trusted side: what if. Runs recorded events through the plugins as they are and through changed ones, side by side and under the same
 * conditions, and reports where the decisions differ. Without a change it compares with what was recorded.
 */
import type { RecordedRun } from "../protocol/recording.ts";
import { CreelError } from "../protocol/errors.ts";
import { suggest } from "../text/did-you-mean.ts";
import { LIMITS } from "../protocol/limits.ts";
import { ReplayHost } from "./replay-host.ts";
import type { ReplaySetup } from "./replay-host.ts";
import { recordedVerdict, verdictOf } from "./verdict.ts";
import type { Verdict } from "./verdict.ts";
import { isNothing, namedIn } from "./what-if.ts";
import type { WhatIf } from "./what-if.ts";

export interface Difference {
  readonly runId: string;
  readonly hook: string;
  readonly at: number;
  readonly event: RecordedRun["event"];
  readonly before: Verdict;
  readonly after: Verdict;
}

export interface ReplayReport {
  readonly runs: number;
  /** By `hook before after`, such as `before_tool_call pass block`: how many. */
  readonly changes: readonly { readonly hook: string; readonly before: string; readonly after: string; readonly count: number }[];
  /** By hook: how many runs of it were replayed. */
  readonly hooks: Readonly<Record<string, number>>;
  /** The first of them. */
  readonly differences: readonly Difference[];
  /** Runs whose event no hook of the host takes any more. */
  readonly skipped: number;
  /** With a change: how many runs the unchanged plugins decide otherwise than was recorded; they depend on time, network or state. */
  readonly unstable: number;
  /** Plugins that do not serve in the replay. */
  readonly failures: readonly { readonly plugin: string; readonly error: string }[];
}

export interface ReplayOptions {
  readonly signal?: AbortSignal;
  readonly progress?: (runs: number) => void;
}

export async function replay(
  recorded: AsyncIterable<RecordedRun> | Iterable<RecordedRun>,
  setup: ReplaySetup,
  whatIf: WhatIf = {},
  { signal, progress }: ReplayOptions = {},
): Promise<ReplayReport> {
  await using unchanged = isNothing(whatIf) ? undefined : await ReplayHost.open(setup);
  await using changed = await ReplayHost.open(setup, whatIf);
  checkNames(whatIf, changed);
  const hooks: Record<string, number> = {};
  const counts = new Map<string, { hook: string; before: string; after: string; count: number }>();
  const differences: Difference[] = [];
  let [runs, skipped, unstable] = [0, 0, 0];
  for await (const run of recorded) {
    signal?.throwIfAborted();
    const then = recordedVerdict(run);
    const [now, after] = await Promise.all([unchanged ? verdict(unchanged, run) : then, verdict(changed, run)]);
    if (!now || !after) {
      skipped += 1;
      continue;
    }
    runs += 1;
    progress?.(runs);
    hooks[run.hook] = (hooks[run.hook] ?? 0) + 1;
    if (now.decision !== then.decision) unstable += 1;
    if (now.decision === after.decision) continue;
    const key = `${run.hook} ${now.decision} ${after.decision}`;
    const count = counts.get(key) ?? { hook: run.hook, before: now.decision, after: after.decision, count: 0 };
    count.count += 1;
    counts.set(key, count);
    if (differences.length < LIMITS.record.differences)
      differences.push({ runId: run.runId, hook: run.hook, at: run.at, event: run.event, before: now, after });
  }
  return { runs, hooks, changes: [...counts.values()], differences, skipped, unstable, failures: changed.failures() };
}

/** Undefined: the host does not take the event. */
async function verdict(host: ReplayHost, run: RecordedRun): Promise<Verdict | undefined> {
  try {
    return verdictOf(await host.run(run));
  } catch (error) {
    if (error instanceof CreelError) return undefined;
    throw error;
  }
}

/** A misspelt id would show that nothing changes. */
function checkNames(whatIf: WhatIf, host: ReplayHost): void {
  const ids = host.ids();
  for (const plugin of namedIn(whatIf))
    if (!ids.includes(plugin)) throw new CreelError("ERR_REPLAY_PLUGIN", { plugin, hint: suggest(plugin, ids) });
}
