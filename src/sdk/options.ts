/** Trusted side: what a gateway may give to `openHost`, and what becomes of it together with the configuration. */
import { availableParallelism } from "node:os";
import { dirname, resolve } from "node:path";
import * as z from "zod";
import { pluginLimitsConfig } from "../protocol/plugin-limits.ts";
import { pluginGrants, pluginHooksConfig } from "../protocol/config.ts";
import type { CreelConfig } from "../protocol/config.ts";
import type { HookTable } from "../protocol/catalog.ts";
import { CreelError } from "../protocol/errors.ts";
import type { RequestApproval } from "../host/approvals.ts";
import { Circuit } from "../host/circuit.ts";
import { readSecrets } from "../host/services/secrets.ts";
import type { Secrets } from "../host/services/secrets.ts";
import type { Network } from "../host/services/exchange.ts";
import type { SessionGateway } from "../host/services/session.ts";
import { pluginBudget } from "../host/budget.ts";
import { CpuShare } from "../host/cpu-share.ts";
import { firstIssue } from "../host/issues.ts";
import { defaultLogger } from "../host/log.ts";
import type { Logger } from "../host/log.ts";
import { checkedId, findPlugin } from "../host/manifest.ts";
import type { Plugin } from "../host/plugin.ts";
import { visibleConfig } from "../host/visible-config.ts";
import { readConfig, resolveFrom, stateDirOf } from "./config-file.ts";
import { hookFolderPlugins, hookSettings, turnPlugins } from "./hook-plugins.ts";
import type { FoundPlugin } from "./hook-plugins.ts";
import { installedPlugins } from "./installed-plugins.ts";
import type { LockEntry } from "../state/lock.ts";

const pluginSpec = z.union([
  z.strictObject({
    path: z.string(),
    id: z.string().optional(),
    config: z.record(z.string(), z.unknown()).optional(),
    env: z.record(z.string(), z.string()).optional(),
    hooks: pluginHooksConfig.optional(),
    grants: pluginGrants.optional(),
    limits: pluginLimitsConfig.optional(),
  }),
  z.strictObject({
    id: z.string(),
    source: z.string(),
    config: z.record(z.string(), z.unknown()).optional(),
    env: z.record(z.string(), z.string()).optional(),
    hooks: pluginHooksConfig.optional(),
    grants: pluginGrants.optional(),
    limits: pluginLimitsConfig.optional(),
  }),
]);
/** A plugin beside the installed ones: a folder or file, or its source as text. Sandboxed all the same. */
export type PluginSpec = z.infer<typeof pluginSpec>;

const plainOptions = z.strictObject({
  isolation: z.enum(["process", "thread"]).optional(),
  lanes: z.int().min(1).max(64).optional(),
  config: z.union([z.string(), z.record(z.string(), z.unknown())]).optional(),
  plugins: z.array(pluginSpec).optional(),
});

export interface OpenOptions<Own extends HookTable = {}> {
  /** The socket of a `creel serve`: joins that host. Beside it only `gateway` and `logger` may be given. */
  readonly connect?: string;
  /** `process` (default): the plugins run in a supervised child. `thread`: in this process, faster, and less safe. */
  readonly isolation?: "process" | "thread";
  /** Worker threads. Default: cores - 1, at least 1. */
  readonly lanes?: number;
  /** A `creel.json`, or its content. */
  readonly config?: string | CreelConfig;
  readonly plugins?: readonly PluginSpec[];
  /** Hooks of the gateway's own, by name; see `defineHook`. */
  readonly hooks?: Own;
  /** What plugins may ask of the gateway. */
  readonly gateway?: SessionGateway & { readonly requestApproval?: RequestApproval };
  /** `chained` (default): a handler sees what the ones before it made of the event. `isolated`: OpenClaw's way, everyone sees the original. */
  readonly rewrites?: "chained" | "isolated";
  /** pino-compatible. Default: warnings and errors on stderr. */
  readonly logger?: Logger;
}

export interface Resolved {
  readonly isolation: "process" | "thread";
  readonly lanes: number;
  readonly config: CreelConfig;
  /** Where what must survive a restart is kept, if anywhere. */
  readonly stateDir: string | undefined;
  readonly plugins: Plugin[];
  readonly secrets: Secrets;
  readonly logger: Logger;
}

