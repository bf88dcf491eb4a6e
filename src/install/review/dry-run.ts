/**
 * Trusted side: the dry run. Loads a plugin once in a separate sandbox without grants, and discards it, to see what it
 * registers and what it tries at once. SECURITY: test/install/install.test.ts has plugins that try everything.
 */
import { channel } from "node:diagnostics_channel";
import { setTimeout as wait } from "node:timers/promises";
import type { PluginBundle } from "../../bundler/bundle.ts";
import type { Facts } from "../../host/report/events.ts";
import { oneLine } from "../../text/one-line.ts";
import type { PluginReport } from "../../host/report/inspect.ts";
import type { CreelConfig, PluginManifest } from "../../protocol/config/config.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { openHostWith } from "../../sdk/open-host.ts";
import { silentLogger } from "../../host/report/silent-logger.ts";
import type { ConfigSchema } from "../manifest/config-schema.ts";
import { sampleConfigs } from "./sample-config.ts";

export interface DryRun {
  readonly report: PluginReport;
  /** The lines it logged. */
  readonly log: readonly string[];
  /** The requests that were refused. */
  readonly refused: readonly string[];
}

export interface DryRunOptions {
  readonly isolation: "process" | "thread";
  readonly sandbox: CreelConfig["sandbox"];
  /** The operator's configuration of the plugin, since some plugins register by it. */
  readonly config: Record<string, unknown>;
  /** How long it is watched after it has registered. */
  readonly watchMs: number;
}

/** For people: a plugin may write without end. */
const MAX_LINES = 20;
const MAX_CHARS = 200;

async function dryRun(manifest: PluginManifest, bundle: PluginBundle, options: DryRunOptions): Promise<DryRun> {
  const { id, name, version, description, contracts } = manifest;
  const { isolation, sandbox, config, watchMs } = options;
  // Before the host opens: the plugin logs while it loads.
  using log = collected("log");
  using refused = collected("refused");
  await using host = await openHostWith(
    { isolation, lanes: 1, allowFailed: true, logger: silentLogger, config: { sandbox: { ...sandbox, spare: false } } },
    {
      isBare: true,
      plugins: [
        {
          id,
          name,
          version,
          description,
          contractTools: contracts && (contracts.tools ?? []),
          source: { bundle: async () => bundle },
          config,
          // Lets all hooks register, so that the review shows them. There is no conversation to read here.
          // Its volume is empty, in memory, and discarded: a plugin may make a folder while it registers.
          accepted: { grants: { fs: true }, hooks: { allowConversationAccess: true, allowInstallDecisions: true } },
        },
      ],
    },
  );
  // Work that it started while it registered continues for a moment.
  await wait(watchMs);
  return {
    report: host.inspect(id),
    log: few(log.of(host.id).map(({ level, text }) => `${level}: ${text}`)),
    refused: few(refused.of(host.id).map(({ message }) => message)),
  };
}

export interface ConfiguredRun extends DryRun {
  /** It registers, but not as it is configured: what it said. */
  readonly needsConfiguration: string | undefined;
}

/**
 * A plugin that throws because it is not configured is tried with sample values for what its configSchema names, so that
 * its review shows what it will register. SECURITY: only what it registered here can be accepted, and a host judges it
 * by its real configuration. test/install/needs-configuration.test.ts
 */
export async function configuredRun(
  manifest: PluginManifest,
  bundle: PluginBundle,
  options: DryRunOptions,
  schema: ConfigSchema | undefined,
): Promise<ConfiguredRun> {
  const first = await dryRun(manifest, bundle, options);
  const { error } = first.report;
  // Its own throw, and no limit or crash.
  if (error?.code !== "ERR_PLUGIN_LOAD") return { ...first, needsConfiguration: undefined };
  for (const config of sampleConfigs(schema, options.config)) {
    const next = await dryRun(manifest, bundle, { ...options, config });
    if (!next.report.error) return { ...next, needsConfiguration: error.message };
  }
  return { ...first, needsConfiguration: undefined };
}

interface Collected<K extends keyof Facts> extends Disposable {
  of(host: string): Facts[K][];
}

/** Collects facts of one kind. All hosts of a process share the channels, so each fact names its host. */
function collected<K extends keyof Facts>(name: K): Collected<K> {
  const facts: (Facts[K] & { host: string })[] = [];
  const listen = (fact: unknown): void => {
    if (facts.length < LIMITS.install.dryRunFacts) facts.push(fact as Facts[K] & { host: string });
  };
  const source = channel(`creel:${name}`);
  source.subscribe(listen);
  return {
    of: (host) => facts.filter((fact) => fact.host === host),
    [Symbol.dispose]: () => source.unsubscribe(listen),
  };
}

function few(lines: readonly string[]): string[] {
  const once = [...new Set(lines.map((line) => oneLine(line, MAX_CHARS)))];
  return once.length > MAX_LINES ? [...once.slice(0, MAX_LINES), `and ${once.length - MAX_LINES} more`] : once;
}
