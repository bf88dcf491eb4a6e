/**
 * Payloads as the agents' own documentation shows them, with the values of the examples where it has some, and what each
 * agent expects to read for every verdict of the guard in hook.test.ts. Read in November 2026:
 * - Claude Code: code.claude.com/docs/en/hooks, "PreToolUse input", "PreToolUse decision control", and those of the other events
 * - Codex: openai/codex, codex-rs/hooks/schema/generated, and codex-rs/hooks/src/engine/output_parser.rs for what it refuses
 * - Gemini CLI: google-gemini/gemini-cli, docs/hooks/reference.md
 * - Cline: docs.cline.bot/features/hooks/hook-reference and /customization/hooks, which differ
 * - Goose: block/goose, documentation/docs/guides/context-engineering/hooks.md
 * - Copilot CLI: github/docs, content/copilot/reference/hooks-reference.md
 */
export interface Recorded {
  readonly tool: { readonly event: string; payload(command: string): object };
  /** By verdict: the JSON on stdout. Undefined: nothing. */
  readonly answers: { readonly [K in "allow" | "block" | "rewrite" | "approval"]: unknown };
  readonly deny: (reason: unknown) => object;
  readonly prompt: { readonly event: string; payload(prompt: string): object; readonly blocked: unknown; readonly context: unknown };
  /** Events that are only told. */
  readonly told: readonly { readonly event: string; readonly payload: object; readonly hook: string; readonly fact: object }[];
}

const BLOCKED = "Creel, plugin guard: no rm here";
const ASKED = "Creel, plugin guard: Network: it leaves the machine";
const NO_WAY = (title: string): string =>
  `${ASKED}. ${title} has no way to ask you from a hook, so the call is denied: make it yourself, or change the plugin's rules.`;
const NO_REWRITE = (title: string): string =>
  `Creel: a plugin changed the parameters, and ${title} cannot apply that. Call the tool again with {"command":"ls -la"}`;
const PROMPT_BLOCKED = "Creel, plugin guard: no secrets";
const CONTEXT = "today is Friday";

const claude = (hookEventName: string, fields: object): object => ({ hookSpecificOutput: { hookEventName, ...fields } });
const base = { session_id: "abc123", transcript_path: "/home/user/.claude/projects/x/abc.jsonl", cwd: "/home/user/my-project" };
const mode = { permission_mode: "default" };
/** What Claude Code 2.1.197 itself sent in a turn, beside its documentation's fields. */
const turn = { ...mode, prompt_id: "8382a3fe-ba2e-413e-b835-8753cdc4db39", effort: { level: "high" } };

const anthropic = {
  deny: (reason: unknown) => claude("PreToolUse", { permissionDecision: "deny", permissionDecisionReason: reason }),
  prompt: {
    event: "UserPromptSubmit",
    payload: (prompt: string) => ({ ...base, ...mode, hook_event_name: "UserPromptSubmit", prompt }),
    blocked: { decision: "block", reason: PROMPT_BLOCKED },
    context: claude("UserPromptSubmit", { additionalContext: CONTEXT }),
  },
};
const session = (agent: string, id: string): object => ({ sessionId: id, sessionKey: `${agent}:${id}` });

