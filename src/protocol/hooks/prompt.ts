/** Hooks that add to a prompt before the model sees it. */
import * as z from "zod";
import { agentContext, agentLive, live, sameAsEvent } from "./contexts.ts";
import { defineHook } from "./define.ts";
import { messages, text, timestamp } from "./fields.ts";

/** Whatever the gateway passes, the plugin gets one that its own cell made. */
const hookInvocation = live as unknown as z.ZodOptional<z.ZodType<{ assertActive(): void }>>;

const contextFields = { prependContext: text, appendContext: text };
const systemFields = { systemPrompt: text, prependSystemContext: text, appendSystemContext: text };
/** What before_model_resolve may return. */
export const modelFields = { modelOverride: text, providerOverride: text };

const contextMerge = { prependContext: { rule: "join" }, appendContext: { rule: "join" } } as const;
const systemMerge = {
  systemPrompt: { rule: "first" },
  prependSystemContext: { rule: "join" },
  appendSystemContext: { rule: "join" },
} as const;
export const modelMerge = { modelOverride: { rule: "first" }, providerOverride: { rule: "first" } } as const;

export const promptHooks = [
  defineHook({
    name: "agent_turn_prepare",
    kind: "modify",
    summary: "Before a turn is prepared: add context before or after the prompt.",
    ifItFails: { open: "the turn goes on without its context", closed: "the turn is blocked" },
    event: z.looseObject({
      prompt: z.string(),
      messages,
      queuedInjections: z.array(
        z.looseObject({
          id: z.string(),
          pluginId: z.string(),
          pluginName: text,
          createdAt: timestamp,
          text: z.string(),
          placement: z.string(),
          idempotencyKey: text,
          ttlMs: z.number().optional(),
          metadata: z.unknown().optional(),
        }),
      ),
    }),
    context: agentContext,
    live: agentLive,
    result: z.object(contextFields),
    merge: contextMerge,
    permission: ["conversation", "prompt"],
    since: "2026.9",
  }),

  defineHook({
    name: "before_prompt_build",
    kind: "modify",
    summary: "Before the prompt is built: add context, replace the system prompt, narrow the tools.",
    ifItFails: { open: "the prompt is built without it", closed: "the prompt is not built" },
    event: z.looseObject({
      prompt: z.string(),
      messages,
      currentUserMessage: z.unknown().optional(),
      currentUserMessageId: text,
    }),
    context: agentContext.extend({ hookInvocation }),
    result: z.object({
      ...systemFields,
      ...contextFields,
      // OpenClaw reads anything but a list of strings as "no tool at all", which is the safe reading.
      toolsAllow: z.array(z.string()).catch([]).optional(),
    }),
    merge: { ...systemMerge, ...contextMerge, toolsAllow: { rule: "intersect" } },
    guardsNesting: true,
    authority: { context: "toolAuthority", keeps: ["prependContext", "appendContext"] },
    permission: ["conversation", "prompt"],
    live: {
      hookInvocation: "given: a plugin's own, whose `assertActive()` throws once its handler has settled or its call was given up",
      toolAuthority: "absent: a plugin does not learn the turn's tools; it narrows them with `toolsAllow`",
    },
    since: "2026.4",
  }),

  defineHook({
    name: "before_agent_start",
    kind: "modify",
    summary: "Before a turn, in one phase for prompt and model; prefer `before_model_resolve` and `before_prompt_build`.",
    ifItFails: { open: "the turn starts without it", closed: "the turn is blocked" },
    event: z.looseObject({ prompt: z.string(), runId: text, messages: messages.optional() }),
    context: agentContext,
    live: agentLive,
    contextFrom: sameAsEvent("runId"),
    result: z.object({ ...systemFields, prependContext: text, ...modelFields }),
    merge: { ...systemMerge, prependContext: { rule: "join" }, ...modelMerge },
    promptFields: ["systemPrompt", "prependContext", "prependSystemContext", "appendSystemContext"],
    fills: { runId: "runId" },
    since: "2026.4",
  }),

  defineHook({
    name: "heartbeat_prompt_contribution",
    kind: "modify",
    summary: "Before a heartbeat's prompt: add context before or after it.",
    ifItFails: { open: "the heartbeat goes on without its context", closed: "the heartbeat is blocked" },
    event: z.looseObject({ sessionKey: text, agentId: text, heartbeatName: text }),
    context: agentContext,
    live: agentLive,
    contextFrom: sameAsEvent("sessionKey", "agentId"),
    result: z.object(contextFields),
    merge: contextMerge,
    permission: ["prompt"],
    since: "2026.9",
  }),
] as const;
