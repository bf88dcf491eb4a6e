/** Hooks around an agent's run: whether it starts, who answers, whether it may end. */
import * as z from "zod";
import { agentContext, agentLive } from "./contexts.ts";
import { defineHook } from "./define.ts";
import { amount, bag, flag, messages, replyPayload, text } from "./fields.ts";

/** One more pass for the model. A blank or malformed instruction is no instruction. */
const retry = z
  .object({
    instruction: z.string().trim().min(1),
    idempotencyKey: text.catch(undefined),
    maxAttempts: z.int().positive().optional().catch(undefined),
  })
  .optional()
  .catch(undefined);

export const agentHooks = [
  defineHook({
    name: "before_agent_run",
    kind: "gate",
    summary: "Before an agent runs: let it pass or block it; an answer that is neither blocks.",
    event: z.looseObject({
      prompt: z.string(),
      messages,
      systemPrompt: text,
      accountId: text,
      channelId: text,
      senderId: text,
      senderIsOwner: flag,
    }),
    context: agentContext,
    live: agentLive,
    result: z.discriminatedUnion("outcome", [
      z.strictObject({ outcome: z.literal("pass") }),
      z.strictObject({
        outcome: z.literal("block"),
        /** For the operator; `message` is what the user may read. */
        reason: z.string(),
        message: text,
        category: text,
        metadata: bag.optional(),
      }),
    ]),
    merge: {
      outcome: { rule: "rank", ranks: ["pass", "block"] },
      reason: { rule: "first" },
      message: { rule: "first" },
      category: { rule: "first" },
      metadata: { rule: "first" },
    },
    terminal: { field: "outcome", equals: "block", decision: "block", reason: "reason" },
    failure: "closed",
    nullIs: "invalid",
    permission: ["conversation"],
    since: "2026.9",
  }),

  defineHook({
    name: "before_agent_reply",
    kind: "claim",
    summary: "Before the model answers: give the reply yourself, or silence.",
    event: z.looseObject({ cleanedBody: z.string() }),
    context: agentContext,
    live: agentLive,
    result: z.object({ handled: z.boolean(), reply: replyPayload.optional(), reason: text }),
    merge: { handled: { rule: "any" }, reply: { rule: "first" }, reason: { rule: "first" } },
    terminal: { field: "handled", decision: "handled", reason: "reason" },
    filters: { eligibleTriggers: { from: "context", field: "trigger" } },
    permission: ["conversation"],
    since: "2026.4",
  }),

  defineHook({
    name: "before_agent_finalize",
    kind: "modify",
    summary: "Before a final answer is accepted: ask for one more pass (`revise`), or force the end (`finalize`).",
    event: z.looseObject({
      runId: text,
      sessionId: z.string(),
      sessionKey: text,
      turnId: text,
      provider: text,
      model: text,
      cwd: text,
      transcriptPath: text,
      stopHookActive: z.boolean(),
      lastAssistantMessage: text,
      messages: messages.optional(),
    }),
    context: agentContext,
    live: agentLive,
    result: z.object({ action: z.enum(["continue", "revise", "finalize"]).optional(), reason: text, retry }),
    merge: {
      action: { rule: "rank", ranks: ["continue", "revise", "finalize"] },
      reason: { rule: "join", follows: "action" },
      retry: { rule: "first", follows: "action" },
    },
    permission: ["conversation"],
    since: "2026.4",
  }),

  defineHook({
    name: "agent_end",
    kind: "observe",
    summary: "After an agent's run: its messages, success and duration.",
    event: z.looseObject({ runId: text, messages, success: z.boolean(), error: text, durationMs: amount }),
    context: agentContext,
    live: agentLive,
    result: z.undefined(),
    permission: ["conversation"],
    fills: { runId: "runId" },
    since: "2026.4",
  }),
] as const;
