/**
 * Trusted side: which hooks a plugin may listen to, and which functions it may add. Two switches with OpenClaw's names and meaning, and one
 * of Creel's.
 */
import { CATALOG, familyOf } from "../../protocol/catalog.ts";
import type { AnyHook } from "../../protocol/catalog.ts";
import type { FunctionKind } from "../../protocol/messages/function-kinds.ts";
import type { Plugin } from "./plugin.ts";

/** Why the plugin may not listen to the hook, naming the key to set; undefined if it may. */
export function missingPermission(hook: AnyHook, plugin: Pick<Plugin, "id" | "hooks">): string | undefined {
  if (hook.permission.includes("conversation") && plugin.hooks?.allowConversationAccess !== true) {
    return `"${hook.name}" reads conversations: it needs the permission "conversation" (in OpenClaw's words, plugins.entries.${plugin.id}.hooks.allowConversationAccess)`;
  }
  if (hook.permission.includes("prompt") && plugin.hooks?.allowPromptInjection === false) {
    return `"${hook.name}" changes prompts, which plugins.entries.${plugin.id}.hooks.allowPromptInjection forbids`;
  }
  // SECURITY: a plugin that decides about installs can keep a better guard out. test/contract/permissions.test.ts
  if (hook.permission.includes("install") && plugin.hooks?.allowInstallDecisions !== true) {
    return `"${hook.name}" can refuse every later installation: it needs the permission "install"; for an installed plugin, run "creel permissions grant ${plugin.id} install"`;
  }
  return undefined;
}

/**
 * Why an installed plugin does not get a hook: it did not register it, or not at that priority, when the operator accepted it. The
 * gateway's own hooks are exempt: they are not known at installation.
 * SECURITY: a plugin may register less while it is reviewed. test/contract/installed.test.ts
 */
export function notAccepted(
  key: string,
  priority: number,
  { id, acceptedHooks }: Pick<Plugin, "id" | "acceptedHooks">,
): string | undefined {
  if (!acceptedHooks || !KNOWN.has(key) || acceptedHooks.has(acceptedHook(key, priority))) return undefined;
  return `"${key}" at priority ${priority} is left out: the plugin did not ask for it when it was accepted; "creel update ${id}" looks at it again`;
}

/** Has the operator accepted the hook, at whatever priority? */
export function isAccepted(key: string, { acceptedHooks = new Set() }: Pick<Plugin, "acceptedHooks">): boolean {
  for (const accepted of acceptedHooks) if (accepted.slice(0, accepted.lastIndexOf(" ")) === key) return true;
  return false;
}

/** The form in which accepted hooks are compared. */
export function acceptedHook(key: string, priority: number): string {
  return `${key} ${priority}`;
}

/**
 * The same for a tool, a command, a method, a service or a job.
 * SECURITY: an agent or a user might take an unreviewed name for another plugin's. test/contract/installed.test.ts
 */
export function functionNotAccepted(
  kind: FunctionKind,
  name: string,
  { id, acceptedFunctions }: Pick<Plugin, "id" | "acceptedFunctions">,
): string | undefined {
  if (!acceptedFunctions || acceptedFunctions.has(acceptedFunction(kind, name))) return undefined;
  return `the plugin did not have it when it was accepted; "creel update ${id}" looks at it again`;
}

export function acceptedFunction(kind: FunctionKind, name: string): string {
  return `${kind} ${name}`;
}

const KNOWN: ReadonlySet<string> = new Set(Object.keys(CATALOG).flatMap((name) => [name, familyOf(name) ?? name]));
