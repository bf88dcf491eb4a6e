/** Trusted side: opens a host for a gateway: resolves its options, and chooses between threads, a process and `creel serve`. */
import { isDeepStrictEqual } from "node:util";
import { CATALOG } from "../protocol/catalog.ts";
import type { AnyHook, Catalog, HookTable } from "../protocol/catalog.ts";
import { CreelError } from "../protocol/errors.ts";
import type { CreelConfig } from "../protocol/config/config.ts";
import { FIRST_WINS } from "../protocol/config/config.ts";
import { LIMITS } from "../protocol/limits.ts";
import { suggest } from "../text/did-you-mean.ts";
import { guestCode } from "../bundler/guest-code.ts";
import { CoreHost } from "../host/host.ts";
import type { HostOptions } from "../host/host-options.ts";
import type { Host } from "../host/host-api.ts";
import { otelApi } from "../host/telemetry/otel-api.ts";
import { startProcessUnit } from "../host/supervisor/launch/process-unit.ts";
import type { BuiltWalls } from "../host/supervisor/launch/probe.ts";
import { buildWalls } from "../host/supervisor/launch/probe.ts";
import { wallsWanted } from "../host/supervisor/launch/plan.ts";
import type { WallsWanted } from "../host/supervisor/launch/plan.ts";
import { logWalls, processReport, threadReport } from "../host/supervisor/launch/walls-report.ts";
import type { WallsReport } from "../host/supervisor/launch/walls-report.ts";
import type { LaneUnit, StartUnit } from "../host/supervisor/unit.ts";
import { threadUnits } from "../host/supervisor/launch/thread-unit.ts";
import type { PluginSpec } from "../discovery/plugin-spec.ts";
import { checkNames } from "./known-options.ts";
import type { FirstUnit } from "./first-unit.ts";
import { resolveOptions } from "./options.ts";
import type { InnerOptions, OpenOptions } from "./options.ts";
import { joinHost } from "./remote/remote-host.ts";

export async function openHost<Own extends HookTable = {}>(
  options: OpenOptions<Own> = {},
  first?: FirstUnit,
): Promise<Host<Catalog & Own>> {
  try {
    checkNames(options);
    if (options.fleet !== undefined) {
      // oxlint-disable-next-line no-restricted-imports -- the one way from the SDK to a fleet: loaded when a gateway asks for it.
      const { openFleet } = await import("../fleet/gateway/open.ts");
      return await openFleet(options);
    }
    if (options.connect !== undefined) return await joinHost(options);
    return await openHostWith(options, { first });
  } catch (error) {
    await (await first?.walls)?.unit?.close();
    throw error;
  }
}

