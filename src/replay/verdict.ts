/** Pure: what plugins decided about a run, without what the user then said, and how two verdicts differ. */
import type { Outcome } from "../protocol/outcome.ts";
import type { RecordedRun } from "../protocol/recording.ts";

export interface Verdict {
  /** A decision of the hook's, or `ask`: plugins want the user to approve it. */
  readonly decision: string;
  readonly by?: string;
  readonly reason?: string;
}

export function verdictOf({ decision, by, reason, approval }: Outcome): Verdict {
  if (approval && approval.requests.some(({ isRemembered }) => !isRemembered)) return { decision: "ask", by: approval.pluginId };
  return { decision, ...(by !== undefined && { by }), ...(reason !== undefined && { reason }) };
}

export function recordedVerdict({ decision, approval, isRemembered, by, reason }: RecordedRun): Verdict {
  if (approval !== undefined && !isRemembered) return { decision: "ask", ...(by !== undefined && { by }) };
  return { decision, ...(by !== undefined && { by }), ...(reason !== undefined && { reason }) };
}
