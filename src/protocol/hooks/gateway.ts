/** Hooks around the gateway's own lifecycle and its scheduler. */
import * as z from "zod";
import { gatewayContext, gatewayLive, sameAsEvent } from "./contexts.ts";
import { defineHook } from "./define.ts";
import { amount, bag, flag, text } from "./fields.ts";

const shared = { kind: "observe", context: gatewayContext, result: z.undefined(), live: gatewayLive } as const;

export const gatewayHooks = [
  defineHook({
    ...shared,
    name: "gateway_start",
    summary: "The gateway has started: the moment for a plugin's own services.",
    event: z.looseObject({ port: z.number() }),
    contextFrom: sameAsEvent("port"),
    since: "2026.4",
  }),

  defineHook({
    ...shared,
    name: "gateway_stop",
    summary: "The gateway is about to stop: the moment to clean up.",
    event: z.looseObject({ reason: text }),
    // The gateway shuts down and waits for this.
    budget: { wallMs: 5_000 },
    since: "2026.4",
  }),

  defineHook({
    ...shared,
    name: "cron_reconciled",
    summary: "The scheduler's jobs were read anew, at start or after a reload.",
    event: z.looseObject({ reason: z.enum(["startup", "reload"]), enabled: z.boolean() }),
    since: "2026.9",
  }),

  defineHook({
    ...shared,
    name: "cron_changed",
    summary: "A scheduled job was added, changed, removed, started or finished.",
    event: z.looseObject({
      action: z.enum(["added", "updated", "removed", "started", "finished", "scheduled"]),
      jobId: z.string(),
      job: bag.optional(),
      sessionTarget: text,
      agentId: text,
      runAtMs: amount,
      nextRunAtMs: amount,
      durationMs: amount,
      status: z.enum(["ok", "error", "skipped"]).optional(),
      completionStatus: text,
      error: text,
      summary: text,
      delivered: flag,
      deliveryStatus: text,
      deliveryError: text,
      deliverySuppressionReason: text,
      sessionId: text,
      sessionKey: text,
      runId: text,
      model: text,
      provider: text,
    }),
    since: "2026.9",
  }),
] as const;
