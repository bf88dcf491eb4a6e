/**
 * Trusted side: asks the install guards, which are plugins that listen to `before_install` and may decide about
 * installs: installed ones, and those of `plugins.load.paths`. They run with their grants, as in the gateway, but in a
 * separate sandbox. The lock says whether an installed plugin listens; a plugin of `plugins.load.paths` must be loaded
 * to find out, without its tools and services. A guard that cannot be asked counts as a no. SECURITY:
 * test/install/install-guards.test.ts
 */
import { oneLine } from "../text/one-line.ts";
import type { Catalog, EventOf } from "../protocol/catalog.ts";
import type { CreelConfig } from "../protocol/config/config.ts";
import { CreelError } from "../protocol/errors.ts";
import { findPlugin } from "../discovery/manifest.ts";
import { resolveFrom } from "../discovery/config-file.ts";
import { openHostWith } from "../sdk/open-host.ts";
import type { FoundPlugin } from "../discovery/hook-plugins.ts";
import type { LockEntry } from "../state/lock.ts";
import { silentLogger } from "../host/report/silent-logger.ts";

const HOOK = "before_install";
/** Those that may decide about installs. Folders of hooks hear events, and are asked nothing. */
async function namedPlugins(
  config: CreelConfig,
  base: string,
  blocked: (by: string, reason: string) => CreelError,
): Promise<FoundPlugin[]> {
  const found: FoundPlugin[] = [];
  const isAllowed = (id: string): boolean => config.plugins?.entries?.[id]?.hooks?.allowInstallDecisions === true;
  if (!Object.keys(config.plugins?.entries ?? {}).some(isAllowed)) return found;
  for (const path of config.plugins?.load?.paths ?? []) {
    const where = resolveFrom(base, path);
    const { manifest, hook } = await findPlugin(where).catch((error: unknown) => {
      if (!(error instanceof CreelError)) throw error;
      throw blocked(path, `it is named in plugins.load.paths but cannot be read: ${error.message}`);
    });
    const { id, name, version } = manifest;
    if (hook || !isAllowed(id) || config.plugins?.entries?.[id]?.enabled === false) continue;
    found.push({ id, name, version, source: { path: where }, accepted: { grants: {}, hooks: {}, functions: new Set() } });
  }
  return found;
}

export type InstallEvent = EventOf<Catalog[typeof HOOK]>;

export interface InstallGuardOptions {
  readonly isolation: "process" | "thread";
  readonly config: CreelConfig;
  /** Base of the relative paths in the configuration. */
  readonly base: string;
  readonly stateDir: string;
  /** All that are installed. */
  readonly entries: Iterable<LockEntry>;
}

export interface InstallGuardFinding {
  readonly severity: string;
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

export interface Asked {
  readonly asked: string[];
  readonly findings: InstallGuardFinding[];
}

/** May the plugin decide about installs? The creel.json overrides the lock. */
function mayDecide({ id, permissions }: LockEntry, config: CreelConfig): boolean {
  return (config.plugins?.entries?.[id]?.hooks?.allowInstallDecisions ?? permissions.allowInstallDecisions) === true;
}

/** Installed plugins that listen and may not decide: they are not asked, and the operator should know. */
export function unaskedInstallGuards(entries: Iterable<LockEntry>, config: CreelConfig): string[] {
  return [...entries]
    .filter((entry) => entry.enabled && entry.hooks.some(({ hook }) => hook === HOOK) && !mayDecide(entry, config))
    .map(({ id }) => id);
}

/** Gives the findings, and the ids of the guards that were asked. Throws ERR_INSTALL_BLOCKED. */
export async function askInstallGuards(event: InstallEvent, options: InstallGuardOptions): Promise<Asked> {
  const { isolation, config, base, stateDir } = options;
  if (config.plugins?.enabled === false) return { asked: [], findings: [] };
  const blocked = (by: string, reason: string): CreelError =>
    new CreelError("ERR_INSTALL_BLOCKED", { by, plugin: event.targetName, reason: oneLine(reason) });
  const named = await namedPlugins(config, base, blocked);
  const isNamed = new Set(named.map(({ id }) => id));
  // A plugin of plugins.load.paths replaces an installed one with the same id.
  const isGuard = (entry: LockEntry): boolean => {
    const { id, enabled, hooks: own } = entry;
    const isOn = enabled && config.plugins?.entries?.[id]?.enabled !== false && !isNamed.has(id);
    return isOn && own.some(({ hook }) => hook === HOOK) && mayDecide(entry, config);
  };
  const installed = [...options.entries].filter(isGuard).map(({ id }) => id);
  if (installed.length + named.length === 0) return { asked: [], findings: [] };
  const { hooks, secrets, limits, sandbox } = config;
  const isHere = new Set([...installed, ...isNamed]);
  const entries = Object.fromEntries(Object.entries(config.plugins?.entries ?? {}).filter(([id]) => isHere.has(id)));
  await using host = await openHostWith(
    {
      isolation,
      lanes: 1,
      // Failures are checked below.
      allowFailed: true,
      logger: silentLogger,
      config: {
        plugins: { entries },
        ...(hooks?.failure && { hooks: { failure: hooks.failure } }),
        ...(secrets && { secrets }),
        ...(limits && { limits }),
        sandbox: { ...sandbox, spare: false },
      },
    },
    { base, stateDir, installed: isGuard, isEager: true, plugins: named },
  );
  for (const id of isNamed) {
    const { status, error } = host.inspect(id);
    if (status !== "ready" && status !== "quarantined")
      throw blocked(
        id,
        `it is named in plugins.load.paths, but whether it listens to before_install is unknown: ${error?.message ?? `it is ${status}`}`,
      );
  }
  const listens = (id: string): boolean => host.inspect(id).hooks.some(({ hook }) => hook === HOOK);
  const asked = [...installed, ...[...isNamed].filter(listens)];
  if (asked.length === 0) return { asked, findings: [] };
  for (const id of installed) {
    const { status, error, hooks: own } = host.inspect(id);
    // In quarantine its handlers are kept, and count as failed.
    if (status !== "quarantined" && (status !== "ready" || !own.some(({ hook }) => hook === HOOK)))
      throw blocked(id, error?.message ?? `it should decide about installs, but does not (it is ${status})`);
  }
  const { decision, by, reason, result } = await host.run(HOOK, event, {
    targetType: event.targetType,
    requestKind: event.request.kind,
    origin: event.origin,
  });
  if (decision !== "pass") throw blocked(by ?? asked[0]!, reason ?? "it gives no reason");
  const findings = (result?.findings ?? []).map(({ severity, file, line, message }) => ({
    severity,
    file: oneLine(file, 256),
    line,
    message: oneLine(message, 300),
  }));
  return { asked, findings };
}
