/**
 * Trusted side: which plugins a host has, each with its place in it, at the start and whenever one is loaded again. What was named is taken from
 * where it was named; what is installed from the lock, as that is then.
 */
import type { CreelConfig } from "../protocol/config.ts";
import { CreelError } from "../protocol/errors.ts";
import { pluginBudget } from "../host/budget.ts";
import { Circuit } from "../host/circuit.ts";
import { CpuShare } from "../host/cpu-share.ts";
import type { Logger } from "../host/log.ts";
import { checkedId, findPlugin } from "../host/manifest.ts";
import type { Plugin } from "../host/plugin.ts";
import { visibleConfig } from "../host/visible-config.ts";
import type { LockEntry } from "../state/lock.ts";
import { resolveFrom } from "./config-file.ts";
import { hookFolderPlugins, hookSettings, turnPlugins } from "./hook-plugins.ts";
import type { FoundPlugin } from "./hook-plugins.ts";
import { installedPlugins } from "./installed-plugins.ts";
import type { InnerOptions, PluginSpec } from "./options.ts";

export interface FinderOptions {
  readonly given: readonly PluginSpec[];
  readonly config: CreelConfig;
  readonly base: string;
  readonly lanes: number;
  readonly logger: Logger;
  readonly stateDir: string | undefined;
  readonly inner: InnerOptions;
  readonly isEager: boolean;
  /** Throws when a plugin's grants cannot be given. */
  check(plugin: Plugin): void;
}

interface Seat extends Pick<Plugin, "order" | "lane"> {
  /** Undefined: it is installed. */
  readonly again: (() => Promise<FoundPlugin>) | undefined;
}

export class PluginFinder {
  readonly #options: FinderOptions;
  readonly #seats = new Map<string, Seat>();
  /** The installed ones share a place, and go by id. */
  #order = 0;

  constructor(options: FinderOptions) {
    this.#options = options;
  }

