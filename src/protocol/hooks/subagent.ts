/** Hooks around subagents: how they start, where their answer goes, how they end. */
import * as z from "zod";
import { sameAsEvent, subagentContext } from "./contexts.ts";
import { defineHook } from "./define.ts";
import { flag, id, route, text, timestamp } from "./fields.ts";

const requester = route.extend({ channelId: id, messageId: id }).optional();

const spawn = {
  childSessionKey: z.string(),
  agentId: z.string(),
  label: text,
  mode: z.enum(["run", "session"]),
  requester,
  threadRequested: z.boolean(),
};

export const subagentHooks = [
  defineHook({
    name: "subagent_spawning",
    kind: "modify",
    summary: "Before a subagent is spawned: prepare its thread and where it delivers, or refuse with an error.",
    ifItFails: { open: "the subagent is spawned without it", closed: "the subagent is not spawned" },
    event: z.looseObject(spawn),
    context: subagentContext,
    contextFrom: sameAsEvent("childSessionKey"),
    result: z.discriminatedUnion("status", [
      z.object({ status: z.literal("ok"), threadBindingReady: flag, deliveryOrigin: route.optional() }),
      z.object({ status: z.literal("error"), error: z.string() }),
    ]),
    merge: {
      status: { rule: "rank", ranks: ["ok", "error"] },
      error: { rule: "first", follows: "status" },
      threadBindingReady: { rule: "any", follows: "status" },
      deliveryOrigin: { rule: "first", follows: "status" },
    },
    since: "2026.4",
  }),

  defineHook({
    name: "subagent_delivery_target",
    kind: "modify",
    summary: "Before a subagent's completion is delivered: say where to.",
    ifItFails: { open: "the answer goes where the gateway sends it", closed: "the answer is not delivered" },
    event: z.looseObject({
      childSessionKey: z.string(),
      requesterSessionKey: z.string(),
      requesterOrigin: route.optional(),
      childRunId: text,
      spawnMode: z.enum(["run", "session"]).optional(),
      expectsCompletionMessage: z.boolean(),
    }),
    context: subagentContext,
    contextFrom: { runId: "childRunId", ...sameAsEvent("childSessionKey", "requesterSessionKey") },
    result: z.object({ origin: route.optional() }),
    merge: { origin: { rule: "first" } },
    since: "2026.4",
  }),

  defineHook({
    name: "subagent_spawned",
    kind: "observe",
    summary: "A subagent was spawned: its session, run and model.",
    event: z.looseObject({ ...spawn, runId: z.string(), resolvedModel: text, resolvedProvider: text }),
    context: subagentContext,
    contextFrom: sameAsEvent("runId", "childSessionKey"),
    result: z.undefined(),
    since: "2026.4",
  }),

  defineHook({
    name: "subagent_progress",
    kind: "observe",
    summary: "A background subagent started or ended, for status displays.",
    event: z.looseObject({
      phase: z.enum(["started", "ended"]),
      runId: z.string(),
      childSessionKey: z.string(),
      outcome: z.enum(["ok", "error", "timeout", "killed", "unknown"]).optional(),
      requester,
    }),
    context: subagentContext,
    contextFrom: sameAsEvent("runId", "childSessionKey"),
    result: z.undefined(),
    since: "2026.9",
  }),

  defineHook({
    name: "subagent_ended",
    kind: "observe",
    summary: "A subagent ended: why, and how it went.",
    event: z.looseObject({
      targetSessionKey: z.string(),
      targetKind: z.enum(["subagent", "acp"]),
      reason: z.string(),
      sendFarewell: flag,
      accountId: text,
      runId: text,
      endedAt: timestamp,
      outcome: z.enum(["ok", "error", "timeout", "killed", "reset", "deleted"]).optional(),
      error: text,
    }),
    context: subagentContext,
    contextFrom: sameAsEvent("runId"),
    result: z.undefined(),
    since: "2026.4",
  }),
] as const;
