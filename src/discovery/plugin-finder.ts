/**
 * Trusted side: which plugins a host has, each with its place in it, at the start and on every reload. Named plugins
 * come from where they were named, installed ones from the current lock.
 */
import { pluginEntryConfig } from "../protocol/config/config.ts";
import { settled } from "../protocol/config/permission-key.ts";
import type { CreelConfig, PluginEntry } from "../protocol/config/config.ts";
import { firstIssue } from "../text/schema-issue.ts";
import { basename, extname, resolve } from "node:path";
import { CreelError } from "../protocol/errors.ts";
import { pluginId } from "../protocol/rules/plugin-id.ts";
import { LIMITS } from "../protocol/limits.ts";
import { pluginBudget } from "../host/plugins/budget.ts";
import { Circuit } from "../host/blame/circuit.ts";
import { Diagnostics } from "../host/plugins/diagnostics.ts";
import { CpuShare } from "../host/blame/cpu-share.ts";
import { GatewayTime } from "../host/services/gateway-time.ts";
import type { Logger } from "../host/report/log.ts";
import { checkedId, findPlugin, readManifest } from "./manifest.ts";
import type { Plugin } from "../host/plugins/plugin.ts";
import { visibleConfig } from "../host/plugins/visible-config.ts";
import type { LockEntry } from "../state/lock.ts";
import { resolveFrom } from "./config-file.ts";
import { hookFolderPlugins, hookSettings, namedHooks, turnPlugins } from "./hook-plugins.ts";
import type { FoundPlugin } from "./hook-plugins.ts";
import { installedPlugins } from "./installed-plugins.ts";
import type { PluginSpec } from "./plugin-spec.ts";
import { bundleSource, placeOfSource } from "./plugin-source.ts";

export interface FinderInner {
  /** Nothing is installed, and nothing survives. */
  readonly isBare?: boolean;
  /** Only these of the installed plugins. */
  readonly installed?: (entry: LockEntry) => boolean;
  /** In addition to all others. */
  readonly plugins?: readonly FoundPlugin[];
  /** Replaces what was found, whatever its form; for a replay with another version or other grants. */
  readonly revise?: (found: FoundPlugin) => FoundPlugin;
  /** Ids of plugins that come first, in this order, among handlers of the same priority. */
  readonly order?: readonly string[];
}

export interface FinderOptions {
  readonly given: readonly PluginSpec[];
  readonly config: CreelConfig;
  readonly base: string;
  readonly lanes: number;
  readonly logger: Logger;
  readonly stateDir: string | undefined;
  readonly lockKey: Uint8Array | undefined;
  /** For the installer and the test harness, see InnerOptions of sdk/options.ts. */
  readonly inner: FinderInner;
  readonly isEager: boolean;
  /** Throws when a plugin's grants cannot be given. */
  check(plugin: Plugin): void;
}

interface Seat extends Pick<Plugin, "order"> {
  /** Undefined: it is installed. */
  readonly again: (() => Promise<FoundPlugin>) | undefined;
}

export class PluginFinder {
  readonly #options: FinderOptions;
  readonly #seats = new Map<string, Seat>();
  /** What the gateway said about a plugin since the host opened. */
  readonly #entries = new Map<string, PluginEntry>();
  /** Installed plugins share a place and are sorted by id. */
  #order = 0;

  constructor(options: FinderOptions) {
    this.#options = options;
  }

