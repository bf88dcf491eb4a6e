/**
 * Internal events. Their names are `type:action`. A listener on the type alone (`session`) gets all events of its
 * family, before listeners of the exact name. They have no context beside the event: `event.context` says what
 * happened.
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
  Pick<HookDefinition, "since" | "budget" | "hides" | "live" | "guardsReentry" | "permission">
> {
  readonly summary: string;
  readonly context: Context;
  /** Fields beside the context. */
  readonly top?: Top;
}

/** An event that handlers only observe. */
function observed<const Type extends string, const Action extends string, Context extends z.ZodRawShape, Top extends z.ZodRawShape = {}>(
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

/** A command whose handlers may send messages to the user. */
function command<const Action extends string>(action: Action, summary: string) {
  return defineHook({
    name: `command:${action}`,
    kind: "modify",
    summary,
    ifItFails: { open: "the command goes on without its messages", closed: "the command is blocked" },
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
  /** The session key, parsed. Parts that a malformed key lacks are left out. */
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
  observed("session", "start", {
    summary: "A session starts; derived from `session_start`.",
    top: { sessionId: z.string() },
    context: { resumedFrom: text, metadata: bag.optional() },
    since: "creel",
  }),
  observed("session", "end", {
    summary: "A session completed: why it stopped, its last message, and the metadata it was started with.",
    top: { sessionId: z.string() },
    context: { stopReason: z.enum(["stop", "toolUse", "maxTokens", "error"]), lastMessage: text, metadata: bag.optional() },
    since: "creel",
  }),
  observed("session", "patch", {
    summary: "After a session was patched: the updated entry, the patch as it was requested, the gateway's configuration.",
    context: { sessionEntry: bag, patch: sessionPatchParams, cfg: bag.optional() },
    guardsReentry: true,
  }),
  observed("session", "auto-reset", {
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
  observed("session", "compact:before", { summary: "Before a session's history is compacted.", context: compaction }),
  observed("session", "compact:after", {
    summary: "After a session's history was compacted.",
    context: { ...compaction, tokensBefore: amount, tokensAfter: amount, summaryLength: amount },
  }),

  observed("tool", "start", { summary: "A tool starts.", context: { ...toolCall, args: z.unknown().optional() }, since: "creel" }),
  observed("tool", "update", {
    summary: "A running tool has something to show; not throttled.",
    context: { ...toolCall, partialResult: z.unknown().optional() },
    since: "creel",
  }),
  observed("tool", "result", {
    summary: "A tool ended: its result, or its error.",
    context: { ...toolCall, result: z.unknown().optional(), isError: flag },
    since: "creel",
  }),

  observed("agent", "event", {
    summary: "An agent says something about its run: its text, its tools, its phases.",
    context: {
      runId: z.string(),
      stream: z.string(),
      seq: z.number().optional(),
      ts: z.number().optional(),
      data: bag.optional(),
      sessionKey: text,
      agentId: text,
    },
    permission: ["conversation"],
    since: "creel",
  }),

  command("new", "The user asked for a new session: `messages` are what the gateway answers."),
  command("reset", "The user reset the session: `messages` are what the gateway answers."),
  observed("command", "stop", {
    summary: "The user stopped the agent.",
    context: { sessionEntry: bag.optional(), sessionId: text, commandSource: text, senderId: text },
  }),

  observed("message", "received", {
    summary: "A message came in, before media and links are looked at.",
    context: { ...delivered, from: z.string(), content: z.string(), timestamp, metadata: bag.optional() },
  }),
  observed("message", "transcribed", { summary: "A message's audio was transcribed.", context: { ...inbound, transcript: z.string() } }),
  observed("message", "preprocessed", {
    summary: "A message is ready for the agent: media described, links read.",
    context: { ...inbound, transcript: text, isGroup: flag, groupId: id },
  }),
  observed("message", "sent", {
    summary: "A message left, or failed to.",
    context: { ...delivered, to: z.string(), content: z.string(), success: z.boolean(), error: text, isGroup: flag, groupId: id },
  }),

  defineHook({
    name: "agent:bootstrap",
    kind: "modify",
    summary: "Before the workspace's files go into the system prompt: return `{ context: { bootstrapFiles } }` to change which ones do.",
    ifItFails: { open: "the files go into the prompt as they are", closed: "the prompt is not built" },
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

  observed("gateway", "startup", {
    summary: "The gateway has started, its channels are up.",
    context: { cfg: bag.optional(), deps: live, workspaceDir: text },
    hides: ["context.deps"],
    live: { "context.deps": "absent: the gateway's own functions do not enter the sandbox" },
  }),
  observed("gateway", "shutdown", {
    summary: "The gateway is about to stop.",
    context: ending,
    // OpenClaw's own bounds: the gateway waits for these two.
    budget: { wallMs: 5_000 },
    since: "2026.9",
  }),
  observed("gateway", "pre-restart", {
    summary: "The gateway is about to restart.",
    context: ending,
    budget: { wallMs: 10_000 },
    since: "2026.9",
  }),
] as const;
