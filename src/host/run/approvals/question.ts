/**
 * Trusted side: the one question that a user is asked about all requests of a run. `requests` and `changes` hold everything;
 * `pluginId`, `title` and `description` are for a gateway that shows one request, and never hide a second one.
 */
import { APPROVAL_DECISIONS, APPROVAL_SEVERITIES } from "../../../protocol/hooks/tool.ts";
import type { ApprovalDecision, ApprovalRequest } from "../../../protocol/hooks/tool.ts";
import { LIMITS } from "../../../protocol/limits.ts";
import { isBounded } from "../../../protocol/rules/json-bounds.ts";
import type { Fields } from "../../../protocol/rules/merge.ts";
import { laidOver } from "./changes.ts";
import type { ApprovalChange } from "./changes.ts";
import { describe, entitle } from "./summary.ts";
import type { RunInput } from "../run-input.ts";

/** What one handler of a plugin asks. */
export interface RequestedApproval extends Omit<ApprovalRequest, "onResolution" | "pluginId"> {
  readonly pluginId: string;
  /** The tools that the handler is registered for, sorted. Absent: for all. */
  readonly matcher?: readonly string[];
}

export interface ApprovalQuestion {
  readonly hook: string;
  readonly runId: string;
  readonly toolName: string | undefined;
  readonly toolCallId: string | undefined;
  readonly agentId: string | undefined;
  readonly sessionKey: string | undefined;
  /** As the tool will run with them. */
  readonly params: Fields;
  /** At least one, in the order of the handlers. An allowing answer allows all of them. */
  readonly requests: readonly RequestedApproval[];
  /** By plugin. Empty: the parameters are those that the first request was made for. */
  readonly changes: readonly ApprovalChange[];
  /** The shortest of all requests. */
  readonly timeoutMs: number;
  /** `allow`: all requests say so, and the operator permits it. */
  readonly timeoutBehavior: "allow" | "deny";
  readonly timeoutReason?: string;
  /** What all requests permit. `deny` is always there. */
  readonly allowedDecisions: readonly ApprovalDecision[];
  /** The plugin; of several, all of them, separated by commas, so that it is no plugin's id. */
  readonly pluginId: string;
  /** Of several requests: how many, and their titles, cut. With changes: by which plugins. */
  readonly title: string;
  /** Of several requests, or with changes: a line for each of them, cut. */
  readonly description: string;
  /** The highest. */
  readonly severity?: "info" | "warning" | "critical";
  /** If all requests have the same. */
  readonly scope?: string;
}

export interface QuestionParts {
  readonly input: RunInput;
  readonly result: Fields | undefined;
  readonly requests: readonly RequestedApproval[];
  readonly changes: readonly ApprovalChange[];
  readonly allowOnTimeout: boolean;
}

export function questionOf(parts: QuestionParts): ApprovalQuestion {
  // A copy: what the gateway does to its question does not change what runs.
  return JSON.parse(JSON.stringify(made(parts))) as ApprovalQuestion;
}

/**
 * For a run that plugins made long. Undefined: they added more values than one question shows.
 * SECURITY: a copy of hundreds of thousands of values would stall the gateway. test/host/run/approvals/question.test.ts
 */
export function boundedQuestionOf(parts: QuestionParts): ApprovalQuestion | undefined {
  const { eventText } = parts.input;
  // What the gateway gave itself is shown, however long it is.
  if (!isBounded(eventText, LIMITS.approval.values, Infinity)) return questionOf(parts);
  if (Object.keys(parts.result?.params ?? {}).length > LIMITS.approval.values) return undefined;
  const json = JSON.stringify(made(parts));
  return isBounded(json, LIMITS.approval.values, Infinity) ? (JSON.parse(json) as ApprovalQuestion) : undefined;
}

function made({ input, result, requests, changes, allowOnTimeout }: QuestionParts): ApprovalQuestion {
  const { hook, runId, event, context } = input;
  const severity = APPROVAL_SEVERITIES.findLast((one) => requests.some((request) => request.severity === one));
  const timeoutReason = requests.find((request) => request.timeoutReason !== undefined)?.timeoutReason;
  const [first] = requests;
  const scope = requests.every((request) => request.scope === first!.scope) ? first!.scope : undefined;
  const allows = allowOnTimeout && wantsAllowOnTimeout(requests);
  return {
    hook: hook.name,
    runId,
    toolName: text(event.toolName),
    toolCallId: text(event.toolCallId) ?? text(context.toolCallId),
    agentId: text(context.agentId),
    sessionKey: text(context.sessionKey),
    params: laidOver(event, result?.params),
    requests,
    changes,
    timeoutMs: Math.min(LIMITS.approval.maxWallMs, ...requests.map(({ timeoutMs = LIMITS.approval.wallMs }) => timeoutMs)),
    timeoutBehavior: allows ? "allow" : "deny",
    ...(timeoutReason !== undefined && { timeoutReason }),
    allowedDecisions: APPROVAL_DECISIONS.filter((decision) => requests.every((request) => permits(request, decision))),
    pluginId: [...new Set(requests.map(({ pluginId }) => pluginId))].join(", "),
    title: entitle(requests, changes),
    description: describe(requests, changes),
    ...(severity !== undefined && { severity }),
    ...(scope !== undefined && { scope }),
  };
}

export function permits({ allowedDecisions }: RequestedApproval, decision: ApprovalDecision): boolean {
  return decision === "deny" || (allowedDecisions?.includes(decision) ?? true);
}

export function wantsAllowOnTimeout(requests: readonly RequestedApproval[]): boolean {
  return requests.every(({ timeoutBehavior }) => timeoutBehavior === "allow");
}

export function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
