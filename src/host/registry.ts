/**
 * Trusted side: who listens to what, in which order. The order is decided here, when a plugin registers, and never per call;
 * a run works on the list as it was when it started.
 */
import { familyOf } from "../protocol/catalog.ts";
import type { AnyHook, HookTable } from "../protocol/catalog.ts";
import { FILTER_OPTIONS } from "../protocol/hooks/define.ts";
import type { FilterOption } from "../protocol/hooks/define.ts";
import { LIMITS } from "../protocol/limits.ts";
import type { HandlerOptions, Registration } from "../protocol/registration.ts";
import { callBudget } from "./budget.ts";
import type { CallBudget } from "./budget.ts";
import { oneLine } from "./guest-error.ts";
import { missingPermission, notAccepted } from "./permissions.ts";
import { inOrder } from "./plugin.ts";
import type { Home, Plugin } from "./plugin.ts";
import { suggest } from "./suggest.ts";
import { Tallies } from "./tally.ts";
import type { Tally } from "./tally.ts";

export interface Handler {
  readonly plugin: Plugin;
  /** Where it is called. The same object for all handlers of a version of the plugin. */
  readonly home: Home;
  /** Its number there. */
  readonly index: number;
  readonly priority: number;
  /** Only for events whose fields are in these sets; see HookDefinition.filters. */
  readonly filter: Readonly<Partial<Record<FilterOption, ReadonlySet<string>>>> | undefined;
  /** Only in a run's authorized phase; see HookDefinition.authority. */
  readonly needsAuthority: boolean;
  /** Is anything of a context of use to it? */
  readonly seesContext: boolean;
  /** Called even for what its own plugin did. */
  readonly isReentrant: boolean;
  readonly budget: CallBudget;
  /** How often it was called. */
  readonly tally: Tally;
}

/** The handlers of one hook, highest priority first. Never changed, only replaced. */
export type Plan = readonly Handler[];

const NOBODY: Plan = [];

/** A handler that sees its event and its context. */
const BOTH = 2;

interface Listed extends Handler {
  /** What it was registered for: a hook, or a family of internal events. */
  readonly key: string;
  readonly order: number;
}

function filterOf(options: HandlerOptions): Handler["filter"] {
  const given = FILTER_OPTIONS.filter((option) => options[option]);
  if (given.length === 0) return undefined;
  return Object.fromEntries(given.map((option) => [option, new Set(options[option]!.map((value) => value.toLowerCase()))]));
}

export class Registry {
  readonly #hooks: HookTable;
  readonly #hasInternal: boolean;
  readonly #tallies: Tallies;
  readonly #families: ReadonlySet<string>;
  readonly #byPlugin = new Map<Plugin, Listed[]>();
  /** Undefined: somebody has come, gone or moved since they were made. Two hundred come one after the other, and nobody asks in between. */
  #plans: ReadonlyMap<string, Plan> | undefined;

  /** `hasInternal`: may anybody listen to internal events? */
  constructor(hooks: HookTable, hasInternal = true, tallies = new Tallies()) {
    this.#hooks = hooks;
    this.#tallies = tallies;
    this.#hasInternal = hasInternal;
    this.#families = new Set(Object.keys(hooks).flatMap((name) => familyOf(name) ?? []));
  }

  plan(hook: string): Plan {
    this.#plans ??= this.#planned();
    return this.#plans.get(hook) ?? NOBODY;
  }

  /** Replaces what a plugin listens to. Gives the diagnostics of what was not accepted. */
  set(plugin: Plugin, home: Home, registration: Pick<Registration, "handlers">): string[] {
    const diagnostics: string[] = [];
    const listed: Listed[] = [];
    for (const [index, { hook: key, options, sees = BOTH, function: declared }] of registration.handlers.entries()) {
      // No handler; see functions.ts.
      if (declared) continue;
      const hook = this.#hooks[key] ?? this.#anyOf(key);
      const refusal = hook
        ? (this.#switchedOff(hook, key) ?? missingPermission(hook, plugin) ?? notAccepted(key, options.priority ?? 0, plugin))
        : `there is no hook named "${oneLine(key, LIMITS.nameChars)}"${suggest(key, [...Object.keys(this.#hooks), ...this.#families])}`;
      if (refusal !== undefined) {
        diagnostics.push(refusal);
        continue;
      }
      const budget = callBudget(hook!, plugin.hooks, options);
      listed.push({
        plugin,
        home,
        index,
        key,
        order: index,
        priority: options.priority ?? 0,
        filter: filterOf(options),
        needsAuthority: options.requiresToolAuthority === true,
        seesContext: sees === BOTH,
        isReentrant: options.reentrant === true,
        budget,
        tally: this.#tallies.of(plugin.id, key),
      });
    }
    this.#byPlugin.set(plugin, listed);
    this.#plans = undefined;
    return diagnostics;
  }

  /** Handlers have moved: the rows of those that are run in one hop are others now. */
  moved(): void {
    this.#plans = undefined;
  }

  remove(plugin: Plugin): void {
    if (this.#byPlugin.delete(plugin)) this.#plans = undefined;
  }

  handlersOf(plugin: Plugin): readonly (Handler & { readonly key: string })[] {
    return this.#byPlugin.get(plugin) ?? [];
  }

  /** What it will listen to, and with which budgets, unless it asks for others when it is loaded. */
  asAccepted({ hooks, wakesFor = [] }: Plugin): { hook: string; priority: number; budget: CallBudget }[] {
    return wakesFor.flatMap(({ hook, priority }) => {
      const known = this.#hooks[hook] ?? this.#anyOf(hook);
      return known ? { hook, priority, budget: callBudget(known, hooks, { priority }) } : [];
    });
  }

  #switchedOff({ internal }: AnyHook, key: string): string | undefined {
    if (!internal || this.#hasInternal) return undefined;
    return `nobody hears "${key}": internal events are switched off by hooks.internal.enabled`;
  }

  /** Any hook of a family stands for its budgets and permissions. */
  #anyOf(family: string): AnyHook | undefined {
    if (!this.#families.has(family)) return undefined;
    return Object.values(this.#hooks).find((hook) => familyOf(hook.name) === family);
  }

  #planned(): ReadonlyMap<string, Plan> {
    const all = [...this.#byPlugin.values()]
      .flat()
      .toSorted((a, b) => b.priority - a.priority || inOrder(a.plugin, b.plugin) || a.order - b.order);
    const plans = new Map<string, Plan>();
    for (const name of Object.keys(this.#hooks)) {
      const family = familyOf(name);
      const plan = [...all.filter(({ key }) => key === family), ...all.filter(({ key }) => key === name)];
      if (plan.length > 0) plans.set(name, plan);
    }
    return plans;
  }
}