/** For Creel's own use: what an installer, or an author's harness, asks of a host. */
export interface InnerOptions {
  /** Instead of the network. */
  readonly network?: Network;
  /** Nothing is installed, and nothing survives. */
  readonly isBare?: boolean;
  /** Instead of what configuration and environment say. */
  readonly stateDir?: string;
  /** What paths of the configuration are relative to. */
  readonly base?: string;
  /** Whatever is installed is loaded before the host is open. */
  readonly isEager?: boolean;
  /** Only those of the installed plugins. */
  readonly installed?: (entry: LockEntry) => boolean;
  /** Beside all others. */
  readonly plugins?: readonly FoundPlugin[];
}

export async function resolveOptions(options: OpenOptions<HookTable>, inner: InnerOptions = {}): Promise<Resolved> {
  const { isolation, lanes, config: configOption, plugins } = options;
  const checked = plainOptions.safeParse({ isolation, lanes, config: configOption, plugins });
  if (!checked.success) throw new CreelError("ERR_HOST_OPTIONS", firstIssue(checked.error));
  const { secrets: sources = {}, ...config } = await readConfig(checked.data.config);
  const laneCount = lanes ?? Math.max(1, availableParallelism() - 1);
  const logger = options.logger ?? defaultLogger();
  const base = inner.base ?? (typeof configOption === "string" ? dirname(resolve(configOption)) : process.cwd());
  const secrets = await readSecrets(sources, (path) => resolveFrom(base, path));
  const stateDir = inner.isBare ? undefined : (inner.stateDir ?? stateDirOf(config, base));
  // A gateway's own hooks are not known when a plugin is installed: whoever might listen to them must be there.
  const isEager = inner.isEager === true || config.plugins?.load?.lazy === false || Object.keys(options.hooks ?? {}).length > 0;
  const found = await resolvePlugins(checked.data.plugins ?? [], config, { base, lanes: laneCount, logger, stateDir, inner, isEager });
  for (const { id, grants } of found) secrets.check(id, grants, sources);
  return {
    isolation: isolation ?? "process",
    lanes: laneCount,
    config,
    stateDir,
    plugins: found,
    secrets,
    logger,
  };
}

interface Surroundings {
  readonly base: string;
  readonly lanes: number;
  readonly logger: Logger;
  readonly stateDir: string | undefined;
  readonly inner: InnerOptions;
  readonly isEager: boolean;
}

/**
 * Hooks from folders come first, as in OpenClaw; then the plugins that the operator or the gateway named, then the installed ones by id, so that
 * a stranger's never takes a name or a turn from theirs; then the scripts around turns.
 */
async function resolvePlugins(
  given: readonly PluginSpec[],
  config: CreelConfig,
  { base, lanes, logger, stateDir, inner, isEager }: Surroundings,
): Promise<Plugin[]> {
  const paths = (config.plugins?.load?.paths ?? []).map((path) => ({ path: resolveFrom(base, path) }));
  const specs: PluginSpec[] = config.plugins?.enabled === false ? [] : [...paths, ...given];
  const named = [
    ...(await hookFolderPlugins(config, base, logger)),
    ...(await Promise.all(specs.map((spec) => findSpec(spec, config)))),
    ...(inner.plugins ?? []),
  ];
  const installed = config.plugins?.enabled === false ? [] : await installedPlugins(stateDir, inner.installed);
  const taken = new Set(named.map(({ id }) => id));
  for (const { id } of installed)
    if (taken.has(id)) logger.warn({ plugin: id }, "an installed plugin is left out: one of its id was named");
  const found = [...named, ...installed.filter(({ id }) => !taken.has(id)), ...turnPlugins(config, base)];
  return found.map((plugin, order) => place(isEager ? { ...plugin, wakesFor: undefined } : plugin, order, config, lanes));
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
  order: number,
  all: CreelConfig,
  lanes: number,
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
    lane: order % lanes,
    home: undefined,
    retired: [],
    isOpening: false,
    isRetired: false,
    config: ownConfig,
    visibleConfig: visibleConfig(all, id, ownConfig),
    contractTools,
    hooks: { ...accepted?.hooks, ...entry?.hooks, ...hooks },
    grants: allGrants,
    acceptedHooks: accepted?.names,
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
