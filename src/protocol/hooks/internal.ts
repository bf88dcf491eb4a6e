/**
 * Internal events. Their names are `type:action`; a listener on the type alone (`session`) hears all of its family, before the
 * exact ones. They have no context beside the event: what happened is in `event.context`.
 */
import * as z from "zod";
import { emptyContext, live } from "./contexts.ts";
import { defineHook } from "./define.ts";
import type { HookDefinition } from "./define.ts";
import { amount, bag, flag, id, text, timestamp } from "./fields.ts";
import { sessionPatchParams } from "./session.ts";

function envelope<const Type extends string, const Action extends string>(type: Type, action: Action) {
  return {
    type: z.literal(type),
    action: z.literal(action),
    sessionKey: z.string(),
    timestamp,
    messages: z.array(z.string()).optional(),
  };
}

interface Entry<Context extends z.ZodRawShape, Top extends z.ZodRawShape> extends Partial<
  Pick<HookDefinition, "since" | "budget" | "hides" | "live" | "guardsReentry">
> {
  readonly summary: string;
  readonly context: Context;
  /** Fields beside the context. */
  readonly top?: Top;
}

/** An event that is only told. */
function told<const Type extends string, const Action extends string, Context extends z.ZodRawShape, Top extends z.ZodRawShape = {}>(
  type: Type,
  action: Action,
  { context, top, ...entry }: Entry<Context, Top>,
) {
  return defineHook({
    name: `${type}:${action}`,
    kind: "observe",
    event: z.looseObject({ ...envelope(type, action), ...(top as Top), context: z.looseObject(context) }),
    context: emptyContext,
    result: z.undefined(),
    internal: true,
    since: "2026.4",
    ...entry,
  });
}

/** A command whose handlers may have something to say to the user. */
function command<const Action extends string>(action: Action, summary: string) {
  return defineHook({
    name: `command:${action}`,
    kind: "modify",
    summary,
    event: z.looseObject({
      ...envelope("command", action),
      context: z.looseObject({
        agentId: text,
        sessionEntry: bag.optional(),
        previousSessionEntry: bag.optional(),
        commandSource: text,
        senderId: text,
        workspaceDir: text,
        storePath: text,
        cfg: bag.optional(),
      }),
    }),
    context: emptyContext,
    result: z.object({ messages: z.array(z.string()).optional() }),
    merge: { messages: { rule: "append" } },
    internal: true,
    since: "2026.4",
  });
}

const compaction = { sessionId: text, messageCount: amount, compactingCount: amount, compactedCount: amount, tokenCount: amount };

const toolCall = {
  runId: z.string(),
  toolName: z.string(),
  toolCallId: z.string(),
  meta: bag,
  /** The session key, taken apart; what a malformed key does not say is left out. */
  sessionMeta: z.looseObject({ agentId: text, platform: text, channelType: text, channelId: text }),
};

const inbound = {
  from: text,
  to: text,
  body: text,
  bodyForAgent: text,
  timestamp,
  channelId: z.string(),
  conversationId: text,
  messageId: text,
  senderId: text,
  senderName: text,
  senderUsername: text,
  provider: text,
  surface: text,
  mediaPath: text,
  mediaType: text,
};

const delivered = { channelId: z.string(), accountId: text, conversationId: text, messageId: text };

const ending = { reason: text, restartExpectedMs: amount };

