/** Hooks around tool calls. */
import * as z from "zod";
import { toolContext } from "./contexts.ts";
import { defineHook } from "./define.ts";

const params = z.record(z.string(), z.unknown());

export const APPROVAL_DECISIONS = ["allow-once", "allow-always", "deny"] as const;
export const APPROVAL_RESOLUTIONS = [...APPROVAL_DECISIONS, "timeout", "cancelled"] as const;
export type ApprovalResolution = (typeof APPROVAL_RESOLUTIONS)[number];

export const approvalRequest = z.object({
  title: z.string().min(1).max(80),
  description: z.string().max(512),
  scope: z.string().max(128).optional(),
  severity: z.enum(["info", "warning", "critical"]).optional(),
  timeoutMs: z.number().positive().optional(),
  timeoutBehavior: z.enum(["allow", "deny"]).optional(),
  timeoutReason: z.string().max(512).optional(),
  allowedDecisions: z.array(z.enum(APPROVAL_DECISIONS)).optional(),
  /** Stamped by the host; what a plugin writes here is overwritten. */
  pluginId: z.string().optional(),
});
export type ApprovalRequest = z.infer<typeof approvalRequest>;

export const beforeToolCall = defineHook({
  name: "before_tool_call",
  kind: "gate",
  summary: "Before a tool runs: rewrite its parameters, block it, or ask the user first.",
  event: z.looseObject({
    toolName: z.string().min(1),
    params,
    toolKind: z.enum(["code_mode_exec"]).optional(),
    toolInputKind: z.enum(["javascript", "typescript"]).optional(),
    runId: z.string().optional(),
    toolCallId: z.string().optional(),
    derivedPaths: z.array(z.string()).optional(),
  }),
  context: toolContext,
  result: z.object({
    params: params.optional(),
    block: z.boolean().optional(),
    blockReason: z.string().optional(),
    requireApproval: approvalRequest.optional(),
  }),
  merge: {
    params: { rule: "assign", chains: "params" },
    block: { rule: "any" },
    blockReason: { rule: "last" },
    requireApproval: { rule: "first", freezes: ["params"], stamps: "pluginId" },
  },
  terminal: { field: "block", decision: "block", reason: "blockReason" },
  failure: "closed",
  filters: { matcher: { from: "event", field: "toolName" } },
  since: "2026.4",
});

export const toolResultPersist = defineHook({
  name: "tool_result_persist",
  kind: "sync",
  summary: "Before a tool's result message is written to the transcript: rewrite it.",
  event: z.looseObject({
    toolName: z.string().optional(),
    toolCallId: z.string().optional(),
    message: z.record(z.string(), z.unknown()),
    isSynthetic: z.boolean().optional(),
  }),
  context: z.looseObject({
    agentId: z.string().optional(),
    sessionKey: z.string().optional(),
    toolName: z.string().optional(),
    toolCallId: z.string().optional(),
  }),
  result: z.object({ message: z.record(z.string(), z.unknown()).optional() }),
  merge: { message: { rule: "last", chains: "message" } },
  echo: "message",
  since: "2026.4",
});
