/** Trusted side: reads one step's answer. A result that fails its schema is that handler's failure. */
import { LIMITS } from "../../protocol/limits.ts";
import type { Fields } from "../../protocol/rules/merge.ts";
import type { Call, CallError } from "../../protocol/outcome.ts";
import { refusal } from "../blame/breaker.ts";
import { guestError, ownError } from "./guest-error.ts";
import { firstIssue } from "../../text/schema-issue.ts";
import type { StepAnswer } from "../supervisor/lane-client.ts";
import type { Handler } from "../plugins/registry.ts";
import { ignoredFields } from "./ignored.ts";
import type { RunInput } from "./run-input.ts";

export interface Read {
  readonly call: Call;
  /** Undefined: no result, or a failure (then the call says so). */
  readonly answer: Fields | undefined;
}

export function readAnswer(input: RunInput, handler: Handler, step: StepAnswer): Read {
  const { hook } = input;
  if (step.status !== "ok") return failed(handler, step, step.status, guestError(step.body, handler.plugin.bundle));
  if (step.body === "" || hook.kind === "observe") return { call: called(handler, step), answer: undefined };
  if (step.body.length < LIMITS.gateway.resultChars) return readResult(input, handler, step);
  // Reading a long result costs the gateway time. The plugin is charged for it, as for a request; past its debt the result is not read.
  const { gatewayTime, budget } = handler.plugin;
  if (!gatewayTime.isExhausted) return gatewayTime.measure(() => readResult(input, handler, step));
  gatewayTime.refused();
  return failed(handler, step, "failed", ownError("ERR_CALL_RESULT_TIME", { limit: budget.gatewayMs.value }));
}

function readResult(input: RunInput, handler: Handler, step: StepAnswer): Read {
  const { hook } = input;
  let value: unknown;
  try {
    value = JSON.parse(step.body);
  } catch {
    return failed(handler, step, "failed", ownError("ERR_CALL_RESULT_JSON", { detail: "it is not JSON" }));
  }
  if (value === null && hook.nullIs !== "invalid") return { call: called(handler, step), answer: undefined };
  const parsed = hook.result.safeParse(value);
  if (parsed.success) {
    const ignored = ignoredFields(hook, value, input.event);
    const call = called(handler, step);
    return { call: ignored ? { ...call, ignored } : call, answer: allowed(input, handler, parsed.data as Fields | undefined) };
  }
  return failed(handler, step, "failed", ownError("ERR_CALL_RESULT", firstIssue(parsed.error)));
}

/** Drops the fields that this plugin may not set; the others count. */
function allowed({ hook, context }: RunInput, { plugin }: Handler, answer: Fields | undefined): Fields | undefined {
  if (!answer) return answer;
  const keeps = hook.authority && context[hook.authority.context] !== undefined ? hook.authority.keeps : undefined;
  const drops = plugin.hooks?.allowPromptInjection === false ? hook.promptFields : undefined;
  if (!keeps && !drops) return answer;
  return Object.fromEntries(Object.entries(answer).filter(([field]) => (!keeps || keeps.includes(field)) && !drops?.includes(field)));
}

export function skipped({ plugin, priority }: Handler): Call {
  return { plugin: plugin.id, priority, status: "skipped", wallMs: 0, cpuMs: 0 };
}

/** The call of a handler whose plugin does not serve. */
export function absent(handler: Handler, error: CallError): Call {
  return { ...skipped(handler), status: handler.plugin.status === "quarantined" ? "quarantined" : "failed", error };
}

/** The call of a handler that its plugin's breaker refuses. */
export function quarantined(handler: Handler): Call {
  return { ...skipped(handler), status: "quarantined", error: refusal(handler.plugin) };
}

function called({ plugin, priority }: Handler, { wallUs, cpuUs }: StepAnswer): Call {
  return { plugin: plugin.id, priority, status: "ok", wallMs: wallUs / 1000, cpuMs: cpuUs / 1000 };
}

/** The call of a handler that answered, but whose result is refused. */
export function refusedResult({ call }: Read, error: CallError): Call {
  return { ...call, status: "failed", error };
}

/** The call of a handler whose result the host did not even read. */
export function unread(handler: Handler, step: StepAnswer, error: CallError): Call {
  return failed(handler, step, "failed", error).call;
}

function failed({ plugin, priority }: Handler, { wallUs, cpuUs }: StepAnswer, status: Call["status"], error: CallError): Read {
  return { call: { plugin: plugin.id, priority, status, wallMs: wallUs / 1000, cpuMs: cpuUs / 1000, error }, answer: undefined };
}
