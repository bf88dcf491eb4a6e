/** The outcome of a run, as the gateway gets it. */
import type { ErrorCode } from "./errors.ts";
import type { ApprovalResolution } from "./hooks/tool.ts";
import type { TerminalDecision } from "./hooks/define.ts";
import type { CallStatus } from "./messages/host-lane.ts";

export interface CallError {
  readonly code: ErrorCode;
  readonly message: string;
  /** The stack inside the guest, mapped to the author's files; or the lines that the bundler or a manifest complains about. */
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
  /** Fields of its result that the hook does not know. They are ignored. */
  readonly ignored?: readonly string[];
}

/** Was the call ended while it computed? On a busy machine a turn is ended before it has had all of its CPU time. */
export function ranOutOfCpu({ error }: { readonly error?: { readonly code: string } | undefined }): boolean {
  return error?.code === "ERR_CALL_CPU" || error?.code === "ERR_CALL_TURN";
}

/** The outcome of one handler of an evaluate hook. */
export interface Evaluation<Result = unknown> {
  readonly pluginId: string;
  readonly status: "completed" | "skipped" | "error";
  readonly result?: Result;
  readonly error?: string;
}

export type Decision = "pass" | TerminalDecision;

/** Which approvals plugins requested, and how they ended. */
export interface SettledApproval {
  /** The plugin whose request the user was shown first. If all were remembered, the plugin of the first request. */
  readonly pluginId: string;
  readonly resolution: ApprovalResolution;
  /** Every request, in the order of the handlers. */
  readonly requests: readonly {
    readonly pluginId: string;
    readonly title: string;
    readonly severity?: "info" | "warning" | "critical";
    readonly resolution: ApprovalResolution;
    /** The user was not asked again, because they had chosen "always". */
    readonly isRemembered?: true;
  }[];
  /** Which plugins changed which parameters after the first request. Absent: none did. */
  readonly changes?: readonly { readonly pluginId: string; readonly params: readonly string[] }[];
  /** Who answered, if the gateway said so. */
  readonly answeredBy?: string;
}

export interface Outcome<Result = unknown, Decided extends Decision = Decision> {
  readonly runId: string;
  readonly hook: string;
  readonly decision: Decided;
  readonly result: Result | undefined;
  /** The plugin whose answer (or failure) decided. */
  readonly by: string | undefined;
  readonly reason: string | undefined;
  readonly calls: readonly Call[];
  /** Set if plugins requested the user's approval. It is settled by then: `result` holds no request. */
  readonly approval?: SettledApproval;
  /** Set if the host could not be reached: no handler has judged the run, and the failure policy of the hook decided. */
  readonly unreachable?: { readonly why: string };
}
