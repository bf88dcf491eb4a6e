/** Trusted side: the options of `openHost`, resolved together with the configuration. */
import { dirname, resolve } from "node:path";
import * as z from "zod";
import type { CreelConfig, PluginEntry } from "../protocol/config/config.ts";
import type { HookTable } from "../protocol/catalog.ts";
import { CreelError } from "../protocol/errors.ts";
import type { RequestApproval } from "../host/run/approvals/approvals.ts";
import { readSecrets } from "../host/services/secrets/secrets.ts";
import type { KvSeeds, SharedKv } from "../host/services/kv/kv.ts";
import type { Secrets } from "../host/services/secrets/secrets.ts";
import type { Duties } from "../host/duties.ts";
import type { Relay } from "../host/durable/relay.ts";
import type { ManualClock } from "../host/manual-clock.ts";
import type { InspectOptions } from "../host/inspect/inspector.ts";
import type { InspectSession } from "../host/inspect/session.ts";
import type { StartUnit } from "../host/supervisor/unit.ts";
import type { WallsPlan } from "../host/supervisor/launch/plan.ts";
import type { Network } from "../host/services/fetch/request.ts";
import type { TelemetryOptions } from "../host/telemetry/tracing.ts";
import type { SessionGateway } from "../host/services/session/session.ts";
import { firstIssue } from "../text/schema-issue.ts";
import { defaultLogger } from "../host/report/log.ts";
import type { Logger } from "../host/report/log.ts";
import type { Plugin } from "../host/plugins/plugin.ts";
import { causeKeyOf, checkedLockKey, databaseUrlOf, lockKeyOf, readConfig, resolveFrom, stateDirOf } from "../discovery/config-file.ts";
import type { FirstUnit } from "./first-unit.ts";
import { defaultLanes } from "./lanes.ts";
import { checkNames, wrongOption } from "./known-options.ts";
import { PluginFinder } from "../discovery/plugin-finder.ts";
import type { FinderInner } from "../discovery/plugin-finder.ts";
import { pluginSpec } from "../discovery/plugin-spec.ts";
import type { PluginSpec } from "../discovery/plugin-spec.ts";

const telemetryOptions = z.union([
  z.boolean(),
  z.strictObject({
    parent: z.custom((value) => typeof value === "function", "it must be a function").optional(),
    propagate: z.array(z.string()).optional(),
  }),
]);

const plainOptions = z.strictObject({
  telemetry: telemetryOptions.optional(),
  isolation: z.enum(["process", "thread"]).optional(),
  lanes: z.int().min(1).max(64).optional(),
  config: z.union([z.string(), z.record(z.string(), z.unknown())]).optional(),
  plugins: z.array(pluginSpec).optional(),
  rewrites: z.enum(["chained", "isolated"]).optional(),
  allowFailed: z.boolean().optional(),
  strict: z.boolean().optional(),
  lockKey: z.union([z.string(), z.instanceof(Uint8Array)]).optional(),
  inspect: z
    .strictObject({
      plugin: z.string().min(1),
      port: z.int().min(0).max(65_535).optional(),
      break: z.boolean().optional(),
      listening: z.custom((value) => typeof value === "function").optional(),
    })
    .optional(),
});

