/**
 * Trusted side: the diagnostics of a plugin: nothing failed, but what its author or the operator meant does not happen. Each is logged once;
 * `inspect` lists them all.
 */
import type { AnyHook, HookTable } from "../../protocol/catalog.ts";
import { suggest } from "../../text/did-you-mean.ts";
import { knownFields } from "../run/ignored.ts";

/** Diagnostics that a plugin can cause by its answers and requests. It chooses their texts, so their number must be bounded. */
const MAX_NOTED = 32;

export class Diagnostics {
  /** What loading the plugin found; each load replaces it. */
  ofLoad: readonly string[];
  readonly #noted = new Map<string, string>();

  constructor(ofLoad: readonly string[] = []) {
    this.ofLoad = ofLoad;
  }

  list(): string[] {
    return [...this.ofLoad, ...this.#noted.values()];
  }

  /** Notes something the host or the operator has found; a later text under the same key replaces it. */
  set(key: string, text: string): void {
    this.#noted.set(key, text);
  }

  delete(key: string): void {
    this.#noted.delete(key);
  }

  /** Notes something that the plugin has caused. False: it is known, or there are too many. */
  note(key: string, text: string): boolean {
    if (this.#noted.has(key) || this.#noted.size >= MAX_NOTED) return false;
    this.#noted.set(key, text);
    return true;
  }
}

/** Notes the result fields that a hook does not know; returns the diagnostics that are new. */
export function noteIgnored(diagnostics: Diagnostics, hook: AnyHook, fields: readonly string[]): string[] {
  return fields.flatMap((path) => {
    const text = `"${hook.name}" has no result field "${path}", it was ignored${hint(hook, path)}`;
    return diagnostics.note(`${hook.name} ${path}`, text) ? text : [];
  });
}

function hint(hook: AnyHook, path: string): string {
  const parents = path.split(".");
  const name = parents.pop()!;
  let fields = knownFields(hook);
  for (const parent of parents) fields = fields?.get(parent);
  return suggest(name, [...(fields?.keys() ?? [])]);
}

/** Settings in `hooks.failure` that have no effect: by hook, with the reason. */
export function idleFailures(failure: Readonly<Record<string, AnyHook["failure"]>>, hooks: HookTable): ReadonlyMap<string, string> {
  const idle = new Map<string, string>();
  for (const [name, policy] of Object.entries(failure)) {
    const hook = hooks[name];
    if (!hook) idle.set(name, `hooks.failure names "${name}", and there is no such hook${suggest(name, Object.keys(hooks))}`);
    else if (policy === "closed" && !hook.terminal)
      idle.set(name, `hooks.failure sets "${name}" to closed, but it has nothing to block: a handler that fails is skipped`);
  }
  return idle;
}
