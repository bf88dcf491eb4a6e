/** Hooks around the choice of a model and the calls to it. */
import * as z from "zod";
import { agentContext, agentLive, sameAsEvent } from "./contexts.ts";
import { defineHook } from "./define.ts";
import { amount, contextWindow, flag, messages, text, tokenUsage } from "./fields.ts";
import { modelFields, modelMerge } from "./prompt.ts";

/** Metadata only: neither prompt nor answer. */
const modelCall = {
  runId: z.string(),
  callId: z.string(),
  sessionKey: text,
  sessionId: text,
  provider: z.string(),
  model: z.string(),
  api: text,
  transport: text,
  ...contextWindow,
};

const llmRequest = { runId: z.string(), sessionId: z.string(), provider: z.string(), model: z.string() };

export const modelHooks = [
  defineHook({
    name: "before_model_resolve",
    kind: "modify",
    summary: "Before the model is chosen: override provider or model.",
    ifItFails: { open: "the gateway's own model is used", closed: "no model is chosen" },
    event: z.looseObject({
      prompt: z.string(),
      attachments: z.array(z.looseObject({ kind: z.enum(["image", "video", "audio", "document", "other"]), mimeType: text })).optional(),
    }),
    context: agentContext,
    live: agentLive,
    result: z.object(modelFields),
    merge: modelMerge,
    permission: ["conversation"],
    since: "2026.4",
  }),

  defineHook({
    name: "model_call_started",
    kind: "observe",
    summary: "A call to a model starts: which one, for which run; no content.",
    event: z.looseObject(modelCall),
    context: agentContext,
    live: agentLive,
    contextFrom: sameAsEvent("runId", "sessionKey", "sessionId"),
    result: z.undefined(),
    since: "2026.4",
  }),

  defineHook({
    name: "model_call_ended",
    kind: "observe",
    summary: "A call to a model ended: how long it took and how it went; no content.",
    event: z.looseObject({
      ...modelCall,
      durationMs: z.number(),
      outcome: z.enum(["completed", "error"]),
      errorCategory: text,
      failureKind: z.enum(["aborted", "connection_closed", "connection_reset", "terminated", "timeout"]).optional(),
      requestPayloadBytes: amount,
      responseStreamBytes: amount,
      timeToFirstByteMs: amount,
      upstreamRequestIdHash: text,
    }),
    context: agentContext,
    live: agentLive,
    contextFrom: sameAsEvent("runId", "sessionKey", "sessionId"),
    result: z.undefined(),
    since: "2026.4",
  }),

  defineHook({
    name: "llm_input",
    kind: "observe",
    summary: "What goes to the model: system prompt, prompt, history and tools.",
    event: z.looseObject({
      ...llmRequest,
      systemPrompt: text,
      prompt: z.string(),
      historyMessages: messages,
      imagesCount: z.number(),
      tools: z.array(z.unknown()).optional(),
    }),
    context: agentContext,
    contextFrom: sameAsEvent("runId", "sessionId"),
    result: z.undefined(),
    permission: ["conversation"],
    live: { ...agentLive, "tools.execute": "absent: each tool is there as data (name, description, parameters), without its functions" },
    since: "2026.4",
  }),

  defineHook({
    name: "llm_output",
    kind: "observe",
    summary: "What came back from the model: its texts and the tokens it took.",
    event: z.looseObject({
      ...llmRequest,
      resolvedRef: text,
      harnessId: text,
      prompt: text,
      assistantTexts: z.array(z.string()),
      lastAssistant: z.unknown().optional(),
      usage: tokenUsage.optional(),
      reasoningEffort: text,
      fastMode: flag,
      ...contextWindow,
    }),
    context: agentContext,
    live: agentLive,
    contextFrom: sameAsEvent("runId", "sessionId"),
    result: z.undefined(),
    permission: ["conversation"],
    since: "2026.4",
  }),
] as const;
