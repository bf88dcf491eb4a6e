/**
 * Trusted side: the plugins that `creel install` has put into the state folder, for a host to load. Their permissions
 * are those that were accepted and are in the lock; their code is read and compared with the lock on every load.
 * SECURITY: test/contract/installed.test.ts
 */
import { hookConditions } from "./hook-folder.ts";
import { acceptedFunction, acceptedHook } from "../host/plugins/permissions.ts";
import { CATALOG } from "../protocol/catalog.ts";
import type { HookTable } from "../protocol/catalog.ts";
import { pluginManifest } from "../protocol/config/config.ts";
import type { PluginHooksConfig } from "../protocol/config/config.ts";
import { bundleOf } from "../state/bundle-files.ts";
import type { LockEntry } from "../state/lock.ts";
import { openState } from "../state/state.ts";
import type { State } from "../state/state.ts";
import type { FoundPlugin } from "./hook-plugins.ts";

/** By id. Rejects when the lock is not what Creel wrote: a guard may be missing from it. */
export async function installedPlugins(
  stateDir: string | undefined,
  isWanted: (entry: LockEntry) => boolean,
  isEager: boolean,
  key: Uint8Array | undefined,
): Promise<FoundPlugin[]> {
  if (stateDir === undefined) return [];
  const state = openState(stateDir, key && { key });
  const entries = [...(await state.read()).values()].filter(isWanted);
  return Promise.all(entries.map((entry) => found(state, entry, isEager)));
}

async function found(state: State, entry: LockEntry, isEager: boolean): Promise<FoundPlugin> {
  const { id, name, version, hooks, functions, grants, permissions, enabled } = entry;
  // If it cannot be read now, it cannot be loaded either, and then shows with the reason.
  let loaded = enabled ? await state.loadEntry(entry).catch(() => undefined) : undefined;
  const manifest = pluginManifest.safeParse(loaded?.manifest).data;
  const { contracts, description } = manifest ?? {};
  const activationHooks = loaded && isHooksOnly(entry) ? hooks : undefined;
  // Two hundred lazy plugins need not be in memory.
  if (activationHooks && !isEager) loaded = undefined;
  return {
    id,
    name,
    version,
    description,
    contractTools: contracts && (contracts.tools ?? []),
    source: {
      bundle: async () => {
        // The first time, it may have just been read.
        const current = loaded ?? (await state.loadEntry(entry));
        loaded = undefined;
        return bundleOf(current);
      },
    },
    accepted: {
      grants,
      hooks: switchesOf(permissions),
      names: new Set(hooks.map(({ hook, priority }) => acceptedHook(hook, priority))),
      functions: new Set(functions.map(({ kind, name: called }) => acceptedFunction(kind, called))),
      isRequired: permissions.required === true,
    },
    knownHooks: hooks.map(({ hook, priority }) => ({ hook, options: { priority } })),
    activationHooks,
    hook: hookConditions.safeParse(manifest?.hook).data,
    off: enabled ? undefined : `it is disabled: "creel enable ${id}" enables it`,
  };
}

/** The switches of hooks: the defaults under `plugins.entries.<id>.hooks`. */
function switchesOf({ allowConversationAccess, allowPromptInjection, allowInstallDecisions }: LockEntry["permissions"]): PluginHooksConfig {
  return {
    ...(allowConversationAccess !== undefined && { allowConversationAccess }),
    ...(allowPromptInjection !== undefined && { allowPromptInjection }),
    ...(allowInstallDecisions !== undefined && { allowInstallDecisions }),
  };
}

/**
 * Whether it need not be loaded before one of its hooks runs: it has no tool to list, no service to start, no caller
 * that cannot wait.
 */
function isHooksOnly({ hooks, functions }: LockEntry): boolean {
  const table: HookTable = CATALOG;
  return hooks.length > 0 && functions.length === 0 && hooks.every(({ hook }) => table[hook]?.kind !== "sync");
}
