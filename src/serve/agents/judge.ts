/**
 * Trusted side: runs Creel's hooks for one event of another agent, and makes one decision of their outcomes. The host's
 * answers are checked too: a client of the socket reads them from another process. An agent that cannot obey an answer
 * gets the stricter one: no "ask" becomes a denial, and so does a rewrite that cannot be applied.
 */
import { CreelError } from "../../protocol/errors.ts";
import { oneLine } from "../../text/one-line.ts";
import { isBag } from "./format.ts";
import type { AgentFormat, Bag, Moment, Reading, HookDecision } from "./format.ts";

/** What is read of an outcome. */
export interface HookOutcome {
  readonly decision: string;
  readonly result?: unknown;
  readonly by?: string | null | undefined;
  readonly reason?: string | null | undefined;
}

/** What is read of a question about approvals. */
export interface HookQuestion {
  readonly title: string;
  readonly description: string;
  readonly pluginId: string;
  /** As the tool would run with them. */
  readonly params: Bag;
}

export interface HookRunner {
  /** No user is asked: a run that asks for approvals ends as blocked, and its question is returned. */
  run(hook: string, event: Bag, ctx: Bag): Promise<{ readonly outcome: HookOutcome; readonly question: HookQuestion | undefined }>;
  emit(hook: string, event: Bag, ctx: Bag): Promise<void>;
}

/** Models and people read it in a small place. */
const REASON_CHARS = 2_000;
/** Of parameters in a reason. */
const PARAMS_CHARS = 1_000;

interface Asked {
  readonly format: AgentFormat;
  readonly reading: Reading;
  readonly sessionId: string;
  readonly sessionKey: string;
  readonly ctx: Bag;
  readonly runner: HookRunner;
}

const PASS: HookDecision = { kind: "pass" };

const AT: Readonly<Record<Moment, (asked: Asked) => Promise<HookDecision>>> = {
  "before-tool": beforeTool,
  "after-tool": async ({ reading, ctx, runner }) => {
    const { toolName, params = {}, toolCallId, result, error, durationMs } = reading;
    await runner.emit("after_tool_call", { toolName, params, ...given({ toolCallId, result, error, durationMs }) }, { ...ctx, toolName });
    return PASS;
  },
  prompt: prompted,
  stop: stopped,
  "before-compaction": async ({ reading, ctx, runner }) => {
    await runner.emit("before_compaction", { messageCount: reading.messageCount ?? 0, ...given({ sessionFile: reading.transcript }) }, ctx);
    return PASS;
  },
  "session-start": async ({ reading, sessionId, sessionKey, ctx, runner }) => {
    await runner.emit("session_start", { sessionId, sessionKey, ...(reading.source === "resume" && { resumedFrom: sessionId }) }, ctx);
    return PASS;
  },
  "session-end": async ({ reading, sessionId, sessionKey, ctx, runner }) => {
    // None of the agents says how many messages there were.
    const event = { sessionId, sessionKey, messageCount: 0, reason: "unknown", ...given({ sessionFile: reading.transcript }) };
    await runner.emit("session_end", event, ctx);
    return PASS;
  },
};

/** Rejects if the host does not answer, or not as it should: see `refusal`. */
export function judge(format: AgentFormat, moment: Moment, reading: Reading, runner: HookRunner): Promise<HookDecision> {
  const { name: gateway } = format;
  const { session: sessionId = "unknown", cwd, turn } = reading;
  const sessionKey = `${gateway}:${sessionId}`;
  const ctx = { gateway, sessionId, sessionKey, channelId: gateway, ...given({ runId: turn, workspaceDir: cwd }) };
  return AT[moment]({ format, reading, sessionId, sessionKey, ctx, runner });
}

async function stopped({ format, reading, sessionId, sessionKey, ctx, runner }: Asked): Promise<HookDecision> {
  const { isRetry = false, lastMessage, transcript, turn, cwd } = reading;
  if (format.obeys.revise) {
    const more = given({ turnId: turn, cwd, transcriptPath: transcript, lastAssistantMessage: lastMessage });
    const event = { sessionId, sessionKey, stopHookActive: isRetry, provider: format.name, ...more };
    const { result } = checked((await runner.run("before_agent_finalize", event, ctx)).outcome);
    const retry = isBag(result.retry) && typeof result.retry.instruction === "string" ? result.retry.instruction : result.reason;
    // A second round that asks for a third would not end.
    if (result.action === "revise" && !isRetry) return { kind: "revise", reason: said(retry, "a plugin wants one more pass") };
  }
  const messages = lastMessage === undefined ? [] : [{ role: "assistant", content: lastMessage }];
  await runner.emit("agent_end", { messages, success: true }, ctx);
  return PASS;
}

