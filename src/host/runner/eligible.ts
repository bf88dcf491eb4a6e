/** Trusted side: which handlers of a plan are called for this event, by the options they registered with and by who caused it. */
import { FILTER_OPTIONS } from "../../protocol/hooks/define.ts";
import type { Call } from "../../protocol/outcome.ts";
import { ownError } from "../guest-error.ts";
import type { Handler, Plan } from "../registry.ts";
import { skipped } from "./answer.ts";
import type { RunInput } from "./run-input.ts";

export interface Eligible {
  readonly handlers: Plan;
  /** What is to be said of those that are not called; nothing special if they are not in here. */
  readonly calls: Map<Handler, Call>;
}

export function eligible(input: RunInput): Eligible {
  const { hook, plan, chain } = input;
  const calls = new Map<Handler, Call>();
  let handlers = plan;
  if (hook.filters && plan.some(({ filter }) => filter)) handlers = handlers.filter((handler) => wants(input, handler));
  if (hook.authority) {
    const isAuthorized = input.context[hook.authority.context] !== undefined;
    handlers = handlers.filter(({ needsAuthority }) => needsAuthority === isAuthorized);
  }
  if (hook.guardsReentry && chain.by !== undefined) {
    handlers = handlers.filter((handler) => {
      if (handler.plugin.id !== chain.by || handler.isReentrant) return true;
      calls.set(handler, { ...skipped(handler), status: "recursion", error: ownError("ERR_RECURSION_OWN", { path: chain.path.join(" → ") }) });
      return false;
    });
  }
  return { handlers, calls };
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
