/** Trusted side: which handlers of a plan are called for this event, by the options they registered with and by who caused it. */
import { FILTER_OPTIONS } from "../../protocol/hooks/define.ts";
import type { Call } from "../../protocol/outcome.ts";
import { ownError } from "../guest-error.ts";
import type { Handler, Plan } from "../registry.ts";
import { quarantined, skipped } from "./answer.ts";
import type { RunInput } from "./run-input.ts";

const NOBODY: Plan = [];

/** The plan itself when all of it is called, which is nearly always. */
export function eligible(input: RunInput): Plan {
  const { hook, plan, chain, context } = input;
  if (input.isNested) return NOBODY;
  let handlers = plan;
  if (hook.filters && plan.some(({ filter }) => filter)) handlers = handlers.filter((handler) => wants(input, handler));
  if (hook.authority) {
    const isAuthorized = context[hook.authority.context] !== undefined;
    if (handlers.some(({ needsAuthority }) => needsAuthority !== isAuthorized)) {
      handlers = handlers.filter(({ needsAuthority }) => needsAuthority === isAuthorized);
    }
  }
  if (chain.by !== undefined && handlers.some((handler) => isOwn(input, handler)))
    handlers = handlers.filter((handler) => !isOwn(input, handler));
  return handlers;
}

/** Those that their plugin's breaker does not let through now, and what becomes of them; undefined, and nothing made for it, when there are none. */
export function refused({ isCalm, cause }: RunInput, handlers: Plan): ReadonlyMap<Handler, Call> | undefined {
  if (isCalm) return undefined;
  let found: Map<Handler, Call> | undefined;
  for (const handler of handlers) {
    if (!handler.plugin.circuit.admits(cause)) (found ??= new Map()).set(handler, quarantined(handler));
  }
  return found;
}

/** The calls of the whole plan, given those of the first eligible handlers, in order. */
export function report(input: RunInput, handlers: Plan, called: readonly Call[]): readonly Call[] {
  if (called.length === input.plan.length) return called;
  let next = 0;
  return input.plan.map((handler) => {
    if (handler === handlers[next]) return called[next++] ?? skipped(handler);
    const code = input.isNested ? "ERR_RECURSION_NESTED" : isOwn(input, handler) ? "ERR_RECURSION_OWN" : undefined;
    if (!code) return skipped(handler);
    return {
      ...skipped(handler),
      status: "recursion",
      error: ownError(code, { path: input.chain.path.join(" → "), hook: input.hook.name }),
    };
  });
}

/** What happened is the plugin's own doing. */
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