export async function openHostWith<Own extends HookTable = {}>(
  options: OpenOptions<Own>,
  inner: InnerOptions,
): Promise<CoreHost<Catalog & Own>> {
  const { isolation, lanes, config, stateDir, plugins, find, configure, secrets, sharedKv, causeKey, logger } = await resolveOptions(
    options,
    inner,
  );
  const own = withOwn(options.hooks ?? {});
  const asGiven = options.rewrites === "isolated" ? isolated(own) : own;
  // A dry run, a benchmark or a replay: what it emits is not kept.
  const isTrial = inner.isBare === true || inner.isReplay === true;
  const isFirstWins = config.approvals?.plugin?.compat === "first-wins";
  if (isFirstWins) logger.warn({ setting: FIRST_WINS.setting }, FIRST_WINS.meaning);
  // The walls are tried, and the first process starts, while the host is made.
  const starting = isolation === "process" ? processUnits(config.sandbox, lanes, inner) : threadUnitsWithReport();
  // Awaited below; a rejection before that must not raise `unhandledRejection`.
  starting.catch(() => {});
  // Where no host comes of it, nobody else ends that process.
  await using _ = { [Symbol.asyncDispose]: async () => (await starting.catch(() => undefined))?.first?.()?.close() };
  let units: Units | undefined;
  const guest = await guestCode();
  const telemetry = await telemetryOf(options.telemetry, config.telemetry);
  const host = new CoreHost<Catalog & Own>({
    lanes,
    lanesPerUnit: inner.lanesPerUnit ?? (isolation === "process" ? lanes : 1),
    startUnit: (count) => units!.startUnit(count),
    guest,
    walls: () => units!.walls,
    hooks: isFirstWins ? firstWins(asGiven) : asGiven,
    failure: config.hooks?.failure ?? {},
    durable: durableHooks(isTrial ? [] : (config.hooks?.durable ?? []), asGiven, stateDir),
    mayBeDurable: !isTrial && mayBeDurable(config, options.plugins ?? [], stateDir),
    hasInternal: config.hooks?.internal?.enabled !== false,
    allowsFailed: options.allowFailed === true,
    isStrict: options.strict === true,
    hasSpare: isolation === "process" && config.sandbox?.spare !== false,
    memoryBytes: (config.sandbox?.memoryMb ?? LIMITS.sandbox.memoryMb) * 2 ** 20,
    gateway: options.gateway ?? {},
    allowOnTimeout: config.approvals?.plugin?.allowOnTimeout === true,
    isAnswerable: config.approvals?.plugin?.answerable === true,
    stateDir,
    sharedKv,
    causeKey,
    duties: inner.duties,
    relay: inner.relay,
    audit: config.audit,
    record: recordSettings(config.record, stateDir),
    clock: inner.clock,
    kvSeeds: inner.kvSeeds,
    network: inner.network,
    recording: inner.recording,
    inspect: options.inspect,
    telemetry,
    inspectSession: inner.inspectSession,
    find,
    configure,
    secrets,
    logger,
  });
  try {
    units = await starting;
    logWalls(units.walls, logger);
    await host.open(plugins);
    if (options.inspect && !inner.inspectSession) warnOfUnknown(options.inspect.plugin, host, logger);
  } catch (error) {
    await host.close();
    throw error;
  }
  return host;
}

/** It may be installed later; more likely it is misspelt. */
function warnOfUnknown(plugin: string, host: Pick<CoreHost, "plugins">, logger: HostOptions["logger"]): void {
  const ids = host.plugins().map(({ id }) => id);
  if (!ids.includes(plugin)) logger.warn({ plugin }, `there is no plugin "${plugin}" to inspect${suggest(plugin, ids)}`);
}

/** The gateway's option wins over the configuration, which wins over nothing. */
async function telemetryOf(given: OpenOptions["telemetry"], config: CreelConfig["telemetry"]): Promise<HostOptions["telemetry"]> {
  if (given === false || (given === undefined && !config?.enabled)) return undefined;
  const { propagate = config?.propagate ?? [], ...own } = typeof given === "object" ? given : {};
  return { api: await otelApi(), options: { ...own, propagate } };
}

interface Units {
  readonly startUnit: StartUnit;
  readonly walls: WallsReport;
  /** Started already, until `startUnit` gives it away. */
  readonly first?: () => LaneUnit | undefined;
}

async function threadUnitsWithReport(): Promise<Units> {
  return { startUnit: await threadUnits(), walls: threadReport() };
}

async function processUnits(
  config: CreelConfig["sandbox"],
  lanes: number,
  { units, lanesPerUnit = lanes, first: early }: InnerOptions,
): Promise<Units> {
  const wanted = wallsWanted(config, lanes);
  // A test that wraps units means to see each one start.
  const { plan, unit } = (await fitting(early, wanted)) ?? (await buildWalls(wanted, units ? undefined : lanesPerUnit));
  let first = unit;
  const start: StartUnit = (count) => {
    if (!first || count !== lanesPerUnit) return startProcessUnit(count, plan);
    const given = first;
    first = undefined;
    return given;
  };
  return { startUnit: units ? units(start, plan) : start, walls: processReport(plan.layers, wanted.walls), first: () => first };
}

