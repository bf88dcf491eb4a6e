/**
 * Trusted side: asks the installed plugins that listen to `before_install`. They run as they would in the gateway, with their grants, in a sandbox
 * of their own; nobody else does. One that should be asked and cannot be is a no. SECURITY: test/install/guards.test.ts
 */
import { oneLine } from "../host/guest-error.ts";
import type { Catalog, EventOf } from "../protocol/catalog.ts";
import type { CreelConfig } from "../protocol/config.ts";
import { CreelError } from "../protocol/errors.ts";
import { openHostWith } from "../sdk/gateway.ts";
import type { LockEntry } from "../state/lock.ts";

const HOOK = "before_install";
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
  const isGuard = ({ id, enabled, hooks }: LockEntry): boolean =>
    enabled && config.plugins?.entries?.[id]?.enabled !== false && hooks.some(({ hook }) => hook === HOOK);
  const asked = config.plugins?.enabled === false ? [] : [...options.entries].filter(isGuard).map(({ id }) => id);
  if (asked.length === 0) return { asked, findings: [] };
  const blocked = (by: string, reason: string): CreelError =>
    new CreelError("ERR_INSTALL_BLOCKED", { by, plugin: event.targetName, reason: oneLine(reason) });
  const { hooks, secrets, limits, sandbox } = config;
  const entries = Object.fromEntries(Object.entries(config.plugins?.entries ?? {}).filter(([id]) => asked.includes(id)));
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
    { base, stateDir, installed: isGuard, isEager: true },
  );
  for (const id of asked) {
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
