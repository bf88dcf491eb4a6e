/**
 * Trusted side: asks the plugins that listen to `before_install`: those that are installed, and those that the operator named in `plugins.load.paths`. They
 * run as they would in the gateway, with their grants, in a sandbox of their own. Of an installed one the lock says whether it is to be asked; of one that
 * was named nobody knows before it is loaded, so all of them are, without their tools and services. One that should be asked and cannot be is a
 * no, and so is one of which it cannot be known. SECURITY: test/install/guards.test.ts
 */
import { oneLine } from "../host/guest-error.ts";
import type { Catalog, EventOf } from "../protocol/catalog.ts";
import type { CreelConfig } from "../protocol/config.ts";
import { CreelError } from "../protocol/errors.ts";
import { findPlugin } from "../host/manifest.ts";
import { resolveFrom } from "../sdk/config-file.ts";
import { openHostWith } from "../sdk/gateway.ts";
import type { FoundPlugin } from "../sdk/hook-plugins.ts";
import type { LockEntry } from "../state/lock.ts";

const HOOK = "before_install";
/** Folders of hooks hear events, and are asked nothing. */
async function namedPlugins(
  config: CreelConfig,
  base: string,
  blocked: (by: string, reason: string) => CreelError,
): Promise<FoundPlugin[]> {
  const found: FoundPlugin[] = [];
  for (const path of config.plugins?.load?.paths ?? []) {
    const where = resolveFrom(base, path);
    const { manifest, hook } = await findPlugin(where).catch((error: unknown) => {
      if (!(error instanceof CreelError)) throw error;
      throw blocked(path, `it is named in plugins.load.paths, and cannot be read: ${error.message}`);
    });
    const { id, name, version } = manifest;
    if (hook || config.plugins?.entries?.[id]?.enabled === false) continue;
    found.push({ id, name, version, source: { path: where }, accepted: { grants: {}, hooks: {}, functions: new Set() } });
  }
  return found;
}

const silent = { debug() {}, info() {}, warn() {}, error() {} };

export type InstallEvent = EventOf<Catalog[typeof HOOK]>;

export interface GuardOptions {
  readonly isolation: "process" | "thread";
  readonly config: CreelConfig;
  /** What its paths are relative to. */
  readonly base: string;
  readonly stateDir: string;
  /** All that are installed. */
  readonly entries: Iterable<LockEntry>;
}

export interface GuardFinding {
  readonly severity: string;
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

/** Gives what they found, and the names of those who were asked. Throws ERR_INSTALL_BLOCKED. */
export async function askGuards(event: InstallEvent, options: GuardOptions): Promise<{ asked: string[]; findings: GuardFinding[] }> {
  const { isolation, config, base, stateDir } = options;
  if (config.plugins?.enabled === false) return { asked: [], findings: [] };
  const blocked = (by: string, reason: string): CreelError =>
    new CreelError("ERR_INSTALL_BLOCKED", { by, plugin: event.targetName, reason: oneLine(reason) });
  const named = await namedPlugins(config, base, blocked);
  const isNamed = new Set(named.map(({ id }) => id));
  // One that was named takes the place of an installed one of its id.
  const isGuard = ({ id, enabled, hooks }: LockEntry): boolean =>
    enabled && config.plugins?.entries?.[id]?.enabled !== false && hooks.some(({ hook }) => hook === HOOK) && !isNamed.has(id);
  const installed = [...options.entries].filter(isGuard).map(({ id }) => id);
  if (installed.length + named.length === 0) return { asked: [], findings: [] };
  const { hooks, secrets, limits, sandbox } = config;
  const isHere = new Set([...installed, ...isNamed]);
  const entries = Object.fromEntries(Object.entries(config.plugins?.entries ?? {}).filter(([id]) => isHere.has(id)));
  await using host = await openHostWith(
    {
      isolation,
      lanes: 1,
      logger: silent,
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
        `it is named in plugins.load.paths, and whether it looks at what is installed cannot be known: ${error?.message ?? `it is ${status}`}`,
      );
  }
  const listens = (id: string): boolean => host.inspect(id).hooks.some(({ hook }) => hook === HOOK);
  const asked = [...installed, ...[...isNamed].filter(listens)];
  if (asked.length === 0) return { asked, findings: [] };
  for (const id of installed) {
    const { status, error, hooks: own } = host.inspect(id);
    // In quarantine its handlers are kept, and count as failed.
    if (status !== "quarantined" && (status !== "ready" || !own.some(({ hook }) => hook === HOOK)))
      throw blocked(id, error?.message ?? `it should look at what is installed, and does not (it is ${status})`);
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
