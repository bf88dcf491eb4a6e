/** Trusted side: which handlers of a plan a run calls, by the options they registered with and by what caused the run. */
import { FILTER_OPTIONS } from "../../protocol/hooks/define.ts";
import type { Call } from "../../protocol/outcome.ts";
import { ownError } from "./guest-error.ts";
import type { Handler, Plan } from "../plugins/registry.ts";
import { absent as absentCall, quarantined, skipped } from "./answer.ts";
import type { RunInput } from "./run-input.ts";

const NO_HANDLERS: Plan = [];

/** Returns the plan itself when all of its handlers are called, which is nearly always. */
export function eligible(input: RunInput): Plan {
  const { hook, plan, chain, context } = input;
  // SECURITY: a required plugin that was not called has not agreed. test/contract/required.test.ts
  if (input.isNested) return plan.some(isRequired) ? plan.filter(isRequired) : NO_HANDLERS;
  let handlers = plan;
  if (hook.filters && plan.some(({ filter }) => filter)) handlers = handlers.filter((handler) => wants(input, handler));
  if (hook.authority) {
    const isAuthorized = context[hook.authority.context] !== undefined;
    // SECURITY: of one that cannot be called, nobody knows in which phase it wanted to be. test/contract/closed-doors.test.ts
    if (handlers.some(({ needsAuthority, absent }) => !absent && needsAuthority !== isAuthorized)) {
      handlers = handlers.filter(({ needsAuthority, absent }) => absent ?? needsAuthority === isAuthorized);
    }
  }
  if (chain.by !== undefined && handlers.some((handler) => isOwn(input, handler)))
    handlers = handlers.filter((handler) => !isOwn(input, handler));
  return handlers;
}

/** The handlers that cannot be called now, with the call that the outcome lists; undefined, and nothing allocated, when there are none. */
export function refused(input: RunInput, handlers: Plan): ReadonlyMap<Handler, Call> | undefined {
  if (input.allClosed && !input.isNested) return undefined;
  let found: Map<Handler, Call> | undefined;
  for (const handler of handlers) {
    const call = refusedCall(input, handler);
    if (call) (found ??= new Map()).set(handler, call);
  }
  return found;
}

function refusedCall(input: RunInput, handler: Handler): Call | undefined {
  if (input.isNested) return recursed(input, handler, "ERR_RECURSION_NESTED");
  if (handler.absent) return absentCall(handler, handler.absent);
  return handler.plugin.circuit.admits(input.cause) ? undefined : quarantined(handler);
}

function recursed({ chain, hook }: RunInput, handler: Handler, code: "ERR_RECURSION_NESTED" | "ERR_RECURSION_OWN"): Call {
  return { ...skipped(handler), status: "recursion", error: ownError(code, { path: chain.path.join(" → "), hook: hook.name }) };
}

/** The calls of the whole plan, given those of the first eligible handlers, in order. */
export function report(input: RunInput, handlers: Plan, called: readonly Call[]): readonly Call[] {
  if (called.length === input.plan.length) return called;
  let next = 0;
  return input.plan.map((handler) => {
    if (handler === handlers[next]) return called[next++] ?? skipped(handler);
    const code = input.isNested ? "ERR_RECURSION_NESTED" : isOwn(input, handler) ? "ERR_RECURSION_OWN" : undefined;
    return code ? recursed(input, handler, code) : skipped(handler);
  });
}

function isRequired({ failure }: Handler): boolean {
  return failure === "closed";
}

/** The plugin itself caused the run. */
function isOwn({ hook, chain }: RunInput, { plugin, isReentrant }: Handler): boolean {
  return hook.guardsReentry === true && plugin.id === chain.by && !isReentrant;
}

function wants({ hook, event, context }: RunInput, { filter }: Handler): boolean {
  return FILTER_OPTIONS.every((option) => {
    const wanted = filter?.[option];
    const compared = hook.filters?.[option];
    if (!wanted || !compared) return true;
    const value = (compared.from === "event" ? event : context)[compared.field];
    return typeof value === "string" && wanted.has(value.toLowerCase());
  });
}