export const RECORDED: Readonly<Record<string, Recorded>> = {
  "claude-code": {
    ...anthropic,
    tool: {
      event: "PreToolUse",
      payload: (command) => ({
        ...base,
        ...turn,
        hook_event_name: "PreToolUse",
        tool_name: "Bash",
        tool_input: { command, description: "Run it", timeout: 120_000 },
        tool_use_id: "toolu_01ABC123",
      }),
    },
    answers: {
      allow: undefined,
      block: anthropic.deny(BLOCKED),
      rewrite: claude("PreToolUse", {
        permissionDecision: "ask",
        permissionDecisionReason: "Creel: a plugin changed the parameters",
        updatedInput: { command: "ls -la", description: "Run it", timeout: 120_000 },
      }),
      approval: claude("PreToolUse", { permissionDecision: "ask", permissionDecisionReason: ASKED }),
    },
    told: [
      {
        event: "PostToolUse",
        payload: {
          ...base,
          ...turn,
          hook_event_name: "PostToolUse",
          tool_name: "Write",
          tool_input: { file_path: "/path/to/file.txt", content: "file content" },
          tool_response: { filePath: "/path/to/file.txt", success: true },
          tool_use_id: "toolu_01ABC123",
        },
        hook: "after_tool_call",
        fact: { toolName: "Write", toolCallId: "toolu_01ABC123", result: { filePath: "/path/to/file.txt", success: true } },
      },
      {
        event: "PostToolUseFailure",
        payload: {
          ...base,
          ...turn,
          hook_event_name: "PostToolUseFailure",
          tool_name: "Bash",
          tool_input: { command: "npm test", description: "Run test suite" },
          tool_use_id: "toolu_01ABC123",
          error: "Command exited with non-zero status code 1",
          is_interrupt: false,
          duration_ms: 6,
        },
        hook: "after_tool_call",
        fact: { toolName: "Bash", error: "Command exited with non-zero status code 1", durationMs: 6 },
      },
      {
        event: "SessionStart",
        payload: { ...base, hook_event_name: "SessionStart", source: "startup", model: "claude-sonnet-4-6" },
        hook: "session_start",
        fact: session("claude-code", "abc123"),
      },
      {
        event: "SessionEnd",
        payload: { ...base, hook_event_name: "SessionEnd", reason: "other" },
        hook: "session_end",
        fact: session("claude-code", "abc123"),
      },
      {
        event: "PreCompact",
        payload: { ...base, hook_event_name: "PreCompact", trigger: "manual", custom_instructions: "" },
        hook: "before_compaction",
        fact: { sessionFile: base.transcript_path },
      },
    ],
  },
  codex: {
    ...anthropic,
    tool: {
      event: "PreToolUse",
      payload: (command) => ({
        ...base,
        ...mode,
        hook_event_name: "PreToolUse",
        model: "gpt-5",
        turn_id: "turn-1",
        tool_name: "Bash",
        tool_input: { command },
        tool_use_id: "call-1",
      }),
    },
    answers: {
      allow: undefined,
      block: anthropic.deny(BLOCKED),
      rewrite: claude("PreToolUse", {
        permissionDecision: "allow",
        permissionDecisionReason: "Creel: a plugin changed the parameters",
        updatedInput: { command: "ls -la" },
      }),
      approval: anthropic.deny(NO_WAY("Codex")),
    },
    told: [
      {
        event: "SessionStart",
        payload: { ...base, ...mode, hook_event_name: "SessionStart", model: "gpt-5", source: "resume" },
        hook: "session_start",
        fact: { ...session("codex", "abc123"), resumedFrom: "abc123" },
      },
    ],
  },
  "gemini-cli": {
    tool: {
      event: "BeforeTool",
      payload: (command) => ({
        ...base,
        hook_event_name: "BeforeTool",
        timestamp: "2026-11-18T08:00:00.000Z",
        tool_name: "run_shell_command",
        tool_input: { command },
      }),
    },
    deny: (reason) => ({ decision: "deny", reason }),
    answers: {
      allow: {},
      block: { decision: "deny", reason: BLOCKED },
      rewrite: { hookSpecificOutput: { hookEventName: "BeforeTool", tool_input: { command: "ls -la" } } },
      approval: { decision: "deny", reason: NO_WAY("Gemini CLI") },
    },
    prompt: {
      event: "BeforeAgent",
      payload: (prompt) => ({ ...base, hook_event_name: "BeforeAgent", timestamp: "2026-11-18T08:00:00.000Z", prompt }),
      blocked: { decision: "deny", reason: PROMPT_BLOCKED },
      context: claude("BeforeAgent", { additionalContext: CONTEXT }),
    },
    told: [
      {
        event: "AfterTool",
        payload: {
          ...base,
          hook_event_name: "AfterTool",
          timestamp: "2026-11-18T08:00:00.000Z",
          tool_name: "read_file",
          tool_input: { path: "a" },
          tool_response: { llmContent: "text", returnDisplay: "text" },
        },
        hook: "after_tool_call",
        fact: { toolName: "read_file", result: { llmContent: "text", returnDisplay: "text" } },
      },
    ],
  },
  cline: {
    tool: {
      event: "PreToolUse",
      payload: (command) => ({
        clineVersion: "3.17.0",
        hookName: "PreToolUse",
        timestamp: "1736654400000",
        taskId: "abc123",
        workspaceRoots: ["/path/to/project"],
        userId: "user",
        preToolUse: { toolName: "execute_command", parameters: { command } },
      }),
    },
    deny: (reason) => ({ cancel: true, errorMessage: reason }),
    answers: {
      allow: { cancel: false },
      block: { cancel: true, errorMessage: BLOCKED },
      rewrite: { cancel: true, errorMessage: NO_REWRITE("Cline") },
      approval: { cancel: true, errorMessage: NO_WAY("Cline") },
    },
    prompt: {
      event: "UserPromptSubmit",
      payload: (prompt) => ({ taskId: "abc123", clineVersion: "3.17.0", workspacePath: "/path/to/project", userPromptSubmit: { prompt } }),
      blocked: { cancel: true, errorMessage: PROMPT_BLOCKED },
      context: { cancel: false, contextModification: CONTEXT },
    },
    told: [
      {
        event: "PostToolUse",
        payload: {
          taskId: "abc123",
          clineVersion: "3.17.0",
          timestamp: 1_736_654_400_000,
          workspacePath: "/path/to/project",
          postToolUse: {
            tool: "execute_command",
            parameters: { command: "npm test" },
            result: "All tests passed",
            success: true,
            durationMs: 3450,
          },
        },
        hook: "after_tool_call",
        fact: { toolName: "execute_command", result: "All tests passed", durationMs: 3450 },
      },
    ],
  },
  goose: {
    tool: {
      event: "PreToolUse",
      payload: (command) => ({
        event: "PreToolUse",
        session_id: "abc-123",
        matcher_context: "developer__shell",
        tool_name: "developer__shell",
        tool_input: { command },
        working_dir: "/Users/you/project",
        tool_call_id: "call_1",
      }),
    },
    deny: (reason) => ({ decision: "block", reason }),
    answers: {
      allow: undefined,
      block: { decision: "block", reason: BLOCKED },
      rewrite: { decision: "block", reason: NO_REWRITE("Goose") },
      approval: { decision: "block", reason: NO_WAY("Goose") },
    },
    prompt: {
      event: "UserPromptSubmit",
      payload: (message) => ({ event: "UserPromptSubmit", session_id: "abc-123", matcher_context: message, message }),
      // It can neither stop a prompt nor add to it.
      blocked: undefined,
      context: undefined,
    },
    told: [
      {
        event: "PostToolUse",
        payload: {
          event: "PostToolUse",
          session_id: "abc-123",
          matcher_context: "developer__shell",
          tool_name: "developer__shell",
          tool_input: { command: "rg TODO" },
          working_dir: "/Users/you/project",
        },
        hook: "after_tool_call",
        fact: { toolName: "developer__shell", params: { command: "rg TODO" } },
      },
    ],
  },
  "copilot-cli": {
    tool: {
      event: "preToolUse",
      payload: (command) => ({
        sessionId: "abc123",
        timestamp: 1_704_614_600_000,
        cwd: "/path/to/project",
        toolName: "bash",
        toolArgs: JSON.stringify({ command, description: "Clean build directory" }),
      }),
    },
    deny: (reason) => ({ permissionDecision: "deny", permissionDecisionReason: reason }),
    answers: {
      allow: undefined,
      block: { permissionDecision: "deny", permissionDecisionReason: BLOCKED },
      rewrite: { modifiedArgs: { command: "ls -la", description: "Clean build directory" } },
      approval: { permissionDecision: "ask", permissionDecisionReason: ASKED },
    },
    prompt: {
      event: "userPromptSubmitted",
      payload: (prompt) => ({ sessionId: "abc123", timestamp: 1_704_614_500_000, cwd: "/path/to/project", prompt }),
      blocked: undefined,
      context: undefined,
    },
    told: [
      {
        event: "postToolUse",
        payload: {
          sessionId: "abc123",
          timestamp: 1_704_614_700_000,
          cwd: "/path/to/project",
          toolName: "bash",
          toolArgs: '{"command":"npm test"}',
          toolResult: { resultType: "success", textResultForLlm: "All tests passed (15/15)" },
        },
        hook: "after_tool_call",
        fact: { params: { command: "npm test" }, result: { resultType: "success", textResultForLlm: "All tests passed (15/15)" } },
      },
    ],
  },
};
