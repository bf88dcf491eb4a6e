/** Trusted side: the `fleet` of a configuration, with its files read. Errors name the place, never the key. */
import { readFile, stat } from "node:fs/promises";
import type { CreelConfig } from "../protocol/config/config.ts";
import { CreelError } from "../protocol/errors.ts";
import { LIMITS } from "../protocol/limits.ts";
import { resolveFrom } from "../discovery/config-file.ts";

/** How to reach the server, and as whom. */
export interface FleetAccess {
  /** This member's name; the server's permissions are tied to its key. */
  readonly name: string;
  readonly servers: readonly string[];
  /** The nkey. */
  readonly seed: Uint8Array;
  readonly ca: string | undefined;
}

export interface FleetSettings extends FleetAccess {
  /** Public keys of the operators who may change what is installed. */
  readonly operators: readonly string[];
  /** The file with this operator's private key; undefined: this member is a host. */
  readonly signingKey: string | undefined;
  /** For so many days the servers keep what hosts ship of their audit logs; undefined: hosts ship none. */
  readonly auditDays: number | undefined;
  /** Durable events go through the servers. */
  readonly isRelayed?: boolean;
}

export async function fleetSettings({ fleet }: CreelConfig, base: string): Promise<FleetSettings> {
  if (fleet === undefined) throw new CreelError("ERR_FLEET_UNSET");
  const pathOf = (path: string): string => resolveFrom(base, path);
  const { operators, signingKey, audit, causes, durable } = fleet;
  // The host has read it; here only its permissions are of interest.
  if (causes !== undefined) await readPrivate(pathOf(causes), "fleet.causes");
  const auditDays = audit && (audit.days ?? LIMITS.fleet.auditDays);
  const isRelayed = durable?.through === "jetstream";
  return { ...(await readAccess(fleet, pathOf)), operators, signingKey: signingKey && pathOf(signingKey), auditDays, isRelayed };
}

export async function readAccess(
  { name, servers, credentials, ca }: Pick<NonNullable<CreelConfig["fleet"]>, "name" | "servers" | "credentials" | "ca">,
  pathOf: (path: string) => string,
): Promise<FleetAccess> {
  return {
    name,
    servers,
    seed: Buffer.from((await readPrivate(pathOf(credentials), "fleet.credentials")).trim()),
    ca: ca === undefined ? undefined : await readPlain(pathOf(ca), "fleet.ca"),
  };
}

/** SECURITY: a key that other users can read is not used. test/fleet/permissions.test.ts */
export async function readPrivate(path: string, field: string): Promise<string> {
  const found = await stat(path).catch(() => undefined);
  if (found && process.platform !== "win32" && (found.mode & 0o077) !== 0)
    throw wrong(field, `${path} can be read by others: run "chmod 600" on it`);
  return readPlain(path, field);
}

async function readPlain(path: string, field: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw wrong(field, `${path} cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
}

function wrong(field: string, detail: string): CreelError {
  return new CreelError("ERR_CONFIG_INVALID", { source: "the configuration", field, detail });
}
