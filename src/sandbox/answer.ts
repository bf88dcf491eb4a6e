/** Untrusted side: how a call ended, and errors of the lane's own as text. */
import { errorMessage } from "../protocol/errors.ts";
import type { ErrorCode, ErrorParams } from "../protocol/errors.ts";
import type { StepStatus } from "../protocol/hot.ts";
import type { ErrorText } from "../protocol/messages.ts";

/** The body is a result's or an error's JSON, or empty. */
export interface Answer {
  readonly status: StepStatus;
  readonly wallMs: number;
  readonly cpuUs: number;
  readonly body: string;
}

/** An answer that took no time: the cell was not entered. */
export function answered(status: StepStatus, body: string): Answer {
  return { status, wallMs: 0, cpuUs: 0, body };
}

export function errorJson(code: ErrorCode, params: ErrorParams): string {
  return JSON.stringify({ code, message: errorMessage(code, params) } satisfies ErrorText);
}

export function messageOf(json: string): string {
  try {
    return (JSON.parse(json) as ErrorText).message;
  } catch {
    return "unknown";
  }
}
