/** Hooks around tool calls and what is kept of them. */
import * as z from "zod";
import { agentContext, agentLive, toolContext, toolLive } from "./contexts.ts";
import { defineHook } from "./define.ts";
import { execEnv } from "./exec-env.ts";
import { amount, bag, given, flag, text, texts } from "./fields.ts";

export const APPROVAL_DECISIONS = ["allow-once", "allow-always", "deny"] as const;
export const APPROVAL_RESOLUTIONS = [...APPROVAL_DECISIONS, "timeout", "cancelled"] as const;
export type ApprovalResolution = (typeof APPROVAL_RESOLUTIONS)[number];

type OnResolution = (decision: ApprovalResolution) => void | Promise<void>;

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
  /** A function to the author. It stays in the cell; a number to call it by comes out. */
  onResolution: (z.int().positive() as unknown as z.ZodType<number, OnResolution>).optional(),
});
export type ApprovalRequest = z.infer<typeof approvalRequest>;

const filters = { matcher: { from: "event", field: "toolName" } } as const;

export const toolHooks = [
  defineHook({
    name: "before_tool_call",
    kind: "gate",
    summary: "Before a tool runs: rewrite its parameters, block it, or ask the user first.",
    event: z.looseObject({
      toolName: z.string().min(1),
      params: given,
      toolKind: z.enum(["code_mode_exec"]).optional(),
      toolInputKind: z.enum(["javascript", "typescript"]).optional(),
      runId: text,
      toolCallId: text,
      derivedPaths: texts,
    }),
    context: toolContext,
    result: z.object({ params: bag.optional(), block: flag, blockReason: text, requireApproval: approvalRequest.optional() }),
    merge: {
      params: { rule: "assign", chains: "params", isolated: "last" },
      block: { rule: "any" },
      blockReason: { rule: "last" },
      requireApproval: { rule: "first", freezes: ["params"], stamps: "pluginId" },
    },
    terminal: { field: "block", decision: "block", reason: "blockReason" },
    failure: "closed",
    filters,
    live: {
      ...toolLive,
      "requireApproval.onResolution":
        "given: it stays in the plugin's cell and is called there, once, unless the cell was replaced meanwhile",
    },
    since: "2026.4",
  }),

  defineHook({
    name: "after_tool_call",
    kind: "observe",
    summary: "After a tool ran, or was blocked: its result or error, and how long it took.",
    event: z.looseObject({
      toolName: z.string().min(1),
      params: given,
      runId: text,
      toolCallId: text,
      result: z.unknown().optional(),
      error: text,
      durationMs: amount,
    }),
    context: toolContext,
    result: z.undefined(),
    filters,
    live: toolLive,
    since: "2026.4",
  }),

  defineHook({
    name: "resolve_exec_env",
    kind: "modify",
    summary: "Before a command runs: set environment variables for it; those that choose code or route traffic are dropped.",
    event: z.looseObject({ sessionKey: text, toolName: z.literal("exec"), host: z.enum(["gateway", "sandbox", "node"]) }),
    context: agentContext,
    live: agentLive,
    result: execEnv,
    merge: { "*": { rule: "assign" } },
    since: "2026.9",
  }),

  defineHook({
    name: "tool_result_persist",
    kind: "sync",
    summary: "Before a tool's result message is written to the transcript: rewrite it.",
    event: z.looseObject({ toolName: text, toolCallId: text, message: bag, isSynthetic: flag }),
    context: z.looseObject({ agentId: text, sessionKey: text, toolName: text, toolCallId: text }),
    result: z.object({ message: bag.optional() }),
    merge: { message: { rule: "last", chains: "message" } },
    echo: "message",
    since: "2026.4",
  }),

  defineHook({
    name: "before_message_write",
    kind: "sync",
    summary: "Before any message is written to the transcript: rewrite it or keep it out.",
    event: z.looseObject({ message: bag, sessionKey: text, agentId: text }),
    context: z.looseObject({ agentId: text, sessionKey: text }),
    result: z.object({ block: flag, message: bag.optional() }),
    merge: { block: { rule: "any" }, message: { rule: "last", chains: "message" } },
    terminal: { field: "block", decision: "block" },
    echo: "message",
    since: "2026.4",
  }),
] as const;
