/** Hooks around an agent's turn. */
import * as z from "zod";
import { agentContext } from "./contexts.ts";
import { defineHook } from "./define.ts";

/** What a channel can send; its fields are the gateway's business. */
const replyPayload = z.record(z.string(), z.unknown());

export const beforePromptBuild = defineHook({
  name: "before_prompt_build",
  kind: "modify",
  summary: "Before the prompt is built: add context, replace the system prompt, narrow the tools.",
  event: z.looseObject({
    prompt: z.string(),
    messages: z.array(z.unknown()),
    currentUserMessage: z.unknown().optional(),
    currentUserMessageId: z.string().optional(),
  }),
  context: agentContext,
  result: z.object({
    systemPrompt: z.string().optional(),
    prependContext: z.string().optional(),
    appendContext: z.string().optional(),
    prependSystemContext: z.string().optional(),
    appendSystemContext: z.string().optional(),
    // OpenClaw reads anything but a list of strings as "no tool at all", which is the safe reading.
    toolsAllow: z.array(z.string()).catch([]).optional(),
  }),
  merge: {
    systemPrompt: { rule: "first" },
    prependContext: { rule: "join" },
    appendContext: { rule: "join" },
    prependSystemContext: { rule: "join" },
    appendSystemContext: { rule: "join" },
    toolsAllow: { rule: "intersect" },
  },
  permission: ["conversation", "prompt"],
  since: "2026.4",
});

export const beforeAgentReply = defineHook({
  name: "before_agent_reply",
  kind: "claim",
  summary: "Before the model answers: give the reply yourself, or silence.",
  event: z.looseObject({ cleanedBody: z.string() }),
  context: agentContext,
  result: z.object({ handled: z.boolean(), reply: replyPayload.optional(), reason: z.string().optional() }),
  merge: { handled: { rule: "any" }, reply: { rule: "first" }, reason: { rule: "first" } },
  terminal: { field: "handled", decision: "handled", reason: "reason" },
  filters: { eligibleTriggers: { from: "context", field: "trigger" } },
  permission: ["conversation"],
  since: "2026.4",
});

export const agentEnd = defineHook({
  name: "agent_end",
  kind: "observe",
  summary: "After an agent's run: its messages, success and duration.",
  event: z.looseObject({
    runId: z.string().optional(),
    messages: z.array(z.unknown()),
    success: z.boolean(),
    error: z.string().optional(),
    durationMs: z.number().optional(),
  }),
  context: agentContext,
  result: z.undefined(),
  permission: ["conversation"],
  since: "2026.4",
});
