/** Hooks around messages on their way in and out. */
import * as z from "zod";
import { messageContext } from "./contexts.ts";
import { defineHook } from "./define.ts";

export const messageSending = defineHook({
  name: "message_sending",
  kind: "gate",
  summary: "Before a message leaves: rewrite its content or cancel the delivery.",
  event: z.looseObject({
    to: z.string(),
    content: z.string(),
    replyToId: z.union([z.string(), z.number()]).optional(),
    threadId: z.union([z.string(), z.number()]).optional(),
    metadata: z.record(z.string(), z.unknown()).optional(),
  }),
  context: messageContext,
  result: z.object({
    content: z.string().optional(),
    cancel: z.boolean().optional(),
    cancelReason: z.string().optional(),
    metadata: z.record(z.string(), z.unknown()).optional(),
  }),
  merge: {
    content: { rule: "last", chains: "content" },
    cancel: { rule: "any" },
    cancelReason: { rule: "last" },
    metadata: { rule: "last" },
  },
  terminal: { field: "cancel", decision: "cancel", reason: "cancelReason" },
  since: "2026.4",
});
