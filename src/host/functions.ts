/**
 * Trusted side: the functions that plugins declared for the host to call: tools, commands, gateway methods, services, jobs. What a
 * plugin says about them is judged here; a call is a run of one handler, so that budgets, breaker, causes and what happens when a
 * sandbox dies are those of every run.
 */
import { FUNCTION_ABOUT, FUNCTION_HOOKS, FUNCTION_KINDS } from "../protocol/functions.ts";
import type { FunctionAbout, FunctionKind, FunctionOutcome } from "../protocol/functions.ts";
import type { AnyHook } from "../protocol/catalog.ts";
import { CreelError } from "../protocol/errors.ts";
import { LIMITS } from "../protocol/limits.ts";
import type { Outcome } from "../protocol/outcome.ts";
import type { Registration } from "../protocol/registration.ts";
import { callBudget } from "./budget.ts";
import type { CallBudget } from "./budget.ts";
import type { Chain } from "./causes.ts";
import { oneLine } from "./guest-error.ts";
import { firstIssue } from "./issues.ts";
import { inOrder } from "./plugin.ts";
import { functionNotAccepted } from "./permissions.ts";
import type { Home, Plugin } from "./plugin.ts";
import type { Handler, Plan } from "./registry.ts";
import { isWithin } from "./services/size.ts";
import { suggest } from "./suggest.ts";
import type { Tallies } from "./tally.ts";

export interface DeclaredFunction<K extends FunctionKind = FunctionKind> {
  readonly plugin: string;
  readonly kind: K;
  readonly name: string;
  readonly about: FunctionAbout<K>;
}

export interface FunctionCall {
  readonly signal?: AbortSignal | undefined;
  /** What it is done because of; otherwise it is what the caller does now. */
  readonly chain?: Chain | undefined;
  /** Wall time, instead of what its budget says. */
  readonly wallMs?: number | undefined;
  /** What the function is told about the call beside its arguments. */
  readonly context?: Readonly<Record<string, unknown>> | undefined;
  /** Told the number of the run and whose function it is, before it starts. */
  readonly began?: ((run: number, plugin: string) => void) | undefined;
}

export interface FunctionsOptions {
  readonly tallies: Tallies;
  run(hook: AnyHook, plan: Plan, event: unknown, context: unknown, call: FunctionCall): Promise<Outcome>;
}

interface Kept extends DeclaredFunction {
  readonly handler: Handler;
}

/** Those whose names everybody sees. A service or a job is its plugin's own affair. */
const SHARED: ReadonlySet<FunctionKind> = new Set<FunctionKind>(["tool", "command", "method"]);
const KINDS: ReadonlySet<string> = new Set(FUNCTION_KINDS);
/** What is typed, or said by a model, has no blanks in it. */
const NAME = /^[^\s\p{Cc}]+$/u;
const LOOSE_NAME = /^[^\p{Cc}]+$/u;

export class Functions {
  readonly #options: FunctionsOptions;
  readonly #byPlugin = new Map<Plugin, Kept[]>();

  constructor(options: FunctionsOptions) {
    this.#options = options;
  }

  /** Replaces what a plugin has declared. Gives the diagnostics of what was not accepted. */
  set(plugin: Plugin, home: Home, { handlers }: Pick<Registration, "handlers">): string[] {
    const diagnostics: string[] = [];
    const kept: Kept[] = [];
    for (const [index, { hook: kind, options, function: declared }] of handlers.entries()) {
      if (!declared) continue;
      const name = oneLine(declared.name, LIMITS.nameChars);
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
      if (!isWithin(declared.about, LIMITS.declarationChars)) {
        refuse(`what it says about itself has more than ${LIMITS.declarationChars} characters`);
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
        seesContext: true,
        isReentrant: false,
        budget: callBudget(FUNCTION_HOOKS[kind], plugin.hooks, options),
        tally: this.#options.tallies.of(plugin.id, kind),
      };
      kept.push({ plugin: plugin.id, kind, name: declared.name, about: about.data, handler });
    }
    this.#byPlugin.set(plugin, kept);
    return diagnostics;
  }

  remove(plugin: Plugin): void {
    this.#byPlugin.delete(plugin);
  }

  /** In the order of the plugins. Of those that share a name the first counts. */
  list<K extends FunctionKind>(kind: K): DeclaredFunction<K>[] {
    return this.#listed(kind).map(({ plugin, name, about }) => ({ plugin, kind, name, about: about as FunctionAbout<K> }));
  }

  has(plugin: string, kind: FunctionKind, name: string): boolean {
    return this.#find(plugin, kind, name) !== undefined;
  }

  of(plugin: Plugin): { kind: FunctionKind; name: string; budget: CallBudget }[] {
    return (this.#byPlugin.get(plugin) ?? []).map(({ kind, name, handler: { budget } }) => ({ kind, name, budget }));
  }

  /** CPU time that the calls of a plugin's functions may take. */
  cpuMsOf(plugin: Plugin): number[] {
    return (this.#byPlugin.get(plugin) ?? []).map(({ handler }) => handler.budget.cpuMs.value);
  }

  /** Which of a plugin's functions nobody can call, and why. */
  shadowed(plugin: Plugin): string[] {
    return (this.#byPlugin.get(plugin) ?? []).flatMap(({ kind, name }) => {
      const first = SHARED.has(kind) ? this.#find(undefined, kind, name) : undefined;
      if (!first || first.plugin === plugin.id) return [];
      return [
        `the ${kind} "${oneLine(name, LIMITS.nameChars)}" is left out: the plugin "${first.plugin}", which comes first, has one of that name`,
      ];
    });
  }

  /**
   * Rejects only for the caller's own mistakes: a function that is not there, arguments that are no data, an aborted signal. `plugin`
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
