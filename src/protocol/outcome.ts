/** What a run comes to, as the gateway sees it. */
import type { ErrorCode } from "./errors.ts";
import type { ApprovalResolution } from "./hooks/tool.ts";
import type { TerminalDecision } from "./hooks/define.ts";
import type { CallStatus } from "./messages.ts";

export interface CallError {
  readonly code: ErrorCode;
  readonly message: string;
  /** The guest's own stack, mapped to the author's files. */
  readonly stack?: string;
  /** file:line:column in the author's source. */
  readonly at?: string;
}

export interface Call {
  readonly plugin: string;
  readonly priority: number;
  readonly status: CallStatus;
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly error?: CallError;
  /** Fields of its result that the hook does not know. They count for nothing. */
  readonly ignored?: readonly string[];
}

/** What one handler of an evaluate hook came to. */
export interface Evaluation<Result = unknown> {
  readonly pluginId: string;
  readonly status: "completed" | "skipped" | "error";
  readonly result?: Result;
  readonly error?: string;
}

export type Decision = "pass" | TerminalDecision;

export interface Outcome<Result = unknown> {
  readonly runId: string;
  readonly hook: string;
  readonly decision: Decision;
  readonly result: Result | undefined;
  /** The plugin whose answer (or failure) decided. */
  readonly by: string | undefined;
  readonly reason: string | undefined;
  readonly calls: readonly Call[];
  /** Set when a plugin asked for the user's approval: whose request it was and how it ended. */
  readonly approval?: { readonly pluginId: string; readonly resolution: ApprovalResolution };
}
