/**
 * Trusted side: the formats of Gemini CLI, Cline, Goose and Copilot CLI, from their documentation. What an agent cannot
 * obey is not in its `obeys`.
 */
import type { AgentFormat } from "./format.ts";

export const GEMINI_CLI: AgentFormat = {
  name: "gemini-cli",
  title: "Gemini CLI",
  events: {
    BeforeTool: "before-tool",
    AfterTool: "after-tool",
    BeforeAgent: "prompt",
    AfterAgent: "stop",
    PreCompress: "before-compaction",
    SessionStart: "session-start",
    SessionEnd: "session-end",
  },
  eventField: "hook_event_name",
  fields: {
    session: "session_id",
    cwd: "cwd",
    transcript: "transcript_path",
    toolName: "tool_name",
    params: "tool_input",
    result: "tool_response",
    error: "tool_response.error",
    prompt: "prompt",
    source: "source",
    reason: "reason",
    lastMessage: "prompt_response",
    isRetry: "stop_hook_active",
  },
  obeys: { ask: false, rewrite: true, promptBlock: true, context: true, revise: true },
  answer(moment, hookEventName, decided) {
    if (decided.kind === "deny" || decided.kind === "revise") return { decision: "deny", reason: decided.reason };
    if (decided.kind === "pass" && decided.input !== undefined) return { hookSpecificOutput: { hookEventName, tool_input: decided.input } };
    if (decided.kind === "pass" && decided.context !== undefined)
      return { hookSpecificOutput: { hookEventName, additionalContext: decided.context } };
    return {};
  },
};

export const CLINE: AgentFormat = {
  name: "cline",
  title: "Cline",
  events: {
    PreToolUse: "before-tool",
    PostToolUse: "after-tool",
    UserPromptSubmit: "prompt",
    PreCompact: "before-compaction",
    TaskStart: "session-start",
    TaskResume: "session-start",
    TaskCancel: "session-end",
    TaskComplete: "session-end",
  },
  eventField: "hookName",
  // Its two reference pages disagree about some names, so both count.
  fields: {
    session: "taskId",
    cwd: ["workspaceRoots.0", "workspacePath"],
    toolName: ["preToolUse.toolName", "preToolUse.tool", "postToolUse.toolName", "postToolUse.tool"],
    params: ["preToolUse.parameters", "postToolUse.parameters"],
    result: "postToolUse.result",
    durationMs: ["postToolUse.executionTimeMs", "postToolUse.durationMs"],
    prompt: "userPromptSubmit.prompt",
    messageCount: "preCompact.conversationLength",
  },
  obeys: { ask: false, rewrite: false, promptBlock: true, context: true, revise: false },
  answer(_moment, _event, decided) {
    if (decided.kind === "deny") return { cancel: true, errorMessage: decided.reason };
    return { cancel: false, ...(decided.kind === "pass" && decided.context !== undefined && { contextModification: decided.context }) };
  },
};

export const GOOSE: AgentFormat = {
  name: "goose",
  title: "Goose",
  events: {
    PreToolUse: "before-tool",
    PostToolUse: "after-tool",
    PostToolUseFailure: "after-tool",
    UserPromptSubmit: "prompt",
    Stop: "stop",
    SessionStart: "session-start",
    SessionEnd: "session-end",
  },
  eventField: "event",
  fields: {
    session: "session_id",
    cwd: "working_dir",
    toolName: "tool_name",
    params: "tool_input",
    toolCallId: "tool_call_id",
    prompt: "message",
    lastMessage: "last_assistant_message",
  },
  obeys: { ask: false, rewrite: false, promptBlock: false, context: false, revise: true },
  answer(moment, _event, decided) {
    const canBlock = moment === "before-tool" || moment === "stop";
    if (canBlock && (decided.kind === "deny" || decided.kind === "revise")) return { decision: "block", reason: decided.reason };
    // Any other text on stdout reads as "no decision".
    return undefined;
  },
};

export const COPILOT_CLI: AgentFormat = {
  name: "copilot-cli",
  title: "Copilot CLI",
  events: {
    preToolUse: "before-tool",
    postToolUse: "after-tool",
    postToolUseFailure: "after-tool",
    userPromptSubmitted: "prompt",
    agentStop: "stop",
    preCompact: "before-compaction",
    sessionStart: "session-start",
    sessionEnd: "session-end",
  },
  fields: {
    session: "sessionId",
    cwd: "cwd",
    transcript: "transcriptPath",
    toolName: "toolName",
    params: "toolArgs",
    result: "toolResult",
    error: "error",
    prompt: "prompt",
    source: "source",
    reason: "reason",
  },
  // Its stop event does not say that it follows a revision, so a plugin could keep the agent going for ever.
  obeys: { ask: true, rewrite: true, promptBlock: false, context: false, revise: false },
  answer(moment, _event, decided) {
    if (moment !== "before-tool" || decided.kind === "revise") return undefined;
    const modified = decided.kind !== "deny" && decided.input !== undefined ? { modifiedArgs: decided.input } : undefined;
    if (decided.kind === "pass") return modified;
    return { permissionDecision: decided.kind, permissionDecisionReason: decided.reason, ...modified };
  },
};