  /**
   * Hooks from folders come first, as in OpenClaw; then the plugins that the operator or the gateway named, then the installed ones by id, so that
   * a stranger's never takes a name or a turn from theirs; then the scripts around turns.
   */
  async all(): Promise<Plugin[]> {
    const { given, config, base, logger, inner } = this.#options;
    const paths = (config.plugins?.load?.paths ?? []).map((path) => ({ path: resolveFrom(base, path) }));
    const specs: PluginSpec[] = config.plugins?.enabled === false ? [] : [...paths, ...given];
    const named = [
      ...(await hookFolderPlugins(config, base, logger)).map((found) => ({ found, again: async () => found })),
      ...(await Promise.all(specs.map((spec) => this.#named(spec)))),
      ...(inner.plugins ?? []).map((found) => ({ found, again: async () => found })),
    ];
    const installed = await this.#installed();
    const taken = new Set(named.map(({ found: { id } }) => id));
    for (const { id } of installed)
      if (taken.has(id)) logger.warn({ plugin: id }, "an installed plugin is left out: one of its id was named");
    this.#order = named.length;
    const placed = named.map(({ found, again }, order) => this.#place(found, order, again));
    for (const found of installed) if (!taken.has(found.id)) placed.push(this.#place(found, this.#order));
    for (const [at, found] of turnPlugins(config, base).entries()) placed.push(this.#place(found, this.#order + 1 + at, async () => found));
    return placed;
  }

  /** As it is to be loaded now; undefined: there is none of that id. Rejects with a CreelError. */
  async find(id: string): Promise<Plugin | undefined> {
    const seat = this.#seats.get(id);
    // What was named and switched off is loaded when somebody asks for it by name.
    if (seat?.again) return { ...this.#place(await seat.again(), seat.order, seat.again), status: "loading", diagnostics: [] };
    const [found] = await this.#installed((entry) => entry.id === id);
    return found && this.#place(found, this.#order);
  }

  async #installed(isAsked: (entry: LockEntry) => boolean = () => true): Promise<FoundPlugin[]> {
    const { config, stateDir, inner, isEager } = this.#options;
    if (config.plugins?.enabled === false) return [];
    const found = await installedPlugins(stateDir, (entry) => isAsked(entry) && (inner.installed?.(entry) ?? true), isEager);
    return found.map((plugin) => {
      const settings = plugin.hook && hookSettings(plugin.hook, config);
      return settings ? { ...plugin, config: settings.config, off: plugin.off ?? settings.off } : plugin;
    });
  }

  async #named(spec: PluginSpec): Promise<{ readonly found: FoundPlugin; readonly again: () => Promise<FoundPlugin> }> {
    const { config } = this.#options;
    const found = await findSpec(spec, config);
    const again = async (): Promise<FoundPlugin> => {
      try {
        return { ...(await findSpec(spec, config)), id: found.id };
      } catch (error) {
        // It fails again when it is bundled, for the same reason, and is then told so.
        if (error instanceof CreelError) return found;
        throw error;
      }
    };
    return { found, again };
  }

  #place(found: FoundPlugin, order: number, again?: () => Promise<FoundPlugin>): Plugin {
    const { config, lanes, isEager } = this.#options;
    const lane = this.#seats.get(found.id)?.lane ?? this.#seats.size % lanes;
    const plugin = place(isEager ? { ...found, wakesFor: undefined } : found, { order, lane }, config);
    this.#options.check(plugin);
    this.#seats.set(found.id, { order, lane, again });
    return plugin;
  }
}

async function findSpec(spec: PluginSpec, config: CreelConfig): Promise<FoundPlugin> {
  if ("source" in spec) return { ...spec, id: checkedId(spec.id), source: { source: spec.source } };
  const { manifest, hook } = await findPlugin(spec.path);
  const settings = hook && hookSettings(hook, config);
  return {
    id: spec.id === undefined ? manifest.id : checkedId(spec.id),
    name: manifest.name,
    version: manifest.version,
    description: manifest.description,
    contractTools: manifest.contracts && (manifest.contracts.tools ?? []),
    source: { path: spec.path },
    config: { ...settings?.config, ...spec.config },
    env: spec.env,
    hooks: spec.hooks,
    grants: spec.grants,
    limits: spec.limits,
    off: settings?.off,
  };
}

function place(
  { id, name, version, description, contractTools, source, config, env, hooks, grants, limits, accepted, wakesFor, off }: FoundPlugin,
  { order, lane }: Pick<Plugin, "order" | "lane">,
  all: CreelConfig,
): Plugin {
  const entry = all.plugins?.entries?.[id];
  const ownConfig = { ...entry?.config, ...config };
  const allGrants = { ...accepted?.grants, ...entry?.grants, ...grants };
  const isOff = entry?.enabled === false || off !== undefined;
  // What it has planned before must find it.
  const maySleep = !isOff && !allGrants.schedule;
  return {
    id,
    name: name ?? id,
    version,
    description,
    order,
    lane,
    home: undefined,
    retired: [],
    isDue: false,
    isOpening: false,
    isRetired: false,
    config: ownConfig,
    visibleConfig: visibleConfig(all, id, ownConfig),
    contractTools,
    hooks: { ...accepted?.hooks, ...entry?.hooks, ...hooks },
    grants: allGrants,
    acceptedHooks: accepted?.names,
    acceptedFunctions: accepted?.functions,
    standIns: accepted?.standIns,
    wakesFor: maySleep ? wakesFor : undefined,
    env: { ...entry?.env, ...env },
    budget: pluginBudget({ ...entry?.limits, ...limits }, all.limits),
    cpuShare: new CpuShare(),
    source,
    bundle: undefined,
    status: isOff ? "disabled" : maySleep && wakesFor ? "asleep" : "loading",
    error: undefined,
    diagnostics: off === undefined ? [] : [off],
    remarks: new Map(),
    registered: undefined,
    circuit: new Circuit(),
    loadMs: undefined,
    loadDeaths: 0,
    replacements: 0,
  };
}
