/**
 * Trusted side: which handlers listen to which hook, in which order. The order is decided here, when a plugin registers, and never per
 * call; a run keeps the plan it started with.
 */
import { familyOf } from "../../protocol/catalog.ts";
import type { AnyHook, HookTable } from "../../protocol/catalog.ts";
import { FILTER_OPTIONS } from "../../protocol/hooks/define.ts";
import type { FilterOption } from "../../protocol/hooks/define.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { CallError } from "../../protocol/outcome.ts";
import type { HandlerOptions, Registration } from "../../protocol/rules/registration.ts";
import { callBudget } from "./budget.ts";
import type { CallBudget } from "./budget.ts";
import { ownError } from "../run/guest-error.ts";
import { oneLine } from "../../text/one-line.ts";
import { isAccepted, missingPermission, notAccepted } from "./permissions.ts";
import { inOrder } from "./plugin.ts";
import type { Home, Plugin } from "./plugin.ts";
import { suggest } from "../../text/did-you-mean.ts";
import { CallCount, CallCounts, PluginCost } from "./call-counts.ts";

export interface Handler {
  readonly plugin: Plugin;
  /** Where it is called. The same object for all handlers of a version of the plugin. */
  readonly home: Home;
  /** Its number in the cell. */
  readonly index: number;
  readonly priority: number;
  /** Only for events whose fields are in these sets; see HookDefinition.filters. */
  readonly filter: Readonly<Partial<Record<FilterOption, ReadonlySet<string>>>> | undefined;
  /** Only in a run's authorized phase; see HookDefinition.authority. */
  readonly needsAuthority: boolean;
  /** Is it called for runs that its own plugin caused? */
  readonly isReentrant: boolean;
  /** It asked for durable events, and the operator allows it. */
  readonly isDurable: boolean;
  readonly budget: CallBudget;
  /** The options it registered with. */
  readonly options: HandlerOptions;
  /** How often it was called. */
  readonly callCount: CallCount;
  /** Its failure policy; undefined: the hook's. */
  readonly failure: AnyHook["failure"] | undefined;
  /** Why it is not called: its plugin does not serve. Undefined: it is called. */
  readonly absent: CallError | undefined;
}

/** The handlers of one hook, highest priority first. Immutable: a change makes another plan. */
export type Plan = readonly Handler[];

const NO_HANDLERS: Plan = [];

interface Listed extends Handler {
  /** What it was registered for: a hook, or a family of internal events. */
  readonly key: string;
  readonly order: number;
}

interface Refused {
  readonly refusal: string | undefined;
  readonly stays: "policy" | "open" | undefined;
}

function filterOf(options: HandlerOptions): Handler["filter"] {
  const given = FILTER_OPTIONS.filter((option) => options[option]);
  if (given.length === 0) return undefined;
  return Object.fromEntries(given.map((option) => [option, new Set(options[option]!.map((value) => value.toLowerCase()))]));
}

export class Registry {
  readonly #hooks: HookTable;
  readonly #hasInternal: boolean;
  readonly #callCounts: CallCounts;
  readonly #families: ReadonlySet<string>;
  readonly #durable: ReadonlySet<string>;
  readonly #byPlugin = new Map<Plugin, Listed[]>();
  /** Plugins that do not serve and whose hooks are not known: each is in the plan of every hook. */
  readonly #unknown = new Map<Plugin, Handler>();
  /** Plugins with a handler that cannot be called. */
  readonly #absent = new Set<Plugin>();
  /** Every handler of every plan can be called. */
  isWhole = true;
  /** Undefined: a plugin has come, gone or moved since. Made on demand: two hundred plugins may register before the first run. */
  #plans: ReadonlyMap<string, Plan> | undefined;

  /** `hasInternal`: may plugins listen to internal events? `durable`: hooks that are durable for every plugin. */
  constructor(hooks: HookTable, hasInternal = true, callCounts = new CallCounts(), durable: ReadonlySet<string> = new Set()) {
    this.#durable = durable;
    this.#hooks = hooks;
    this.#callCounts = callCounts;
    this.#hasInternal = hasInternal;
    this.#families = new Set(Object.keys(hooks).flatMap((name) => familyOf(name) ?? []));
  }

  plan(hook: string): Plan {
    this.#plans ??= this.#planned();
    return this.#plans.get(hook) ?? NO_HANDLERS;
  }