export interface OpenOptions<Own extends HookTable = {}> {
  /** The socket of a `creel serve`: joins that host. Only `gateway`, `logger` and `telemetry` may be set beside it. */
  readonly connect?: string;
  /**
   * Joins the hosts of a fleet over NATS: this gateway's runs are judged on their machines. Needs `@nats-io/transport-node` and
   * `@nats-io/kv`. Paths are relative to the working directory. Beside it the same may be set as beside `connect`.
   */
  readonly fleet?: {
    /** This gateway's name; the server ties it to the key in `credentials`, which `creel fleet keys --gateway` makes. */
    readonly name: string;
    readonly servers: readonly string[];
    readonly credentials: string;
    readonly ca?: string;
  };
  /** `process` (default): the plugins run in a supervised child. `thread`: in this process, faster, and less safe. */
  readonly isolation?: "process" | "thread";
  /** Worker threads. Default: cores - 1, at least 1. */
  readonly lanes?: number;
  /** A `creel.json`, or its content. */
  readonly config?: string | CreelConfig;
  readonly plugins?: readonly PluginSpec[];
  /** The gateway's own hooks, by name; see `defineHook`. */
  readonly hooks?: Own;
  /** The functions of the gateway that plugins may use. */
  readonly gateway?: SessionGateway & { readonly requestApproval?: RequestApproval };
  /** `chained` (default): a handler sees the rewrites of earlier ones. `isolated`, as in OpenClaw: every handler sees the original. */
  readonly rewrites?: "chained" | "isolated";
  /**
   * `true`: the host opens although a plugin does not load and its hooks are not known. Each run then lists that plugin in `calls`.
   * Default: `openHost` rejects, and names each such plugin.
   */
  readonly allowFailed?: boolean;
  /**
   * `true`: events and contexts are checked although no plugin listens, and `emit` throws what it otherwise logs. For the tests of a
   * gateway, which often have no plugins. Default: only what a plugin will see is checked.
   */
  readonly strict?: boolean;
  /** The key that `creel.lock` is sealed with, at least 16 bytes; instead of the configuration's `lockKey`. It is never logged. */
  readonly lockKey?: string | Uint8Array;
  /**
   * Opens a debugger's port on this machine for one plugin. For development: a debugger can run any code as that plugin, and all its
   * budgets but memory are off. Default: no plugin can be inspected.
   */
  readonly inspect?: InspectOptions;
  /**
   * `true`: OpenTelemetry spans of runs, calls, approvals and plugins' requests, through `@opentelemetry/api`, which the gateway installs
   * beside its SDK. Adds to the configuration's `telemetry`. Default: no spans, and the package is not loaded.
   */
  readonly telemetry?: boolean | TelemetryOptions;
  /** pino-compatible. Default: warnings and errors on stderr. */
  readonly logger?: Logger;
}

export interface Resolved {
  readonly isolation: "process" | "thread";
  readonly lanes: number;
  readonly config: CreelConfig;
  /** The folder for everything that must survive a restart; undefined: nothing survives. */
  readonly stateDir: string | undefined;
  /** The search may still be going on: it takes about as long as a sandbox takes to start. */
  readonly plugins: Promise<Plugin[]>;
  /** See HostOptions. */
  readonly find: (id: string) => Promise<Plugin | undefined>;
  readonly configure: (id: string, entry: PluginEntry) => void;
  readonly secrets: Secrets;
  /** Stores of plugins that several hosts share; undefined: none. */
  readonly sharedKv: SharedKv | undefined;
  /** Of causes that all hosts of a fleet can read. */
  readonly causeKey: Uint8Array | undefined;
  readonly logger: Logger;
}

/** For Creel's own use: what the installer and the test harness need of a host. */
export interface InnerOptions extends FinderInner {
  /** For `creel/testing`: time that moves when the test says so. */
  readonly clock?: ManualClock;
  /** For `creel/testing`: the first entries of plugins. */
  readonly kvSeeds?: KvSeeds;
  /** Replaces the network. */
  readonly network?: Network;
  /** Overrides configuration and environment. */
  readonly stateDir?: string;
  /** The folder that paths of the configuration are relative to. */
  readonly base?: string;
  /** The host serves a replay: no secret is read, and none is sent. */
  readonly isReplay?: boolean;
  /** Of a replay: stands for the shared database. */
  readonly sharedKv?: SharedKv;
  /** No plugin is lazy: all installed plugins load before the host is open. */
  readonly isEager?: boolean;
  /** For tests: wraps the function that starts sandbox processes. */
  readonly units?: (start: StartUnit, walls: WallsPlan) => StartUnit;
  readonly lanesPerUnit?: number;
  /** Of `creel serve --fleet`: what it shares with other hosts. */
  readonly duties?: Duties | undefined;
  /** The same: where its durable events go. */
  readonly relay?: Relay | undefined;
  /** Was started before the host's code was loaded. */
  readonly first?: FirstUnit | undefined;
  /** With `inspect`: a debugger of this process, instead of an address where one connects. */
  readonly inspectSession?: InspectSession;
  /** For the benchmark that asks what recording costs: while it is off, runs are neither recorded nor measured. */
  readonly recording?: { readonly isOn: boolean };
}

