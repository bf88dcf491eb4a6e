/**
 * Hooks around the lifecycle of a session, and the fields of one that may be patched. The `session:*` events are in
 * internal.ts.
 */
import * as z from "zod";
import { agentContext, agentLive, sameAsEvent, sessionContext } from "./contexts.ts";
import { defineHook } from "./define.ts";
import { amount, flag, messages, text } from "./fields.ts";

const level = z.string().nullable().optional();

/** What `sessions.patch` takes: the original fields, each optional and nullable, and any that newer gateways add. */
export const sessionPatchParams = z.looseObject({
  key: z.string(),
  label: level,
  model: level,
  thinkingLevel: level,
  fastMode: z.boolean().nullable().optional(),
  verboseLevel: level,
  traceLevel: level,
  reasoningLevel: level,
  responseUsage: z.enum(["off", "tokens", "full", "on"]).nullable().optional(),
  elevatedLevel: level,
  execHost: level,
  execSecurity: level,
  execAsk: level,
  execNode: level,
  spawnedBy: level,
  spawnedWorkspaceDir: level,
  spawnDepth: z.number().nullable().optional(),
  subagentRole: level,
  subagentControlScope: level,
  sendPolicy: z.enum(["allow", "deny"]).nullable().optional(),
  groupActivation: z.enum(["mention", "always"]).nullable().optional(),
});

export const sessionHooks = [
  defineHook({
    name: "session_start",
    kind: "observe",
    summary: "A session starts, new or resumed.",
    event: z.looseObject({ sessionId: z.string(), sessionKey: text, resumedFrom: text }),
    context: sessionContext,
    contextFrom: sameAsEvent("sessionId", "sessionKey"),
    result: z.undefined(),
    since: "2026.4",
  }),

  defineHook({
    name: "session_end",
    kind: "observe",
    summary: "A session ended: why, after how many messages, and which one follows it.",
    event: z.looseObject({
      sessionId: z.string(),
      sessionKey: text,
      messageCount: z.number(),
      durationMs: amount,
      reason: z.enum(["new", "reset", "idle", "daily", "compaction", "deleted", "shutdown", "restart", "unknown"]).optional(),
      sessionFile: text,
      transcriptArchived: flag,
      nextSessionId: text,
      nextSessionKey: text,
    }),
    context: sessionContext,
    contextFrom: sameAsEvent("sessionId", "sessionKey"),
    result: z.undefined(),
    since: "2026.4",
  }),

  defineHook({
    name: "before_compaction",
    kind: "observe",
    summary: "Before a session's history is compacted.",
    event: z.looseObject({
      messageCount: z.number(),
      compactingCount: amount,
      tokenCount: amount,
      messages: messages.optional(),
      sessionFile: text,
    }),
    context: agentContext,
    live: agentLive,
    result: z.undefined(),
    since: "2026.4",
  }),

  defineHook({
    name: "after_compaction",
    kind: "observe",
    summary: "After a session's history was compacted.",
    event: z.looseObject({
      messageCount: z.number(),
      tokenCount: amount,
      compactedCount: z.number(),
      sessionFile: text,
      previousSessionId: text,
    }),
    context: agentContext,
    live: agentLive,
    result: z.undefined(),
    since: "2026.4",
  }),

  defineHook({
    name: "before_reset",
    kind: "observe",
    summary: "Before a session is reset: its messages, while they are there.",
    event: z.looseObject({ sessionFile: text, messages: messages.optional(), reason: text }),
    context: agentContext,
    live: agentLive,
    result: z.undefined(),
    since: "2026.4",
  }),
] as const;
