/**
 * Trusted side: asks the user, through the gateway, when a plugin wants a tool call approved. The question carries the
 * parameters as they were when it was asked; nothing but an allowing answer in time lets the call run.
 */
import pTimeout from "p-timeout";
import { LIMITS } from "../protocol/limits.ts";
import type { ApprovalRequest, ApprovalResolution } from "../protocol/hooks/tool.ts";
import type { Fields } from "../protocol/merge.ts";
import type { Outcome } from "../protocol/outcome.ts";

export interface ApprovalQuestion extends ApprovalRequest {
  readonly pluginId: string;
  readonly hook: string;
  readonly runId: string;
  readonly toolName: string | undefined;
  readonly params: Fields;
  readonly timeoutMs: number;
}

export type ApprovalDecision = "allow-once" | "allow-always" | "deny";

/** The gateway's own way to ask. Null: nobody answered. */
export type RequestApproval = (question: ApprovalQuestion, options: { readonly signal: AbortSignal }) => Promise<ApprovalDecision | null>;

const REASONS = {
  deny: "Denied by user",
  timeout: "Approval timed out",
  cancelled: "Plugin approval unavailable (no approval route)",
  failed: "Plugin approval required (gateway unavailable)",
} as const;

type AskingOutcome = Outcome<Fields & { requireApproval: ApprovalRequest }>;

/** A block wins over the question: then nobody is asked. */
export function needsApproval(outcome: Outcome): outcome is AskingOutcome & { readonly result: {} } {
  return outcome.decision === "pass" && (outcome.result as { requireApproval?: unknown } | undefined)?.requireApproval !== undefined;
}

export async function settleApproval(
  outcome: AskingOutcome & { readonly result: {} },
  event: Fields,
  ask: RequestApproval | undefined,
  signal?: AbortSignal,
): Promise<Outcome> {
  const { result } = outcome;
  const request = result.requireApproval;
  const timeoutMs = Math.min(request.timeoutMs ?? LIMITS.approvalMs, LIMITS.maxApprovalMs);
  const question: ApprovalQuestion = {
    ...request,
    pluginId: request.pluginId!,
    hook: outcome.hook,
    runId: outcome.runId,
    toolName: typeof event.toolName === "string" ? event.toolName : undefined,
    // As the handlers saw them.
    params: JSON.parse(JSON.stringify(result.params ?? event.params)) as Fields,
    timeoutMs,
  };
  const { resolution, reason } = await resolve(question, ask, signal);
  if (resolution === "allow-once" || resolution === "allow-always")
    return { ...outcome, approval: { pluginId: question.pluginId, resolution } };
  return {
    ...outcome,
    decision: "block",
    by: question.pluginId,
    reason,
    result: { ...result, block: true, blockReason: reason },
    approval: { pluginId: question.pluginId, resolution },
  };
}

async function resolve(
  question: ApprovalQuestion,
  ask: RequestApproval | undefined,
  signal?: AbortSignal,
): Promise<{ resolution: ApprovalResolution; reason: string }> {
  if (!ask) return { resolution: "cancelled", reason: REASONS.cancelled };
  const gaveUp = new AbortController();
  try {
    const options = { signal: signal ? AbortSignal.any([signal, gaveUp.signal]) : gaveUp.signal };
    const decision = await pTimeout(ask(question, options), {
      milliseconds: question.timeoutMs,
      fallback: () => null,
      ...(signal && { signal }),
    });
    if (decision === "deny") return { resolution: "deny", reason: REASONS.deny };
    const isAllowed =
      decision !== null && (question.allowedDecisions?.includes(decision) ?? (decision === "allow-once" || decision === "allow-always"));
    if (isAllowed) return { resolution: decision, reason: "" };
    return { resolution: "timeout", reason: question.timeoutReason ?? REASONS.timeout };
  } catch (error) {
    if (signal?.aborted) throw error;
    return { resolution: "cancelled", reason: REASONS.failed };
  } finally {
    gaveUp.abort();
  }
}
