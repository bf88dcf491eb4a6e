/**
 * Trusted side: the plugins that the `hooks` section of a configuration makes: scripts around turns, and HOOK.md
 * folders. A hook that is left out stays visible as a disabled plugin with the reason. A broken one does not keep the
 * others from loading.
 */
import { readdir } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import type { CreelConfig, Grants, PluginHooksConfig } from "../protocol/config/config.ts";
import { CreelError } from "../protocol/errors.ts";
import { hookPluginId, isHookFolder, readHookFolder, slug } from "./hook-folder.ts";
import type { HookConditions } from "./hook-folder.ts";
import { unmet } from "./hook-requirements.ts";
import type { Logger } from "../host/report/log.ts";
import type { PluginLimitsConfig } from "../protocol/config/plugin-limits-config.ts";
import type { ActivationHook } from "../host/plugins/plugin.ts";
import type { PluginSource } from "./plugin-source.ts";
import type { Registration } from "../protocol/rules/registration.ts";
import { TURN_HOOKS, turnAdapter } from "./turn-script.ts";
import { resolveFrom } from "./config-file.ts";

export interface AcceptedPlugin {
  readonly grants: Grants;
  readonly hooks: PluginHooksConfig;
  readonly names?: ReadonlySet<string>;
  readonly functions?: ReadonlySet<string>;
  /** The operator accepted that all its hooks fail closed. */
  readonly isRequired?: boolean;
}

/** A plugin that was found, before it has its place in a host. */
export interface FoundPlugin {
  readonly id: string;
  readonly name?: string | undefined;
  readonly version?: string | undefined;
  readonly description?: string | undefined;
  readonly contractTools?: readonly string[] | undefined;
  readonly source: PluginSource;
  readonly config?: Record<string, unknown> | undefined;
  readonly hooks?: PluginHooksConfig | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly grants?: Grants | undefined;
  readonly limits?: PluginLimitsConfig | undefined;
  /** What was accepted when it was installed; the operator's configuration overrides it, key by key. */
  readonly accepted?: AcceptedPlugin | undefined;
  /** The hooks it listens to, as far as its lock entry or manifest says; undefined: unknown. */
  readonly knownHooks?: Registration["handlers"] | undefined;
  /** The gateway says so. */
  readonly required?: boolean | undefined;
  /** Its manifest asks for it. Of a plugin that is not installed, the operator has not accepted that. */
  readonly asksRequired?: boolean | undefined;
  /** It may stay unloaded until one of these runs. */
  readonly activationHooks?: readonly ActivationHook[] | undefined;
  /** It was a HOOK.md folder when it was installed. */
  readonly hook?: HookConditions | undefined;
  /** Why it is not loaded. */
  readonly off?: string | undefined;
}

/** One plugin per entry of `hooks.agent`: `turn-<hook>-<script>`, numbered when a name repeats. */
export function turnPlugins({ hooks }: CreelConfig, base: string): FoundPlugin[] {
  const taken = new Set<string>();
  return TURN_HOOKS.flatMap((hook) =>
    (hooks?.agent?.[hook] ?? []).map(({ script, filter, timeoutMs, enabled }, position): FoundPlugin => {
      const path = resolveFrom(base, script);
      const agentIds = filter?.agentId === undefined ? undefined : [filter.agentId].flat();
      return {
        id: unique(`turn-${hook}-${slug(scriptName(path))}`, taken),
        name: `${hook}: ${scriptName(path)}`,
        source: { path, adapter: turnAdapter({ hook, agentIds }) },
        knownHooks: [{ hook, options: agentIds ? { agentIds } : {} }],
        hooks: timeoutMs === undefined ? undefined : { timeoutMs },
        off: enabled === false ? `hooks.agent.${hook}[${position}].enabled is false` : undefined,
      };
    }),
  );
}

/**
 * One plugin per folder with a HOOK.md in `hooks.internal.load.extraDirs`; of two with the same key, the first wins.
 */
export async function hookFolderPlugins(config: CreelConfig, base: string, logger: Logger): Promise<FoundPlugin[]> {
  const internal = config.hooks?.internal;
  if (internal?.enabled === false) return [];
  const found = new Map<string, FoundPlugin>();
  for (const folder of await hookFolders(internal?.load?.extraDirs ?? [], base, logger)) {
    const plugin = await hookFolderPlugin(folder, config);
    const { id } = plugin;
    if (found.has(id)) logger.warn({ plugin: id, path: folder }, "skipped a hook whose key is taken");
    else found.set(id, plugin);
    if (plugin.off !== undefined) logger.warn({ plugin: id, path: folder, reason: plugin.off }, "skipped a hook");
  }
  return [...found.values()];
}

/** Hooks of which only the names are known. */
export function namedHooks(names: readonly string[]): Registration["handlers"] {
  return names.map((hook) => ({ hook, options: {} }));
}

/** What the operator's `hooks.internal` says about a hook that was named as a plugin by its path. */
export function hookSettings(hook: HookConditions, config: CreelConfig): Pick<FoundPlugin, "config" | "off"> {
  const internal = config.hooks?.internal;
  const { enabled, ...settings } = internal?.entries?.[hook.key] ?? {};
  return { config: settings, off: whyOff(hook, enabled, config, settings.env) };
}

async function hookFolderPlugin(folder: string, config: CreelConfig): Promise<FoundPlugin> {
  const source = { path: folder };
  try {
    const hook = await readHookFolder(folder);
    const settings = hookSettings(hook, config);
    const { name, version, key } = hook;
    const knownHooks = namedHooks(hook.events);
    return { id: hookPluginId(key), name, version, source, knownHooks, ...settings, off: settings.off ?? notListed(key, config) };
  } catch (error) {
    // It fails again when it is loaded, and then shows as failed with the reason.
    if (error instanceof CreelError) return { id: hookPluginId(basename(folder)), source, off: notListed(basename(folder), config) };
    throw error;
  }
}

function whyOff(
  hook: HookConditions,
  enabled: boolean | undefined,
  config: CreelConfig,
  env: Record<string, string> = {},
): string | undefined {
  if (config.hooks?.internal?.enabled === false) return "hooks.internal.enabled is false";
  if (enabled === false) return `hooks.internal.entries.${hook.key}.enabled is false`;
  return unmet(hook, { platform: process.platform, env, config });
}

/** As in OpenClaw, naming hooks under `entries` leaves out the others, unless `enabled: true` includes them all. */
function notListed(key: string, { hooks }: CreelConfig): string | undefined {
  const { enabled, entries = {} } = hooks?.internal ?? {};
  const listed = Object.keys(entries).filter((name) => entries[name]!.enabled !== false);
  if (enabled === true || listed.length === 0 || listed.includes(key)) return undefined;
  return `hooks.internal.entries names other hooks and not "${key}"`;
}

async function hookFolders(dirs: readonly string[], base: string, logger: Logger): Promise<string[]> {
  const found: string[] = [];
  for (const dir of dirs) {
    const path = resolveFrom(base, dir);
    const names = await readdir(path).catch(() => undefined);
    if (!names) logger.warn({ path }, "hooks.internal.load.extraDirs: folder cannot be read");
    for (const folder of [path, ...(names ?? []).toSorted().map((name) => join(path, name))]) {
      if (await isHookFolder(folder)) found.push(folder);
    }
  }
  return found;
}

function scriptName(path: string): string {
  const name = basename(path, extname(path));
  return name === "index" ? basename(dirname(path)) : name;
}

function unique(id: string, taken: Set<string>): string {
  let free = id;
  for (let number = 2; taken.has(free); number++) free = `${id}-${number}`;
  taken.add(free);
  return free;
}
