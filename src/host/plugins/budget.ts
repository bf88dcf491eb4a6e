/**
 * Trusted side: what a call and a plugin may cost, and who set it. Operator per hook > operator per plugin > author > catalog, capped by the
 * host.
 */
import type { PluginHooksConfig } from "../../protocol/config/config.ts";
import type { AnyHook } from "../../protocol/catalog.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { PLUGIN_LIMITS } from "../../protocol/config/plugin-limits.ts";
import type { PluginLimitsConfig } from "../../protocol/config/plugin-limits-config.ts";
import type { PluginLimitName, PluginLimits } from "../../protocol/config/plugin-limits.ts";
import type { HandlerOptions } from "../../protocol/rules/registration.ts";

export type BudgetOrigin =
  | "operator, for this hook"
  | "operator, for this plugin"
  | "operator, for all plugins"
  | "author"
  | "catalog"
  | "host"
  | "host maximum";

export interface Budget {
  readonly value: number;
  readonly origin: BudgetOrigin;
}

/** The limits of a plugin: for all its calls together, or for each of them. */
export type PluginBudget = Readonly<Record<PluginLimitName, Budget>>;

export interface CallBudget {
  readonly wallMs: Budget;
  readonly cpuMs: Budget;
}

export function callBudget(hook: AnyHook, operator: PluginHooksConfig | undefined, author: HandlerOptions): CallBudget {
  return {
    wallMs: cap(
      pick(
        [operator?.budgets?.[hook.name]?.timeoutMs ?? operator?.timeouts?.[hook.name], "operator, for this hook"],
        [operator?.timeoutMs, "operator, for this plugin"],
        [author.timeoutMs, "author"],
        [hook.budget.wallMs, "catalog"],
      ),
      LIMITS.call.maxWallMs,
    ),
    cpuMs: cap(
      pick(
        [operator?.budgets?.[hook.name]?.cpuMs, "operator, for this hook"],
        [operator?.cpuMs, "operator, for this plugin"],
        [author.cpuMs && Math.min(author.cpuMs, LIMITS.call.maxAuthorCpuMs), "author"],
        [LIMITS.call.cpuMs, "catalog"],
      ),
      LIMITS.call.maxCpuMs,
    ),
  };
}

export function pluginBudget(ofPlugin: PluginLimitsConfig | undefined, ofAll: PluginLimitsConfig | undefined): PluginBudget {
  const entries = Object.entries(PLUGIN_LIMITS).map(([key, { usual, max }]) => {
    const name = key as PluginLimitName;
    const budget = pick([ofPlugin?.[name], "operator, for this plugin"], [ofAll?.[name], "operator, for all plugins"], [usual, "host"]);
    return [name, cap(budget, max)];
  });
  return Object.fromEntries(entries) as PluginBudget;
}

export function limitsOf(budget: PluginBudget): PluginLimits {
  return Object.fromEntries(Object.entries(budget).map(([name, { value }]) => [name, value])) as PluginLimits;
}

function pick(...candidates: readonly (readonly [value: number | undefined, origin: BudgetOrigin])[]): Budget {
  const [value, origin] = candidates.find(([candidate]) => candidate !== undefined)!;
  return { value: value!, origin };
}

function cap(budget: Budget, max: number): Budget {
  return budget.value > max ? { value: max, origin: "host maximum" } : budget;
}
