/** Trusted side: one recorded run once more, against the plugins as they are, with its event or an edited one, without consequences. */
import type { Outcome } from "../protocol/outcome.ts";
import type { RecordedRun } from "../protocol/recording.ts";
import { ReplayHost } from "./replay-host.ts";
import type { ReplaySetup } from "./replay-host.ts";
import { recordedVerdict, verdictOf } from "./verdict.ts";
import type { Verdict } from "./verdict.ts";
import type { WhatIf } from "./what-if.ts";

export interface Rerun {
  readonly before: Verdict;
  readonly after: Verdict;
  readonly outcome: Outcome;
}

/** Rejects if the event is not valid for its hook. */
export async function rerun(recorded: RecordedRun, setup: ReplaySetup, event = recorded.event, whatIf: WhatIf = {}): Promise<Rerun> {
  await using host = await ReplayHost.open(setup, whatIf);
  const outcome = await host.run({ ...recorded, event, context: contextFor(recorded, event) });
  return { before: recordedVerdict(recorded), after: verdictOf(outcome), outcome };
}

/** Some fields of a context repeat the event's: what they had in common then follows the edited event. */
function contextFor({ event: before, context }: RecordedRun, event: RecordedRun["event"]): RecordedRun["context"] {
  return Object.fromEntries(
    Object.entries(context).flatMap(([key, value]) => {
      if (!Object.hasOwn(before, key) || before[key] !== value) return [[key, value]];
      return Object.hasOwn(event, key) ? [[key, event[key]]] : [];
    }),
  );
}
