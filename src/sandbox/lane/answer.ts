/** Untrusted side, lane thread: how a call ended, and the lane's own errors as text. */
import { errorMessage } from "../../protocol/errors.ts";
import type { ErrorCode, ErrorParams } from "../../protocol/errors.ts";
import { fitsBytes } from "../../transport/frames.ts";
import type { StepStatus } from "../../transport/call-frames.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { ErrorText } from "../../protocol/messages/host-lane.ts";
import { resultRefusal } from "../../transport/result-bounds.ts";

/** The body is the JSON of a result or of an error, or empty. */
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

/** A result, unless it is too long or too deep. The guest checks the length, too, but a plugin may have tampered with the guest. */
export function resultOf(text: string, wallMs: number, cpuUs: number, bytesOut: number): Answer {
  const refusal = resultRefusal(text, bytesOut);
  return refusal ? { status: "failed", wallMs, cpuUs, body: errorJson(...refusal) } : { status: "ok", wallMs, cpuUs, body: text };
}

/** An error as the guest describes it, unless that is too long. */
export function boundedError(text: string): string {
  return fitsBytes(text, LIMITS.call.errorBytes) ? text : errorJson("ERR_CALL_FAILED", { detail: "its error is too long to report" });
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
