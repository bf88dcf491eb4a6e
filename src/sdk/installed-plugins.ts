/**
 * Trusted side: the plugins that `creel install` has put into the state folder, as a host takes them in. What they may do is what was accepted and
 * is in the lock; their code is read, and compared with the lock, whenever they are loaded. SECURITY: test/contract/installed.test.ts
 */
import { hookConditions } from "../host/hook-folder.ts";
import { acceptedFunction, acceptedHook } from "../host/permissions.ts";
import { CATALOG } from "../protocol/catalog.ts";
import type { HookTable } from "../protocol/catalog.ts";
import { pluginManifest } from "../protocol/config.ts";
import type { Registration } from "../protocol/registration.ts";
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
): Promise<FoundPlugin[]> {
  if (stateDir === undefined) return [];
  const state = openState(stateDir);
  const entries = [...(await state.read()).values()].filter(isWanted);
  return Promise.all(entries.map((entry) => found(state, entry, isEager)));
}

async function found(state: State, entry: LockEntry, isEager: boolean): Promise<FoundPlugin> {
  const { id, name, version, hooks, functions, grants, permissions, enabled } = entry;
  // If it cannot be read now, it cannot be loaded either, and is then shown with the reason.
  let loaded = enabled ? await state.loadEntry(entry).catch(() => undefined) : undefined;
  const manifest = pluginManifest.safeParse(loaded?.manifest).data;
  const { contracts, description } = manifest ?? {};
  const wakesFor = loaded && isHooksOnly(entry) ? hooks : undefined;
  // Two hundred that sleep need not be in memory.
  if (wakesFor && !isEager) loaded = undefined;
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
      hooks: permissions,
      names: new Set(hooks.map(({ hook, priority }) => acceptedHook(hook, priority))),
      functions: new Set(functions.map(({ kind, name: called }) => acceptedFunction(kind, called))),
      standIns: standIns(hooks),
    },
    wakesFor,
    hook: hookConditions.safeParse(manifest?.hook).data,
    off: enabled ? undefined : `it is disabled: "creel enable ${id}" enables it`,
  };
}

/** Nothing of it is needed before one of its hooks is run: no tool to be listed, no service to be started, no caller who cannot wait. */
function isHooksOnly({ hooks, functions }: LockEntry): boolean {
  const table: HookTable = CATALOG;
  return hooks.length > 0 && functions.length === 0 && hooks.every(({ hook }) => table[hook]?.kind !== "sync");
}

function standIns(hooks: LockEntry["hooks"]): Registration["handlers"] {
  const table: HookTable = CATALOG;
  return hooks.filter(({ hook }) => table[hook]?.failure === "closed").map(({ hook, priority }) => ({ hook, options: { priority } }));
}
