/**
 * Trusted side: the formats of Claude Code and of Codex, which took over Claude's wire format with fewer answers. A pass
 * is silence: "allow" would skip the user's own permission rules, and a guard must not widen them.
 */
import type { AgentFormat, Bag, Fields, Moment, HookDecision } from "./format.ts";

const FIELDS: Fields = {
  session: "session_id",
  cwd: "cwd",
  turn: ["turn_id", "prompt_id"],
  transcript: "transcript_path",
  toolName: "tool_name",
  params: "tool_input",
  toolCallId: "tool_use_id",
  result: "tool_response",
  error: "error",
  durationMs: "duration_ms",
  prompt: "prompt",
  source: "source",
  reason: "reason",
  lastMessage: "last_assistant_message",
  isRetry: "stop_hook_active",
};

const EVENTS = {
  PreToolUse: "before-tool",
  PostToolUse: "after-tool",
  UserPromptSubmit: "prompt",
  Stop: "stop",
  PreCompact: "before-compaction",
  SessionStart: "session-start",
  SessionEnd: "session-end",
} as const;

/** `rewriting`: the decision that Claude's format wants beside `updatedInput`. */
function answering(rewriting: "ask" | "allow") {
  return (moment: Moment, hookEventName: string, decided: HookDecision): Bag | undefined => {
    const specific = (fields: Bag): Bag => ({ hookSpecificOutput: { hookEventName, ...fields } });
    if (moment === "before-tool") {
      if (decided.kind === "deny") return specific({ permissionDecision: "deny", permissionDecisionReason: decided.reason });
      const updated = "input" in decided && decided.input !== undefined ? { updatedInput: decided.input } : {};
      if (decided.kind === "ask") return specific({ permissionDecision: "ask", permissionDecisionReason: decided.reason, ...updated });
      if ("updatedInput" in updated)
        return specific({ permissionDecision: rewriting, permissionDecisionReason: "Creel: a plugin changed the parameters", ...updated });
    }
    if (decided.kind === "deny" && moment === "prompt") return { decision: "block", reason: decided.reason };
    if (decided.kind === "revise" && moment === "stop") return { decision: "block", reason: decided.reason };
    if (decided.kind === "pass" && decided.context !== undefined) return specific({ additionalContext: decided.context });
    return undefined;
  };
}

export const CLAUDE_CODE: AgentFormat = {
  name: "claude-code",
  title: "Claude Code",
  events: { ...EVENTS, PostToolUseFailure: "after-tool" },
  eventField: "hook_event_name",
  fields: FIELDS,
  obeys: { ask: true, rewrite: true, promptBlock: true, context: true, revise: true },
  // Documented with "allow", which would skip the user's own prompt, and with "ask", which shows the new parameters.
  answer: answering("ask"),
};

export const CODEX: AgentFormat = {
  name: "codex",
  title: "Codex",
  events: EVENTS,
  eventField: "hook_event_name",
  fields: FIELDS,
  // It marks a hook that answers "ask" as failed, and runs the tool.
  obeys: { ask: false, rewrite: true, promptBlock: true, context: true, revise: true },
  // It takes `updatedInput` only with "allow", which does not lift its sandbox: scripts/hook-live.ts tries it.
  answer: answering("allow"),
};