  /**
   * Hooks from folders come first, as in OpenClaw; then the plugins that the operator or the gateway named; then the
   * installed ones by id, so that a third party's plugin never takes a name or a place from those; then the scripts
   * around turns.
   */
  async all(): Promise<Plugin[]> {
    const { given, config, base, logger, inner } = this.#options;
    const paths = (config.plugins?.load?.paths ?? []).map((path) => ({ path: resolveFrom(base, path) }));
    const isOff = config.plugins?.enabled === false;
    const specs: PluginSpec[] = isOff ? [] : [...paths, ...given];
    if (isOff && given.length > 0)
      logger.warn({ plugins: given.map(nameOf) }, "plugins.enabled is false: plugins that the gateway gave are not loaded");
    const named = [
      ...(await hookFolderPlugins(config, base, logger)).map((found) => ({ found, again: async () => found })),
      ...(await Promise.all(specs.map((spec) => this.#named(spec)))),
      ...(inner.plugins ?? []).map((found) => ({ found, again: async () => found })),
    ];
    const installed = await this.#installed();
    const taken = new Set(named.map(({ found: { id } }) => id));
    for (const { id } of installed)
      if (taken.has(id)) logger.warn({ plugin: id }, "skipped an installed plugin: the configuration names another one of its id");
    this.#order = named.length;
    const placed = named.map(({ found, again }, order) => this.#place(found, order, again));
    for (const found of installed) if (!taken.has(found.id)) placed.push(this.#place(found, this.#order));
    for (const id of this.#required()) if (!placed.some((plugin) => plugin.id === id)) placed.push(this.#place(missing(id), this.#order));
    this.#warnOfUnknown(new Set(placed.map(({ id }) => id)));
    for (const [at, found] of turnPlugins(config, base).entries()) placed.push(this.#place(found, this.#order + 1 + at, async () => found));
    return placed;
  }

  /** As it should be loaded now; undefined: there is none of that id. Rejects with a CreelError. */
  async find(id: string): Promise<Plugin | undefined> {
    const seat = this.#seats.get(id);
    // A named plugin that is switched off loads when it is requested by id.
    if (seat?.again) {
      const plugin = this.#place(await seat.again(), seat.order, seat.again);
      plugin.status = "loading";
      plugin.diagnostics.ofLoad = [];
      return plugin;
    }
    const [installed] = await this.#installed((entry) => entry.id === id);
    const found = installed ?? (this.#required().includes(id) ? missing(id) : undefined);
    return found && this.#place(found, this.#order);
  }

  /** Replaces what the configuration says about a plugin, from its next load on. */
  configure(id: string, entry: unknown): void {
    const parsed = pluginEntryConfig.safeParse(entry);
    if (!parsed.success) throw new CreelError("ERR_CONFIG_INVALID", { source: `the entry of "${id}"`, ...firstIssue(parsed.error) });
    this.#entries.set(id, parsed.data);
  }

  #config(): CreelConfig {
    const { config } = this.#options;
    if (this.#entries.size === 0) return config;
    return { ...config, plugins: { ...config.plugins, entries: { ...config.plugins?.entries, ...Object.fromEntries(this.#entries) } } };
  }

  /** Ids that the operator requires. A host with a given list of plugins does not miss others. */
  #required(): string[] {
    const { inner } = this.#options;
    const config = this.#config();
    const { enabled: isOn, entries = {} } = config.plugins ?? {};
    if (isOn === false || inner.isBare || inner.installed) return [];
    return Object.keys(entries).filter((id) => entries[id]!.required === true && entries[id]!.enabled !== false);
  }

  /** An entry may be all that is left of a guard. OpenClaw's own plugins have entries, too. */
  #warnOfUnknown(ids: ReadonlySet<string>): void {
    const { inner, logger, config } = this.#options;
    if (inner.isBare || inner.installed || config.plugins?.enabled === false) return;
    const unknown = Object.entries(config.plugins?.entries ?? {}).flatMap(([id, { enabled }]) =>
      enabled === false || ids.has(id) ? [] : id,
    );
    if (unknown.length > 0)
      logger.warn({ plugins: unknown }, "plugins.entries names plugins that are neither installed nor given: nothing of them runs here");
  }

  async #installed(isAsked: (entry: LockEntry) => boolean = () => true): Promise<FoundPlugin[]> {
    const { config, stateDir, lockKey, inner, isEager } = this.#options;
    if (config.plugins?.enabled === false) return [];
    const found = await installedPlugins(stateDir, (entry) => isAsked(entry) && (inner.installed?.(entry) ?? true), isEager, lockKey);
    return found.map((plugin) => {
      const settings = plugin.hook && hookSettings(plugin.hook, config);
      return settings ? { ...plugin, config: settings.config, off: plugin.off ?? settings.off } : plugin;
    });
  }

  async #named(spec: PluginSpec): Promise<{ readonly found: FoundPlugin; readonly again: () => Promise<FoundPlugin> }> {
    const { config } = this.#options;
    const found = await findSpec(spec, config).catch((error: unknown) => unfound(spec, error));
    const again = async (): Promise<FoundPlugin> => {
      try {
        return { ...(await findSpec(spec, config)), id: found.id };
      } catch (error) {
        // It fails again when it is bundled, for the same reason, and is then reported.
        if (error instanceof CreelError) return found;
        throw error;
      }
    };
    return { found, again };
  }

  #place(found: FoundPlugin, order: number, again?: () => Promise<FoundPlugin>): Plugin {
    const { lanes, isEager, inner } = this.#options;
    const config = this.#config();
    const revised = inner.revise?.(found) ?? found;
    const rank = inner.order?.indexOf(found.id) ?? -1;
    const seat = rank < 0 ? order : rank - inner.order!.length;
    const plugin = place(isEager ? { ...revised, activationHooks: undefined } : revised, seat, lanes, config);
    this.#options.check(plugin);
    this.#seats.set(found.id, { order, again });
    return plugin;
  }
}

function nameOf(spec: PluginSpec): string {
  return spec.id ?? ("path" in spec ? spec.path : "");
}

/** A plugin that cannot be read where it was named: it fails again when it is loaded, and then shows as failed. */
async function unfound(spec: PluginSpec, error: unknown): Promise<FoundPlugin> {
  if (!(error instanceof CreelError) || !("path" in spec)) throw error;
  const path = resolve(spec.path);
  // Its manifest may be all that is left of it.
  const manifest = await readManifest(path).catch(() => undefined);
  const id = spec.id ?? manifest?.id ?? basename(path, extname(path));
  // There is no id to report it by.
  if (!pluginId.safeParse(id).success) throw error;
  return { ...spec, id, source: { path: spec.path }, knownHooks: manifest?.hooks && namedHooks(manifest.hooks) };
}

/** A required plugin that is missing. */
function missing(id: string): FoundPlugin {
  const bundle = (): Promise<never> => Promise.reject(new CreelError("ERR_PLUGIN_MISSING", { plugin: id }));
  return { id: checkedId(id), source: { bundle } };
}

async function findSpec(given: PluginSpec, config: CreelConfig): Promise<FoundPlugin> {
  const spec = settled(given);
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
    knownHooks: manifest.hooks && namedHooks(manifest.hooks),
    required: spec.required,
    asksRequired: manifest.required,
    off: settings?.off,
  };
}

function place(found: FoundPlugin, order: number, lanes: number, all: CreelConfig): Plugin {
  const { id, name, version, description, contractTools, source, config, env, hooks, grants, limits, accepted, activationHooks, off } =
    found;
  const entry = settled(all.plugins?.entries?.[id] ?? {});
  const isRequired = entry.required ?? found.required ?? accepted?.isRequired ?? false;
  const unaccepted = `its manifest asks to be required, which has no effect: plugins.entries.${id}.required, or "required" among its permissions, accepts it`;
  const diagnostics = new Diagnostics(off === undefined ? [] : [off]);
  if (found.asksRequired && entry.required === undefined && found.required === undefined) diagnostics.set("required", unaccepted);
  const hasPinnedLane = entry.lane !== undefined && entry.lane < lanes;
  if (entry.lane !== undefined && !hasPinnedLane)
    diagnostics.set("lane", `plugins.entries.${id}.lane is ${entry.lane}, which has no effect: the last lane of this host is ${lanes - 1}`);
  const ownConfig = { ...entry.config, ...config };
  const allGrants = { ...accepted?.grants, ...entry.grants, ...grants };
  const isOff = entry.enabled === false || off !== undefined;
  const allHooks = { ...accepted?.hooks, ...entry.hooks, ...hooks };
  // Jobs that it scheduled earlier must find it; and which of its hooks are durable is known once it has loaded.
  const maySleep = !isOff && !allGrants.schedule && allHooks.durable !== true;
  const budget = pluginBudget({ ...entry.limits, ...limits }, all.limits);
  return {
    id,
    name: name ?? id,
    version,
    description,
    order,
    lane: 0,
    pinnedLane: hasPinnedLane ? entry.lane : undefined,
    home: undefined,
    retired: [],
    isDue: false,
    isOpening: false,
    isRetired: false,
    config: ownConfig,
    visibleConfig: visibleConfig(all, id, ownConfig),
    contractTools,
    hooks: allHooks,
    grants: allGrants,
    acceptedHooks: accepted?.names,
    acceptedFunctions: accepted?.functions,
    knownHooks: found.knownHooks,
    isRequired,
    isStrict: entry.strict ?? all.plugins?.strict ?? false,
    activationHooks: maySleep ? activationHooks : undefined,
    env: { ...entry.env, ...env },
    budget,
    cpuShare: new CpuShare(),
    gatewayTime: new GatewayTime(budget.gatewayMs.value),
    laneShare: new CpuShare(undefined, LIMITS.lane.shareMs),
    slowWhy: undefined,
    isResting: false,
    makeBundle: (isLiteral) => bundleSource(source, isLiteral),
    sourcePlace: () => placeOfSource(source),
    bundle: undefined,
    status: isOff ? "disabled" : maySleep && activationHooks ? "asleep" : "loading",
    error: undefined,
    diagnostics,
    registered: undefined,
    circuit: new Circuit(),
    loadMs: undefined,
    loadDeaths: 0,
    replacements: 0,
  };
}
