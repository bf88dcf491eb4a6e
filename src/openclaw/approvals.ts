/**
 * Trusted side: a sandboxed plugin's question to the user, asked by OpenClaw in the plugin's own name. The handler answers OpenClaw as
 * soon as the plugin asks; the run stays open until OpenClaw reports the user's decision, so that the plugin's `onResolution` is called.
 * OpenClaw asks one question per call: what a second sandboxed plugin asks, or changes after a question, blocks the call.
 */
import type { ApprovalAnswer } from "../host/run/approvals/approvals.ts";
import type { ApprovalQuestion } from "../host/run/approvals/question.ts";
import type { ApprovalResolution } from "../protocol/hooks/tool.ts";
import type { Outcome } from "../protocol/outcome.ts";
import type { Fields } from "./gateway-api.ts";
import type { UntypedHost } from "./hook-handlers.ts";
import { callKey, openQuestions } from "./open-questions.ts";
import type { OpenQuestion } from "./open-questions.ts";

/** Options of the run. */
interface Asking {
  readonly plugin: string;
  readonly priority: number;
  readonly signal?: AbortSignal;
}

/** `by`: the OpenClaw handler, one object for all of its calls. */
export async function askThroughGateway(host: UntypedHost, event: Fields, ctx: Fields, options: Asking, by: object): Promise<unknown> {
  const { plugin } = options;
  const [questions, call] = [openQuestions(), callKey(event, ctx)];
  const earlier = questions.before(call, by);
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
  if ("outcome" in first) {
    const { outcome } = first;
    const isBlocked = outcome.decision === "block";
    const params = (outcome.result as Fields | undefined)?.params;
    const isLate = earlier && !isBlocked && isChanged(event.params, params);
    if (isBlocked || isLate) earlier?.withdraw();
    return isLate ? tooLate(`"${plugin}" changes the parameters of this call`, earlier) : answerOf(outcome);
  }
  // SECURITY: OpenClaw would drop the later question, and the call would run. test/openclaw/approvals.test.ts
  if (earlier) {
    decided.resolve(undefined);
    earlier.withdraw();
    return tooLate(`"${plugin}" asks the user about this call`, earlier);
  }
  const { question } = first;
  const open: OpenQuestion = { plugin, by, withdraw: () => settle(undefined) };
  const settle = (answer: ApprovalAnswer): void => {
    questions.settled(call, open);
    decided.resolve(answer);
  };
  questions.add(call, open);
  // A question that was not asked, because a native plugin asked or blocked, ends with its time.
  const over = (): void => questions.settled(call, open);
  void run.then(over, over);
  return {
    ...(isChanged(event.params, question.params) && { params: question.params }),
    requireApproval: {
      title: question.title,
      description: question.description,
      ...(question.severity !== undefined && { severity: question.severity }),
      timeoutMs: question.timeoutMs,
      timeoutBehavior: question.timeoutBehavior,
      ...(question.timeoutReason !== undefined && { timeoutReason: question.timeoutReason }),
      allowedDecisions: question.allowedDecisions,
      onResolution: (resolution: ApprovalResolution) => settle(answers(resolution)),
    },
  };
}

function tooLate(what: string, { plugin }: OpenQuestion): Fields {
  const blockReason =
    `creel: ${what}, and "${plugin}" asked the user about it before. OpenClaw asks one question per call and drops what comes later, so the ` +
    `call is blocked. To allow such calls, change the settings of one of the two so that it leaves them alone, or disable it`;
  return { block: true, blockReason };
}

/** A failure of Creel's is a block, too: its reason says more than OpenClaw's "hook failed". */
function answerOf({ decision, result, reason }: Outcome): unknown {
  if (decision !== "block") return result;
  return { ...(result as Fields | undefined), block: true, ...(reason !== undefined && { blockReason: reason }) };
}

/** Parameters that the plugin left alone are not repeated: the last rewrite wins, and that may be another plugin's. */
function isChanged(before: unknown, params: unknown): boolean {
  return params !== undefined && JSON.stringify(before) !== JSON.stringify(params);
}

function answers(resolution: ApprovalResolution): ApprovalAnswer {
  if (resolution === "timeout") return null;
  return resolution === "cancelled" ? undefined : resolution;
}