export const internalEvents = [
  told("session", "start", {
    summary: "A session starts; derived from `session_start`.",
    top: { sessionId: z.string() },
    context: { resumedFrom: text, metadata: bag.optional() },
    since: "creel",
  }),
  told("session", "end", {
    summary: "A session completed: why it stopped, its last message, and the metadata it was started with.",
    top: { sessionId: z.string() },
    context: { stopReason: z.enum(["stop", "toolUse", "maxTokens", "error"]), lastMessage: text, metadata: bag.optional() },
    since: "creel",
  }),
  told("session", "patch", {
    summary: "After a session was patched: the updated entry, the patch as it was asked for, the gateway's configuration.",
    context: { sessionEntry: bag, patch: sessionPatchParams, cfg: bag.optional() },
    guardsReentry: true,
  }),
  told("session", "auto-reset", {
    summary: "A session was reset by the clock: daily, or for being idle.",
    context: {
      cfg: bag.optional(),
      agentId: text,
      workspaceDir: text,
      storePath: text,
      sessionEntry: bag.optional(),
      reason: z.enum(["daily", "idle"]),
      transcriptArchived: flag,
      nextSessionId: text,
      nextSessionKey: text,
    },
    since: "2026.9",
  }),
  told("session", "compact:before", { summary: "Before a session's history is compacted.", context: compaction }),
  told("session", "compact:after", {
    summary: "After a session's history was compacted.",
    context: { ...compaction, tokensBefore: amount, tokensAfter: amount, summaryLength: amount },
  }),

  told("tool", "start", { summary: "A tool starts.", context: { ...toolCall, args: z.unknown().optional() }, since: "creel" }),
  told("tool", "update", {
    summary: "A running tool has something to show; not throttled.",
    context: { ...toolCall, partialResult: z.unknown().optional() },
    since: "creel",
  }),
  told("tool", "result", {
    summary: "A tool ended: its result, or its error.",
    context: { ...toolCall, result: z.unknown().optional(), isError: flag },
    since: "creel",
  }),

  command("new", "The user asked for a new session: `messages` are what the gateway answers."),
  command("reset", "The user reset the session: `messages` are what the gateway answers."),
  told("command", "stop", {
    summary: "The user stopped the agent.",
    context: { sessionEntry: bag.optional(), sessionId: text, commandSource: text, senderId: text },
  }),

  told("message", "received", {
    summary: "A message came in, before media and links are looked at.",
    context: { ...delivered, from: z.string(), content: z.string(), timestamp, metadata: bag.optional() },
  }),
  told("message", "transcribed", { summary: "A message's audio was transcribed.", context: { ...inbound, transcript: z.string() } }),
  told("message", "preprocessed", {
    summary: "A message is ready for the agent: media described, links read.",
    context: { ...inbound, transcript: text, isGroup: flag, groupId: id },
  }),
  told("message", "sent", {
    summary: "A message left, or failed to.",
    context: { ...delivered, to: z.string(), content: z.string(), success: z.boolean(), error: text, isGroup: flag, groupId: id },
  }),

  defineHook({
    name: "agent:bootstrap",
    kind: "modify",
    summary: "Before the workspace's files go into the system prompt: return `{ context: { bootstrapFiles } }` to change which ones do.",
    event: z.looseObject({
      ...envelope("agent", "bootstrap"),
      context: z.looseObject({
        workspaceDir: z.string(),
        bootstrapFiles: z.array(bag),
        cfg: bag.optional(),
        sessionKey: text,
        sessionId: text,
        agentId: text,
      }),
    }),
    context: emptyContext,
    result: z.object({ context: z.object({ bootstrapFiles: z.array(bag).optional() }).optional() }),
    merge: { context: { rule: "assign", chains: "context" } },
    internal: true,
    since: "2026.4",
  }),

  told("gateway", "startup", {
    summary: "The gateway has started, its channels are up.",
    context: { cfg: bag.optional(), deps: live, workspaceDir: text },
    hides: ["context.deps"],
    live: { "context.deps": "absent: the gateway's own functions do not enter the sandbox" },
  }),
  told("gateway", "shutdown", {
    summary: "The gateway is about to stop.",
    context: ending,
    // OpenClaw's own bounds: the gateway waits for these two.
    budget: { wallMs: 5_000 },
    since: "2026.9",
  }),
  told("gateway", "pre-restart", {
    summary: "The gateway is about to restart.",
    context: ending,
    budget: { wallMs: 10_000 },
    since: "2026.9",
  }),
] as const;
