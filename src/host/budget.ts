/** Trusted side: what a call may cost, and who said so. Operator per hook > operator per plugin > author > catalog, capped by the host. */
import type { PluginHooksConfig } from "../protocol/config.ts";
import type { AnyHook } from "../protocol/catalog.ts";
import { LIMITS } from "../protocol/limits.ts";
import type { HandlerOptions } from "../protocol/registration.ts";

export type BudgetOrigin = "operator, for this hook" | "operator, for this plugin" | "author" | "catalog" | "host maximum";

export interface Budget {
  readonly value: number;
  readonly origin: BudgetOrigin;
}

export interface CallBudget {
  readonly wallMs: Budget;
  readonly cpuMs: Budget;
}

export function callBudget(hook: AnyHook, operator: PluginHooksConfig | undefined, author: HandlerOptions): CallBudget {
  return {
    wallMs: cap(
      pick(
        [operator?.timeouts?.[hook.name], "operator, for this hook"],
        [operator?.timeoutMs, "operator, for this plugin"],
        [author.timeoutMs, "author"],
        [hook.budget.wallMs, "catalog"],
      ),
      LIMITS.maxWallMs,
    ),
    cpuMs: cap(pick([operator?.cpuMs, "operator, for this plugin"], [LIMITS.cpuMs, "catalog"]), LIMITS.maxCpuMs),
  };
}

function pick(...candidates: readonly (readonly [value: number | undefined, origin: BudgetOrigin])[]): Budget {
  const [value, origin] = candidates.find(([candidate]) => candidate !== undefined)!;
  return { value: value!, origin };
}

function cap(budget: Budget, max: number): Budget {
  return budget.value > max ? { value: max, origin: "host maximum" } : budget;
}
