/**
 * Trusted side: the functions that plugins declare for the host to call: tools, commands, gateway methods, HTTP routes, command lines, services, jobs. Declarations are
 * checked here; a call is a run of one handler, so budgets, breaker, causes and the loss of a sandbox work as in every run.
 */
import { FUNCTION_KINDS } from "../../protocol/messages/function-kinds.ts";
import { FUNCTION_ABOUT, FUNCTION_HOOKS } from "../../protocol/messages/functions.ts";
import type { FunctionKind } from "../../protocol/messages/function-kinds.ts";
import type { FunctionAbout, FunctionOutcome } from "../../protocol/messages/functions.ts";
import type { AnyHook } from "../../protocol/catalog.ts";
import { CreelError } from "../../protocol/errors.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import type { Registration } from "../../protocol/rules/registration.ts";
import { callBudget } from "../plugins/budget.ts";
import type { CallBudget } from "../plugins/budget.ts";
import type { Chain } from "../causality/causes.ts";
import { oneLine } from "../../text/one-line.ts";
import { firstIssue } from "../../text/schema-issue.ts";
import { inOrder } from "../plugins/plugin.ts";
import { functionNotAccepted } from "../plugins/permissions.ts";
import type { Home, Plugin } from "../plugins/plugin.ts";
import type { Handler, Plan } from "../plugins/registry.ts";
import { isWithin } from "../services/size.ts";
import { suggest } from "../../text/did-you-mean.ts";
import type { CallCounts } from "../plugins/call-counts.ts";

export interface DeclaredFunction<K extends FunctionKind = FunctionKind> {
  readonly plugin: string;
  readonly kind: K;
  readonly name: string;
  readonly about: FunctionAbout<K>;
}

export interface FunctionCall {
  readonly signal?: AbortSignal | undefined;
  /** The causal chain of the call; undefined: the caller's current one. */
  readonly chain?: Chain | undefined;
  /** Wall time, instead of the budget's. */
  readonly wallMs?: number | undefined;
  /** Data about the call beside its arguments. */
  readonly context?: Readonly<Record<string, unknown>> | undefined;
  /** Called with the number of the run and the id of the plugin, before the call starts. */
  readonly began?: ((run: number, plugin: string) => void) | undefined;
}

export interface FunctionsOptions {
  readonly callCounts: CallCounts;
  run(hook: AnyHook, plan: Plan, event: unknown, context: unknown, call: FunctionCall): Promise<Outcome>;
}

interface Kept extends DeclaredFunction {
  readonly handler: Handler;
}

/** Kinds whose names all plugins share. The name of a service or a job is local to its plugin. */
const SHARED: ReadonlySet<FunctionKind> = new Set<FunctionKind>(["tool", "command", "method", "route", "cli"]);
const KINDS: ReadonlySet<string> = new Set(FUNCTION_KINDS);
/** Users and models write these names, so they have no blanks. */
const NAME = /^[^\s\p{Cc}]+$/u;
const LOOSE_NAME = /^[^\p{Cc}]+$/u;

export class Functions {
  readonly #options: FunctionsOptions;
  readonly #byPlugin = new Map<Plugin, Kept[]>();

  constructor(options: FunctionsOptions) {
    this.#options = options;
  }

  /** Replaces the functions of a plugin. Returns the diagnostics of those that were not accepted. */
  set(plugin: Plugin, home: Home, { handlers }: Pick<Registration, "handlers">): string[] {
    const diagnostics: string[] = [];
    const kept: Kept[] = [];
    for (const [index, { hook: kind, options, function: declared }] of handlers.entries()) {
      if (!declared) continue;
      const name = oneLine(declared.name, LIMITS.call.nameChars);
      const refuse = (why: string): void => void diagnostics.push(`the ${oneLine(kind, 16)} "${name}" is left out: ${why}`);
      if (!isKind(kind)) {
        refuse("there is no such kind of function");
        continue;
      }
      if (!(SHARED.has(kind) ? NAME : LOOSE_NAME).test(declared.name)) {
        refuse("its name has blanks or control characters in it");
        continue;
      }
      if (kept.some((other) => other.kind === kind && other.name === declared.name)) {
        refuse("the plugin has declared one of that name before");
        continue;
      }
      if (kind === "tool" && plugin.contractTools && !plugin.contractTools.includes(declared.name)) {
        refuse("the plugin's manifest does not name it in contracts.tools");
        continue;
      }
      const unseen = functionNotAccepted(kind, name, plugin);
      if (unseen !== undefined) {
        refuse(unseen);
        continue;
      }
      if (!isWithin(declared.about, LIMITS.plugin.declarationChars)) {
        refuse(`what it says about itself has more than ${LIMITS.plugin.declarationChars} characters`);
        continue;
      }
      const about = FUNCTION_ABOUT[kind].safeParse(declared.about ?? {});
      if (!about.success) {
        const { field, detail } = firstIssue(about.error);
        refuse(`its "${field}" is not valid: ${detail}`);
        continue;
      }
      const handler = {
        plugin,
        home,
        index,
        priority: 0,
        filter: undefined,
        needsAuthority: false,
        isReentrant: false,
        isDurable: false,
        budget: callBudget(FUNCTION_HOOKS[kind], plugin.hooks, options),
        options,
        callCount: this.#options.callCounts.of(plugin.id, kind),
        failure: undefined,
        absent: undefined,
      };
      kept.push({ plugin: plugin.id, kind, name: declared.name, about: about.data, handler });
    }
    this.#byPlugin.set(plugin, kept);
    return diagnostics;
  }

