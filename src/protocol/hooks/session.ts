/** Internal events about sessions. Their names are `type:action`; a listener on `session` hears all of them, before the exact ones. */
import * as z from "zod";
import { emptyContext } from "./contexts.ts";
import { defineHook } from "./define.ts";

const level = z.string().nullable().optional();

/** What `sessions.patch` takes: the seed era's fields, each optional and nullable, and whatever newer gateways add. */
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

/** Dates cross as ISO text; gateways may hand over either. */
export const timestamp = z.union([z.date(), z.string(), z.number()]).optional();

export const sessionPatch = defineHook({
  name: "session:patch",
  kind: "observe",
  summary: "After a session was patched: the updated entry, the patch as it was asked for, the gateway's configuration.",
  event: z.looseObject({
    type: z.literal("session"),
    action: z.literal("patch"),
    sessionKey: z.string(),
    timestamp,
    messages: z.array(z.string()).optional(),
    context: z.looseObject({
      sessionEntry: z.record(z.string(), z.unknown()),
      patch: sessionPatchParams,
      cfg: z.record(z.string(), z.unknown()).optional(),
    }),
  }),
  context: emptyContext,
  result: z.undefined(),
  since: "2026.4",
});