  /**
   * Replaces the handlers of a plugin. Returns the diagnostics of those that were not accepted. `absent`: the plugin does not serve; its
   * handlers stay in the plans, and fail with this reason.
   */
  set(plugin: Plugin, home: Home, registration: Pick<Registration, "handlers">, absent?: CallError): string[] {
    const diagnostics: string[] = [];
    const listed: Listed[] = [];
    for (const [index, { hook: key, options, function: declared }] of registration.handlers.entries()) {
      // A function, not a handler; see functions.ts.
      if (declared) continue;
      const hook = this.hook(key);
      const { refusal, stays } = this.#refused(key, hook, options.priority ?? 0, plugin, registration);
      if (refusal !== undefined) {
        diagnostics.push(refusal);
        if (!stays) continue;
      }
      const budget = callBudget(hook!, plugin.hooks, options);
      const undurable = options.durable === true ? this.#undurable(hook!, key, plugin) : undefined;
      if (undurable !== undefined) diagnostics.push(undurable);
      // What a plugin asks for that has never loaded is not known: its events are kept rather than lost.
      const asksDurable = options.durable === true || plugin.registered === undefined;
      listed.push({
        plugin,
        home,
        index,
        key,
        order: index,
        priority: options.priority ?? 0,
        filter: filterOf(options),
        needsAuthority: options.requiresToolAuthority === true,
        isReentrant: options.reentrant === true,
        isDurable: asksDurable && plugin.hooks?.durable === true && hook!.kind === "observe",
        budget,
        options,
        callCount: this.#callCounts.of(plugin.id, key),
        failure: plugin.isRequired ? "closed" : stays === "open" ? "open" : undefined,
        absent: absent ?? (refusal === undefined ? undefined : ownError("ERR_CALL_REFUSED", { detail: refusal })),
      });
    }
    listed.push(...this.#unkept(plugin, home, listed, diagnostics));
    this.#byPlugin.set(plugin, listed);
    this.#unknown.delete(plugin);
    if (listed.some((handler) => handler.absent)) this.#absent.add(plugin);
    else this.#absent.delete(plugin);
    this.#changed();
    return diagnostics;
  }

  /**
   * The plugin does not serve, and its hooks are not known: every run lists it. A required plugin blocks every hook; another decides nothing.
   */
  setUnknown(plugin: Plugin, home: Home, absent: CallError): void {
    this.#byPlugin.delete(plugin);
    this.#absent.add(plugin);
    this.#unknown.set(plugin, this.#substitute(plugin, home, Object.values(this.#hooks)[0]!, absent));
    this.#changed();
  }

  /** A plugin has moved to another lane: the segments of the plans are no longer right. */
  moved(): void {
    this.#plans = undefined;
  }

  remove(plugin: Plugin): void {
    const wasListed = this.#byPlugin.delete(plugin);
    const wasAbsent = this.#absent.delete(plugin);
    this.#unknown.delete(plugin);
    if (wasListed || wasAbsent) this.#changed();
  }

  handlersOf(plugin: Plugin): readonly (Handler & { readonly key: string })[] {
    return this.#byPlugin.get(plugin) ?? [];
  }

  /** The handlers that a lazy plugin will have, with their budgets, unless it registers others when it loads. */
  asAccepted({ hooks, activationHooks = [] }: Plugin): { key: string; priority: number; budget: CallBudget; options: HandlerOptions }[] {
    return activationHooks.flatMap(({ hook, priority }) => {
      const known = this.hook(hook);
      return known ? { key: hook, priority, budget: callBudget(known, hooks, { priority }), options: { priority } } : [];
    });
  }

  /** The definition for a hook's name, or for a family of internal events. */
  hook(key: string): AnyHook | undefined {
    return this.#hooks[key] ?? this.#anyOf(key);
  }

  /**
   * Why a handler is not called; undefined: it is. `stays`: it keeps its place in the plan all the same, and fails by its hook's policy, or
   * open, where only a line of the outcome says that it is not called. SECURITY: a guard that was accepted and does not serve is a closed
   * door. test/contract/closed-doors.test.ts
   */
  #refused(
    key: string,
    hook: AnyHook | undefined,
    priority: number,
    plugin: Plugin,
    { handlers }: Pick<Registration, "handlers">,
  ): Refused {
    if (!hook)
      return {
        refusal: `there is no hook named "${oneLine(key, LIMITS.call.nameChars)}"${suggest(key, [...Object.keys(this.#hooks), ...this.#families])}`,
        stays: undefined,
      };
    const off = this.#switchedOff(hook, key);
    if (off !== undefined) return { refusal: off, stays: undefined };
    const forbidden = missingPermission(hook, plugin);
    if (forbidden !== undefined) return { refusal: forbidden, stays: plugin.isRequired || hook.failure === "closed" ? "open" : undefined };
    const unaccepted = notAccepted(key, priority, plugin);
    if (unaccepted === undefined || !isAccepted(key, plugin)) return { refusal: unaccepted, stays: undefined };
    // Another one of it may be as it was accepted: then the guard is there.
    const isThere = handlers.some((one) => one.hook === key && notAccepted(key, one.options.priority ?? 0, plugin) === undefined);
    return { refusal: unaccepted, stays: isThere ? undefined : "policy" };
  }

