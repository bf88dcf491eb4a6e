/** Hooks around a whole agent turn, configured as scripts. They have no context: the event is the script's `ctx`. */
import * as z from "zod";
import { emptyContext } from "./contexts.ts";
import { defineHook } from "./define.ts";
import { bag, text, tokenUsage } from "./fields.ts";

const turn = {
  sessionKey: z.string(),
  agentId: z.string(),
  model: text,
  turnIndex: z.int().nonnegative().optional(),
  /** A bag that the gateway fills. It travels through all three hooks of a turn. */
  meta: bag.optional(),
  workflow: z.literal("agent"),
};

const filters = { agentIds: { from: "event", field: "agentId" } } as const;

export const turnHooks = [
  defineHook({
    name: "beforeTurn",
    kind: "gate",
    summary: "Before an agent's turn: `{ abort: true }` skips it.",
    ifItFails: { open: "the turn goes on", closed: "the turn is skipped" },
    event: z.looseObject(turn),
    context: emptyContext,
    result: z.object({ abort: z.boolean().optional(), reason: text }),
    merge: { abort: { rule: "any" }, reason: { rule: "last" } },
    terminal: { field: "abort", decision: "abort", reason: "reason" },
    filters,
  }),

  defineHook({
    name: "afterTurn",
    kind: "observe",
    summary: "After a turn that succeeded: how long it took and what it used.",
    event: z.looseObject({ ...turn, durationMs: z.number().nonnegative(), usage: tokenUsage.optional() }),
    context: emptyContext,
    result: z.undefined(),
    filters,
  }),

  defineHook({
    name: "onTurnError",
    kind: "observe",
    summary: "After a turn that failed: the error as text.",
    event: z.looseObject({ ...turn, durationMs: z.number().nonnegative(), error: z.string() }),
    context: emptyContext,
    result: z.undefined(),
    filters,
  }),
] as const;
