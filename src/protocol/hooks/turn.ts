/** Hooks around a whole agent turn, configured as scripts. They have no context of their own: the event is the script's `ctx`. */
import * as z from "zod";
import { emptyContext } from "./contexts.ts";
import { defineHook } from "./define.ts";

const turn = {
  sessionKey: z.string(),
  agentId: z.string(),
  model: z.string().optional(),
  turnIndex: z.int().nonnegative().optional(),
  /** A bag that the gateway fills and that travels through all three hooks of a turn. */
  meta: z.record(z.string(), z.unknown()).optional(),
  workflow: z.literal("agent"),
};

export const tokenUsage = z.looseObject({
  input: z.number().optional(),
  output: z.number().optional(),
  cacheRead: z.number().optional(),
  cacheWrite: z.number().optional(),
  total: z.number().optional(),
});

const filters = { agentIds: { from: "event", field: "agentId" } } as const;

export const beforeTurn = defineHook({
  name: "beforeTurn",
  kind: "gate",
  summary: "Before an agent's turn: `{ abort: true }` skips it.",
  event: z.looseObject(turn),
  context: emptyContext,
  result: z.object({ abort: z.boolean().optional(), reason: z.string().optional() }),
  merge: { abort: { rule: "any" }, reason: { rule: "last" } },
  terminal: { field: "abort", decision: "abort", reason: "reason" },
  filters,
});

export const afterTurn = defineHook({
  name: "afterTurn",
  kind: "observe",
  summary: "After a turn that succeeded: how long it took and what it used.",
  event: z.looseObject({ ...turn, durationMs: z.number().nonnegative(), usage: tokenUsage.optional() }),
  context: emptyContext,
  result: z.undefined(),
  filters,
});

export const onTurnError = defineHook({
  name: "onTurnError",
  kind: "observe",
  summary: "After a turn that failed: the error as text.",
  event: z.looseObject({ ...turn, durationMs: z.number().nonnegative(), error: z.string() }),
  context: emptyContext,
  result: z.undefined(),
  filters,
});