async function beforeTool({ format, reading, ctx, runner }: Asked): Promise<HookDecision> {
  const { toolName, params = {}, toolCallId } = reading;
  const { outcome, question } = await runner.run("before_tool_call", { toolName, params, ...given({ toolCallId }) }, { ...ctx, toolName });
  const { decision, by, reason, result } = checked(outcome);
  if (question && decision === "block") {
    const input = isSame(question.params, params) ? undefined : question.params;
    const why = said(`${question.title}: ${question.description}`, "a plugin wants your approval");
    const asks = `Creel, plugin ${oneLine(question.pluginId)}: ${why}`;
    if (!format.obeys.ask)
      return {
        kind: "deny",
        reason: `${asks}. ${format.title} has no way to ask you from a hook, so the call is denied: make it yourself, or change the plugin's rules.`,
      };
    return { kind: "ask", reason: asks, ...(input && { input }) };
  }
  if (decision !== "pass") return { kind: "deny", reason: `Creel, plugin ${by ?? "unknown"}: ${said(reason, "blocked")}` };
  if (!isBag(result.params)) return PASS;
  const input = { ...params, ...result.params };
  if (isSame(input, params)) return PASS;
  if (format.obeys.rewrite) return { kind: "pass", input };
  const changed = oneLine(JSON.stringify(result.params), PARAMS_CHARS);
  return {
    kind: "deny",
    reason: `Creel: a plugin changed the parameters, and ${format.title} cannot apply that. Call the tool again with ${changed}`,
  };
}

async function prompted({ format: { obeys }, reading: { prompt = "" }, sessionKey, ctx, runner }: Asked): Promise<HookDecision> {
  await runner.emit("message_received", { from: "user", content: prompt, sessionKey }, ctx);
  if (obeys.promptBlock) {
    const { outcome } = await runner.run("before_agent_run", { prompt, messages: [] }, ctx);
    const { decision, by, reason, result } = checked(outcome);
    // `message` is for the user, `reason` for the operator.
    if (decision !== "pass")
      return { kind: "deny", reason: `Creel, plugin ${by ?? "unknown"}: ${said(result.message ?? reason, "blocked")}` };
  }
  const context: string[] = [];
  if (obeys.context)
    for (const { outcome } of await Promise.all([
      runner.run("agent_turn_prepare", { prompt, messages: [], queuedInjections: [] }, ctx),
      runner.run("before_prompt_build", { prompt, messages: [] }, ctx),
    ])) {
      const { result } = checked(outcome);
      for (const text of [result.prependContext, result.appendContext]) if (typeof text === "string" && text !== "") context.push(text);
    }
  return { kind: "pass", ...(context.length > 0 && { context: context.join("\n\n") }) };
}

/**
 * The decision when Creel could not judge. SECURITY: what the agent would let pass is denied; what it cannot stop anyway,
 * and the end of a turn, goes on. test/cli/hook/hook.test.ts
 */
export function refusal({ obeys }: AgentFormat, moment: Moment, error: unknown): HookDecision {
  if (moment !== "before-tool" && !(moment === "prompt" && obeys.promptBlock)) return PASS;
  return { kind: "deny", reason: `Creel has not checked this, so it is denied: ${explained(error)}` };
}

/** In one line, with what to do. */
export function explained(error: unknown): string {
  const message = oneLine(error instanceof Error ? error.message : String(error), REASON_CHARS);
  return error instanceof CreelError ? `${message}. To fix it: ${error.fix}.` : `${message}. To fix it: read the log of "creel serve".`;
}

interface CheckedOutcome {
  readonly decision: string;
  readonly by: string | undefined;
  readonly reason: string | undefined;
  readonly result: Bag;
}

/** Throws: a value that is not an outcome decides nothing, so the caller denies. */
function checked(outcome: unknown): CheckedOutcome {
  if (!isBag(outcome) || typeof outcome.decision !== "string")
    throw new CreelError("ERR_SERVE_FRAME", { detail: "the answer is not an outcome" });
  const { decision, by, reason, result } = outcome;
  if (result !== undefined && result !== null && !isBag(result))
    throw new CreelError("ERR_SERVE_FRAME", { detail: "the result is not an object" });
  return {
    decision,
    by: typeof by === "string" ? oneLine(by) : undefined,
    reason: typeof reason === "string" ? reason : undefined,
    result: isBag(result) ? result : {},
  };
}

/** SECURITY: a plugin's words reach a terminal and a model: one line, bounded. test/cli/hook/hook.test.ts */
function said(text: unknown, otherwise: string): string {
  return (typeof text === "string" && oneLine(text, REASON_CHARS)) || otherwise;
}

function isSame(a: Bag, b: Bag): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function given(fields: Bag): Bag {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