  /**
   * The hooks of an installed, required plugin that it was accepted with and has not registered: they fail closed, also when a later load
   * fails. SECURITY: what a plugin registers, and a load that it makes fail, open no door. test/host/plugins/registry.test.ts
   */
  #unkept(plugin: Plugin, home: Home, listed: readonly Listed[], diagnostics: string[]): Listed[] {
    if (!plugin.isRequired || !plugin.acceptedHooks) return [];
    const missing = (plugin.knownHooks ?? []).filter(({ hook }) => !listed.some(({ key }) => key === hook));
    return missing.flatMap(({ hook: key, options }) => {
      const hook = this.hook(key);
      if (!hook || this.#switchedOff(hook, key) !== undefined) return [];
      const detail = `it is required, was accepted with "${key}", and has not registered it`;
      diagnostics.push(detail);
      return {
        ...this.#substitute(plugin, home, hook, ownError("ERR_CALL_REFUSED", { detail })),
        key,
        order: 0,
        priority: options.priority ?? 0,
      };
    });
  }

  /** A handler in the place of one that cannot be called. */
  #substitute(plugin: Plugin, home: Home, hook: AnyHook, absent: CallError): Handler {
    return {
      plugin,
      home,
      index: 0,
      priority: 0,
      filter: undefined,
      needsAuthority: false,
      isReentrant: false,
      isDurable: false,
      budget: callBudget(hook, plugin.hooks, {}),
      options: {},
      callCount: new CallCount(new PluginCost()),
      failure: plugin.isRequired ? "closed" : "open",
      absent,
    };
  }

  #switchedOff({ internal }: AnyHook, key: string): string | undefined {
    if (!internal || this.#hasInternal) return undefined;
    return `handlers of "${key}" are not called: internal events are switched off by hooks.internal.enabled`;
  }

  /** Why a plugin that asks for durable events does not get them; undefined: it does, or the operator knows that it does not. */
  #undurable({ kind }: AnyHook, key: string, { id, hooks }: Plugin): string | undefined {
    if (kind !== "observe") return `"durable" has no effect on "${key}": only observe hooks can be delivered later`;
    if (hooks?.durable !== undefined || this.#durable.has(key)) return undefined;
    return `it asks for durable events of "${key}", which has no effect: plugins.entries.${id}.hooks.durable allows it`;
  }

  /** One hook of a family: all of them have the same budgets and permissions. */
  #anyOf(family: string): AnyHook | undefined {
    if (!this.#families.has(family)) return undefined;
    return Object.values(this.#hooks).find((hook) => familyOf(hook.name) === family);
  }

  #changed(): void {
    this.#plans = undefined;
    this.isWhole = this.#absent.size === 0;
  }

  #planned(): ReadonlyMap<string, Plan> {
    const all = [...this.#byPlugin.values()]
      .flat()
      .toSorted((a, b) => b.priority - a.priority || inOrder(a.plugin, b.plugin) || a.order - b.order);
    const plans = new Map<string, Plan>();
    for (const name of Object.keys(this.#hooks)) {
      const family = familyOf(name);
      const plan = [...all.filter(({ key }) => key === family), ...all.filter(({ key }) => key === name), ...this.#unknown.values()];
      if (plan.length > 0) plans.set(name, plan);
    }
    return plans;
  }
}
