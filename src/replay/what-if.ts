/** Trusted side: what a replay changes about the plugins: another version, other grants, another order, one left out. Pure data and functions. */
import type { FoundPlugin } from "../discovery/hook-plugins.ts";
import type { PluginSource } from "../discovery/plugin-source.ts";
import type { CreelConfig, Grants } from "../protocol/config/config.ts";

export interface WhatIf {
  /** By id: another version of the plugin, such as `{ path }`. */
  readonly plugins?: Readonly<Record<string, PluginSource>>;
  /** By id: all that it is granted. */
  readonly grants?: Readonly<Record<string, Grants>>;
  /** Ids of plugins that come first, in this order, among handlers of the same priority. */
  readonly order?: readonly string[];
  /** Ids of plugins that are left out. */
  readonly without?: readonly string[];
}

export function isNothing({ plugins = {}, grants = {}, order = [], without = [] }: WhatIf): boolean {
  return Object.keys(plugins).length + Object.keys(grants).length + order.length + without.length === 0;
}

/** Every plugin that is named. */
export function namedIn({ plugins = {}, grants = {}, order = [], without = [] }: WhatIf): string[] {
  return [...new Set([...Object.keys(plugins), ...Object.keys(grants), ...order, ...without])];
}

/** Another version is not held to the hooks that were accepted of this one: an update would be accepted first. */
export function revised(found: FoundPlugin, { plugins = {}, grants = {} }: WhatIf): FoundPlugin {
  const { id, accepted } = found;
  const source = Object.hasOwn(plugins, id) ? plugins[id] : undefined;
  const given = Object.hasOwn(grants, id) ? grants[id] : undefined;
  if (!source && !given) return found;
  const { names, functions, ...rest } = accepted ?? { grants: {}, hooks: {} };
  const kept = source ? rest : { ...rest, ...(names && { names }), ...(functions && { functions }) };
  return {
    ...found,
    ...(source && { source, activationHooks: undefined, knownHooks: undefined }),
    ...(given && { grants: given }),
    ...(accepted && { accepted: given ? { ...kept, grants: {} } : kept }),
  };
}

/** Entries of the configuration with what the change says about plugins that are left out or granted otherwise. */
export function revisedEntries(config: CreelConfig, { grants = {}, without = [] }: WhatIf): CreelConfig["plugins"] {
  const entries = { ...config.plugins?.entries };
  for (const id of Object.keys(grants)) {
    const { grants: _, permissions: __, ...rest } = entries[id] ?? {};
    entries[id] = rest;
  }
  for (const id of without) entries[id] = { ...entries[id], enabled: false, required: false };
  return { ...config.plugins, entries };
}
