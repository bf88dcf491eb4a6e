/** Trusted side: how a closed hook ends when the handlers that should have judged it were not reached. */
import type { AnyHook } from "../../protocol/catalog.ts";
import type { Outcome } from "../../protocol/outcome.ts";

/** What a run that fails closed has instead of handlers' answers. Without a terminal field the gateway goes by the decision alone. */
export function closedBy(
  { terminal }: AnyHook,
  by: string | undefined,
  reason: string,
): Pick<Outcome, "decision" | "result" | "by" | "reason"> {
  const result = terminal && { [terminal.field]: terminal.equals ?? true, ...(terminal.reason && { [terminal.reason]: reason }) };
  return { decision: terminal?.decision ?? "block", result, by, reason };
}
