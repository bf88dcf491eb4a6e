/** Trusted side: which handlers of a plan are called for this event, by the options they registered with and by who caused it. */
import { FILTER_OPTIONS } from "../../protocol/hooks/define.ts";
import type { Call } from "../../protocol/outcome.ts";
import { ownError } from "../guest-error.ts";
import type { Handler, Plan } from "../registry.ts";
import { skipped } from "./answer.ts";
import type { RunInput } from "./run-input.ts";

export interface Eligible {
  readonly handlers: Plan;
  /** The calls of the whole plan, given those of the first eligible handlers, in order. */
  report(called: readonly Call[]): Call[];
}

export function eligible(input: RunInput): Eligible {
  const { hook, plan, chain } = input;
  let handlers = plan;
  if (hook.filters && plan.some(({ filter }) => filter)) handlers = handlers.filter((handler) => wants(input, handler));
  if (hook.authority) {
    const isAuthorized = input.context[hook.authority.context] !== undefined;
    if (handlers.some(({ needsAuthority }) => needsAuthority !== isAuthorized)) {
      handlers = handlers.filter(({ needsAuthority }) => needsAuthority === isAuthorized);
    }
  }
  const isOwn = ({ plugin, isReentrant }: Handler): boolean => hook.guardsReentry === true && plugin.id === chain.by && !isReentrant;
  if (chain.by !== undefined && handlers.some(isOwn)) handlers = handlers.filter((handler) => !isOwn(handler));

  return {
    handlers,
    report: (called) => {
      if (called.length === plan.length) return called as Call[];
      let next = 0;
      return plan.map((handler) => {
        if (handler === handlers[next]) return called[next++] ?? skipped(handler);
        if (!isOwn(handler)) return skipped(handler);
        return { ...skipped(handler), status: "recursion", error: ownError("ERR_RECURSION_OWN", { path: chain.path.join(" → ") }) };
      });
    },
  };
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
