/**
 * Trusted side: a sandboxed plugin's question to the user, asked by OpenClaw in the plugin's own name. The handler answers OpenClaw as
 * soon as the plugin asks; the run stays open until OpenClaw reports the user's decision, so that the plugin's `onResolution` is called.
 */
import type { ApprovalAnswer } from "../host/run/approvals/approvals.ts";
import type { ApprovalQuestion } from "../host/run/approvals/question.ts";
import type { ApprovalResolution } from "../protocol/hooks/tool.ts";
import type { Outcome } from "../protocol/outcome.ts";
import type { Fields } from "./gateway-api.ts";
import type { UntypedHost } from "./hook-handlers.ts";

export async function askThroughGateway(host: UntypedHost, event: Fields, ctx: Fields, options: object): Promise<unknown> {
  const asked = Promise.withResolvers<ApprovalQuestion>();
  const decided = Promise.withResolvers<ApprovalAnswer>();
  const run = host.run("before_tool_call", event, ctx, {
    ...options,
    // OpenClaw asks about every call, whatever was allowed before.
    remember: false,
    requestApproval: (question: ApprovalQuestion, { signal }: { signal: AbortSignal }) => {
      signal.addEventListener("abort", () => decided.resolve(undefined), { once: true });
      asked.resolve(question);
      return decided.promise;
    },
  });
  // The run outlives this handler when the plugin asks.
  run.catch(() => {});
  const first = await Promise.race([run.then((outcome) => ({ outcome })), asked.promise.then((question) => ({ question }))]);
  if ("outcome" in first) return answerOf(first.outcome);
  const { question } = first;
  return {
    ...changed(event.params, question.params),
    requireApproval: {
      title: question.title,
      description: question.description,
      ...(question.severity !== undefined && { severity: question.severity }),
      timeoutMs: question.timeoutMs,
      timeoutBehavior: question.timeoutBehavior,
      ...(question.timeoutReason !== undefined && { timeoutReason: question.timeoutReason }),
      allowedDecisions: question.allowedDecisions,
      onResolution: (resolution: ApprovalResolution) => decided.resolve(answers(resolution)),
    },
  };
}

/** A failure of Creel's is a block, too: its reason says more than OpenClaw's "hook failed". */
function answerOf({ decision, result, reason }: Outcome): unknown {
  if (decision !== "block") return result;
  return { ...(result as Fields | undefined), block: true, ...(reason !== undefined && { blockReason: reason }) };
}

/** Parameters that the plugin left alone are not repeated: the last rewrite wins, and that may be another plugin's. */
function changed(before: unknown, params: Fields): { params?: Fields } {
  return JSON.stringify(before) === JSON.stringify(params) ? {} : { params };
}

function answers(resolution: ApprovalResolution): ApprovalAnswer {
  if (resolution === "timeout") return null;
  return resolution === "cancelled" ? undefined : resolution;
}