  remove(plugin: Plugin): void {
    this.#byPlugin.delete(plugin);
  }

  /** In the order of the plugins. If several share a name, the first has it. */
  list<K extends FunctionKind>(kind: K): DeclaredFunction<K>[] {
    return this.#listed(kind).map(({ plugin, name, about }) => ({ plugin, kind, name, about: about as FunctionAbout<K> }));
  }

  has(plugin: string, kind: FunctionKind, name: string): boolean {
    return this.#find(plugin, kind, name) !== undefined;
  }

  of(plugin: Plugin): { kind: FunctionKind; name: string; about: FunctionAbout<FunctionKind>; budget: CallBudget }[] {
    return (this.#byPlugin.get(plugin) ?? []).map(({ kind, name, about, handler: { budget } }) => ({ kind, name, about, budget }));
  }

  /** `index`: of its handler. */
  nameOf(plugin: Plugin, index: number): string | undefined {
    return this.#byPlugin.get(plugin)?.find(({ handler }) => handler.index === index)?.name;
  }

  /** CPU time that the calls of a plugin's functions may take. */
  cpuMsOf(plugin: Plugin): number[] {
    return (this.#byPlugin.get(plugin) ?? []).map(({ handler }) => handler.budget.cpuMs.value);
  }

  /** Which of a plugin's functions cannot be called because an earlier plugin has the name. */
  shadowed(plugin: Plugin): string[] {
    return (this.#byPlugin.get(plugin) ?? []).flatMap(({ kind, name }) => {
      const first = SHARED.has(kind) ? this.#find(undefined, kind, name) : undefined;
      if (!first || first.plugin === plugin.id) return [];
      return [
        `the ${kind} "${oneLine(name, LIMITS.call.nameChars)}" is left out: the plugin "${first.plugin}", which comes first, has one of that name`,
      ];
    });
  }

  /**
   * Rejects only for the caller's own mistakes: an unknown function, arguments that are not data, an aborted signal. `plugin`
   * may be left out for kinds whose names are shared.
   */
  async call(
    plugin: string | undefined,
    kind: FunctionKind,
    name: string,
    args: readonly unknown[],
    options: FunctionCall = {},
  ): Promise<FunctionOutcome> {
    const found = this.#find(plugin, kind, name);
    if (!found) {
      const names = this.#listed(kind).map((one) => one.name);
      throw new CreelError("ERR_FUNCTION_UNKNOWN", { kind, name, hint: suggest(name, names) });
    }
    const { handler } = found;
    const { wallMs } = options;
    const limited: Handler =
      wallMs === undefined ? handler : { ...handler, budget: { ...handler.budget, wallMs: { value: wallMs, origin: "host" } } };
    const outcome = await this.#options.run(FUNCTION_HOOKS[kind], [limited], { args }, options.context, options);
    const [call] = outcome.calls;
    const value = call!.status === "ok" ? (outcome.result as { value?: unknown } | undefined)?.value : undefined;
    const { status, wallMs: tookMs, cpuMs, error } = call!;
    return { runId: outcome.runId, plugin: found.plugin, kind, name, status, value, error, wallMs: tookMs, cpuMs };
  }

  #find(plugin: string | undefined, kind: FunctionKind, name: string): Kept | undefined {
    return this.#listed(kind).find((one) => one.name === name && (plugin === undefined || one.plugin === plugin));
  }

  #listed(kind: FunctionKind): Kept[] {
    const all = [...this.#byPlugin].toSorted(([a], [b]) => inOrder(a, b)).flatMap(([, kept]) => kept.filter((one) => one.kind === kind));
    if (!SHARED.has(kind)) return all;
    const names = new Set<string>();
    return all.filter(({ name }) => !names.has(name) && names.add(name));
  }
}

function isKind(kind: string): kind is FunctionKind {
  return KINDS.has(kind);
}
