/**
 * Trusted side: what a plugin's answers, or what the operator set for its hooks, give cause to remark: nothing failed, but
 * somebody meant something that does not happen. Each is said once, in the log and in `inspect`.
 */
import type { AnyHook, HookTable } from "../protocol/catalog.ts";
import type { Plugin } from "./plugin.ts";
import { knownFields } from "./runner/ignored.ts";
import { suggest } from "./suggest.ts";

/** Remarks about one plugin. It chooses the names of its fields, so there must be an end. */
export const MAX_REMARKS = 32;

/** Notes the fields that a hook does not know; gives those that are new. */
export function remarkIgnored(plugin: Plugin, hook: AnyHook, fields: readonly string[]): string[] {
  const said: string[] = [];
  for (const path of fields) {
    const key = `${hook.name} ${path}`;
    if (plugin.remarks.has(key) || plugin.remarks.size >= MAX_REMARKS) continue;
    const remark = `"${hook.name}" has no result field "${path}", it was ignored${hint(hook, path)}`;
    plugin.remarks.set(key, remark);
    said.push(remark);
  }
  return said;
}

function hint(hook: AnyHook, path: string): string {
  const parents = path.split(".");
  const name = parents.pop()!;
  let fields = knownFields(hook);
  for (const parent of parents) fields = fields?.get(parent);
  return suggest(name, [...(fields?.keys() ?? [])]);
}

/** What the operator set in `hooks.failure` and cannot have: by hook, with the reason. */
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