export async function resolveOptions(options: OpenOptions<HookTable>, inner: InnerOptions = {}): Promise<Resolved> {
  checkNames(options);
  const { isolation, lanes, config: configOption, plugins, rewrites, allowFailed, strict, lockKey: given, inspect, telemetry } = options;
  const checked = plainOptions.safeParse({
    isolation,
    lanes,
    config: configOption,
    plugins,
    rewrites,
    allowFailed,
    strict,
    lockKey: given,
    inspect,
    telemetry,
  });
  if (!checked.success) {
    const { field, detail } = firstIssue(checked.error);
    throw wrongOption(field, detail);
  }
  const { secrets: sources = {}, ...config } = await readConfig(checked.data.config);
  const laneCount = lanes ?? defaultLanes();
  const logger = options.logger ?? defaultLogger();
  const base = inner.base ?? (typeof configOption === "string" ? dirname(resolve(configOption)) : process.cwd());
  const secrets = await readSecrets(inner.isReplay ? {} : sources, (path) => resolveFrom(base, path));
  const stateDir = inner.isBare ? undefined : (inner.stateDir ?? stateDirOf(config, base));
  const lockKey = given === undefined ? await lockKeyOf(config, base) : checkedLockKey(given, wrongKey);
  const causeKey = await causeKeyOf(config, base);
  // The lock does not know a gateway's own hooks: a lazy plugin that listens to one would never load.
  const isEager = inner.isEager === true || config.plugins?.load?.lazy === false || Object.keys(options.hooks ?? {}).length > 0;
  const finder = new PluginFinder({
    given: checked.data.plugins ?? [],
    config,
    base,
    lanes: laneCount,
    logger,
    stateDir,
    lockKey,
    inner,
    isEager,
    check: ({ id, grants }) => {
      if (!inner.isReplay) secrets.check(id, grants, sources);
      refuseVariable(id, grants.env, config.lockKey?.env, "is the key of the lock");
      refuseVariable(id, grants.env, config.kv?.postgres.env, "is the address of the shared database");
    },
  });
  const found = finder.all();
  // The host awaits it later; a rejection before that must not raise `unhandledRejection`.
  found.catch(() => {});
  // Last: nothing after it can fail and leave it open.
  const sharedKv = inner.isBare || inner.isReplay ? inner.sharedKv : await openSharedKv(config, base, logger);
  return {
    isolation: isolation ?? "process",
    lanes: laneCount,
    config,
    stateDir,
    plugins: found,
    find: (id) => finder.find(id),
    configure: (id, entry) => finder.configure(id, entry),
    secrets,
    causeKey,
    sharedKv,
    logger,
  };
}

async function openSharedKv(config: CreelConfig, base: string, logger: Logger): Promise<SharedKv | undefined> {
  const url = await databaseUrlOf(config, base);
  if (url === undefined) return undefined;
  const { sharedKv } = await import("../host/services/kv/shared-kv.ts");
  return sharedKv(url, config.kv!.shared, logger);
}

function wrongKey(detail: string): CreelError {
  return new CreelError("ERR_HOST_OPTIONS", { field: "lockKey", detail });
}

/**
 * SECURITY: a plugin that knows the key of the lock could forge permissions; one that knows the shared database could read and write every
 * plugin's entries. test/contract/installed.test.ts, test/host/services/kv/shared-kv.test.ts
 */
function refuseVariable(plugin: string, env: readonly string[] = [], variable: string | undefined, what: string): void {
  const at = variable === undefined ? -1 : env.indexOf(variable);
  if (at < 0) return;
  const field = `plugins.entries.${plugin}.grants.env.${at}`;
  throw new CreelError("ERR_CONFIG_INVALID", {
    source: "the configuration",
    field,
    detail: `${variable} ${what}, which no plugin may see`,
  });
}
