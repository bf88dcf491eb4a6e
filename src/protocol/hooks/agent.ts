/** Hooks around an agent's run: whether it starts, who answers, whether it may end. */
import * as z from "zod";
import { agentContext, agentLive, sameAsEvent } from "./contexts.ts";
import { defineHook } from "./define.ts";
import { amount, bag, flag, messages, replyPayload, text } from "./fields.ts";

/** One more pass for the model. A blank or malformed instruction counts as none. */
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
    ifItFails: { open: "the agent runs unchecked", closed: "the agent's run is blocked" },
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
    contextFrom: sameAsEvent("accountId", "channelId", "senderId"),
    result: z.discriminatedUnion("outcome", [
      z.strictObject({ outcome: z.literal("pass") }),
      z.strictObject({
        outcome: z.literal("block"),
        /** For the operator. `message` is for the user. */
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
    ifItFails: { open: "the model answers", closed: "the message counts as handled, and is not answered" },
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
    ifItFails: { open: "the answer is accepted as it is", closed: "the answer is not accepted" },
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
    contextFrom: sameAsEvent("runId", "sessionId", "sessionKey"),
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
    contextFrom: sameAsEvent("runId"),
    result: z.undefined(),
    permission: ["conversation"],
    fills: { runId: "runId" },
    since: "2026.4",
  }),
] as const;
