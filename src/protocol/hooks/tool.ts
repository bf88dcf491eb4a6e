/** Hooks around tool calls and what is kept of them. */
import * as z from "zod";
import { agentContext, agentLive, sameAsEvent, toolContext, toolLive } from "./contexts.ts";
import { defineHook } from "./define.ts";
import { execEnv } from "./exec-env.ts";
import { amount, bag, given, flag, text, texts } from "./fields.ts";
import { LIMITS } from "../limits.ts";

export const APPROVAL_DECISIONS = ["allow-once", "allow-always", "deny"] as const;
export const APPROVAL_RESOLUTIONS = [...APPROVAL_DECISIONS, "timeout", "cancelled"] as const;
export type ApprovalDecision = (typeof APPROVAL_DECISIONS)[number];
export type ApprovalResolution = (typeof APPROVAL_RESOLUTIONS)[number];

/** The least severe first. */
export const APPROVAL_SEVERITIES = ["info", "warning", "critical"] as const;

type OnResolution = (decision: ApprovalResolution) => void | Promise<void>;

export const approvalRequest = z.object({
  title: z.string().min(1).max(LIMITS.approval.titleChars),
  description: z.string().max(LIMITS.approval.descriptionChars),
  scope: z.string().max(128).optional(),
  severity: z.enum(APPROVAL_SEVERITIES).optional(),
  timeoutMs: z.number().positive().optional(),
  timeoutBehavior: z.enum(["allow", "deny"]).optional(),
  timeoutReason: z.string().max(512).optional(),
  allowedDecisions: z.array(z.enum(APPROVAL_DECISIONS)).optional(),
  /** Set by the host, over anything that the plugin writes here. */
  pluginId: z.string().optional(),
  /** A function to the author. It stays in the cell; the host gets a number to call it by. */
  onResolution: (z.int().positive() as unknown as z.ZodType<number, OnResolution>).optional(),
});
export type ApprovalRequest = z.infer<typeof approvalRequest>;

const filters = { matcher: { from: "event", field: "toolName" } } as const;

export const toolHooks = [
  defineHook({
    name: "before_tool_call",
    kind: "gate",
    summary: "Before a tool runs: rewrite its parameters, block it, or ask the user first.",
    ifItFails: { open: "the tool call runs unchecked", closed: "the tool call is blocked" },
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
    contextFrom: sameAsEvent("toolName", "toolKind", "toolInputKind", "runId", "toolCallId"),
    agrees: ["toolName"],
    result: z.object({ params: bag.optional(), block: flag, blockReason: text, requireApproval: approvalRequest.optional() }),
    merge: {
      params: { rule: "assign", chains: "params", isolated: "last", approved: true },
      block: { rule: "any" },
      blockReason: { rule: "last" },
      requireApproval: { rule: "each", stamps: "pluginId" },
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
    contextFrom: sameAsEvent("toolName", "runId", "toolCallId"),
    agrees: ["toolName"],
    result: z.undefined(),
    filters,
    live: toolLive,
    since: "2026.4",
  }),

  defineHook({
    name: "resolve_exec_env",
    kind: "modify",
    summary: "Before a command runs: set environment variables for it; those that choose code or route traffic are dropped.",
    ifItFails: { open: "the command runs without its variables", closed: "the command is blocked" },
    event: z.looseObject({ sessionKey: text, toolName: z.literal("exec"), host: z.enum(["gateway", "sandbox", "node"]) }),
    context: agentContext,
    live: agentLive,
    contextFrom: sameAsEvent("sessionKey"),
    result: execEnv,
    merge: { "*": { rule: "assign" } },
    since: "2026.9",
  }),

  defineHook({
    name: "tool_result_persist",
    kind: "sync",
    summary: "Before a tool's result message is written to the transcript: rewrite it.",
    ifItFails: { open: "the tool's result is stored as it is", closed: "the tool's result is not stored" },
    event: z.looseObject({ toolName: text, toolCallId: text, message: bag, isSynthetic: flag }),
    context: z.looseObject({ agentId: text, sessionKey: text, toolName: text, toolCallId: text }),
    contextFrom: sameAsEvent("toolName", "toolCallId"),
    agrees: ["toolName"],
    result: z.object({ message: bag.optional() }),
    merge: { message: { rule: "last", chains: "message" } },
    echo: "message",
    since: "2026.4",
  }),

  defineHook({
    name: "before_message_write",
    kind: "sync",
    summary: "Before any message is written to the transcript: rewrite it or keep it out.",
    ifItFails: { open: "the message is stored as it is", closed: "the message is not stored" },
    event: z.looseObject({ message: bag, sessionKey: text, agentId: text }),
    context: z.looseObject({ agentId: text, sessionKey: text }),
    contextFrom: sameAsEvent("agentId", "sessionKey"),
    result: z.object({ block: flag, message: bag.optional() }),
    merge: { block: { rule: "any" }, message: { rule: "last", chains: "message" } },
    terminal: { field: "block", decision: "block" },
    echo: "message",
    since: "2026.4",
  }),
] as const;