/** Undefined: there is none, or the file of the configuration has changed since. */
async function fitting(first: FirstUnit | undefined, wanted: WallsWanted): Promise<BuiltWalls | undefined> {
  const built = await first?.walls;
  if (!built || isDeepStrictEqual(built.wanted, wanted)) return built;
  await built.unit?.close();
  return undefined;
}

/** Throws when there is no place for recordings: an operator who relies on them must not find none. */
function recordSettings(record: CreelConfig["record"], stateDir: string | undefined): CreelConfig["record"] {
  if (record?.enabled && stateDir === undefined)
    throw new CreelError("ERR_CONFIG_INVALID", {
      source: "the configuration",
      field: "record.enabled",
      detail: "recordings are kept in the state folder: set stateDir",
    });
  return record;
}

/** Throws when a hook cannot be durable: a gateway that relies on it must not find out by a lost event. */
function durableHooks(names: readonly string[], hooks: HookTable, stateDir: string | undefined): ReadonlySet<string> {
  for (const [at, name] of names.entries()) {
    const hook = hooks[name];
    const detail = !hook
      ? `there is no hook named "${name}"${suggest(name, Object.keys(hooks))}`
      : hook.kind !== "observe"
        ? `"${name}" is of kind ${hook.kind}: only observe hooks can be delivered later`
        : stateDir === undefined
          ? "events are kept in the state folder: set stateDir"
          : undefined;
    if (detail !== undefined)
      throw new CreelError("ERR_CONFIG_INVALID", { source: "the configuration", field: `hooks.durable.${at}`, detail });
  }
  return new Set(names);
}

/** Does the operator let a plugin choose durable hooks? Throws when there is no place to keep their events. */
function mayBeDurable(config: CreelConfig, specs: readonly PluginSpec[], stateDir: string | undefined): boolean {
  const entries = Object.entries(config.plugins?.entries ?? {}).map(([id, { hooks }]) => [`plugins.entries.${id}.hooks`, hooks] as const);
  const given = specs.map(({ hooks }, at) => [`plugins.${at}.hooks`, hooks] as const);
  const found = [...entries, ...given].find(([, hooks]) => hooks?.durable === true);
  if (found && stateDir === undefined)
    throw new CreelError("ERR_CONFIG_INVALID", {
      source: "the configuration",
      field: `${found[0]}.durable`,
      detail: "events are kept in the state folder: set stateDir",
    });
  return found !== undefined;
}

function withOwn(own: HookTable): HookTable {
  const table: Record<string, AnyHook> = Object.assign(Object.create(null), CATALOG);
  for (const hook of Object.values(own)) {
    if (Object.hasOwn(table, hook.name)) throw new CreelError("ERR_HOOK_DEFINED", { hook: hook.name });
    table[hook.name] = hook;
  }
  return table;
}

/** OpenClaw's rule for rewrites: every handler sees the original event, and the last rewrite wins. */
function isolated(hooks: HookTable): HookTable {
  return Object.fromEntries(Object.entries(hooks).map(([name, hook]) => [name, { ...hook, merge: isolatedMerge(hook) }]));
}

/** OpenClaw's rule for approvals: only the first request counts, and later handlers cannot change what the user approves. */
function firstWins(hooks: HookTable): HookTable {
  return Object.fromEntries(
    Object.entries(hooks).map(([name, hook]) => {
      const fields = Object.entries(hook.merge);
      const freezes = fields.flatMap(([field, { rule, approved }]) => (rule === "each" || approved ? field : []));
      const merge = fields.map(([field, rule]) => [field, rule.rule === "each" ? { ...rule, freezes } : rule]);
      return [name, { ...hook, merge: Object.fromEntries(merge) as AnyHook["merge"] }];
    }),
  );
}

function isolatedMerge({ merge }: AnyHook): AnyHook["merge"] {
  const fields = Object.entries(merge).map(([field, rule]) => {
    if (!rule.isolated) return [field, rule];
    const { chains: _, ...rest } = rule;
    return [field, { ...rest, rule: rule.isolated }];
  });
  return Object.fromEntries(fields) as AnyHook["merge"];
}
