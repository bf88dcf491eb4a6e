/** Trusted side: which hooks a plugin may listen to. OpenClaw's two switches, with OpenClaw's meaning. */
import type { AnyHook } from "../protocol/catalog.ts";
import type { Plugin } from "./plugin.ts";

/** Why the plugin may not listen to the hook, naming the key to set; undefined if it may. */
export function missingPermission(hook: AnyHook, plugin: Pick<Plugin, "id" | "hooks">): string | undefined {
  if (hook.permission.includes("conversation") && plugin.hooks?.allowConversationAccess !== true) {
    return `"${hook.name}" reads conversations: set plugins.entries.${plugin.id}.hooks.allowConversationAccess to true to allow it`;
  }
  if (hook.permission.includes("prompt") && plugin.hooks?.allowPromptInjection === false) {
    return `"${hook.name}" changes prompts, which plugins.entries.${plugin.id}.hooks.allowPromptInjection forbids`;
  }
  return undefined;
}
