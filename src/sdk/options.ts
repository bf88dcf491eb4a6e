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
import { readSecrets } from "../host/services/secrets.ts";
import type { Secrets } from "../host/services/secrets.ts";
import type { Network } from "../host/services/exchange.ts";
import type { SessionGateway } from "../host/services/session.ts";
import { firstIssue } from "../host/issues.ts";
import { defaultLogger } from "../host/log.ts";
import type { Logger } from "../host/log.ts";
import { handled } from "../host/handled.ts";
import type { Plugin } from "../host/plugin.ts";
import { readConfig, resolveFrom, stateDirOf } from "./config-file.ts";
import type { FoundPlugin } from "./hook-plugins.ts";
import { PluginFinder } from "./plugin-finder.ts";
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
  /** Still being looked for: that takes about as long as a sandbox takes to start. */
  readonly plugins: Promise<Plugin[]>;
  /** See HostOptions. */
  readonly find: (id: string) => Promise<Plugin | undefined>;
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
  const finder = new PluginFinder({
    given: checked.data.plugins ?? [],
    config,
    base,
    lanes: laneCount,
    logger,
    stateDir,
    inner,
    isEager,
    check: ({ id, grants }) => secrets.check(id, grants, sources),
  });
  return {
    isolation: isolation ?? "process",
    lanes: laneCount,
    config,
    stateDir,
    plugins: handled(finder.all()),
    find: (id) => finder.find(id),
    secrets,
    logger,
  };
}
