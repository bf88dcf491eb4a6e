/** Trusted side: reads `creel.json` and resolves its paths. Small, so that commands that only look are quick. */
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { firstIssue } from "../text/schema-issue.ts";
import type { CreelConfig } from "../protocol/config/config.ts";
import { CreelError } from "../protocol/errors.ts";
import { LIMITS } from "../protocol/limits.ts";
import { parseJsonc } from "../text/jsonc.ts";
import { misspeltKey } from "./misspelt-keys.ts";

/** Paths in a configuration file are relative to it. */
export function resolveFrom(base: string, path: string): string {
  return resolve(base, path.startsWith("~/") ? join(homedir(), path.slice(2)) : path);
}

/** The environment wins: a service manager knows better than a file where it may write. */
export function stateDirOf({ stateDir }: CreelConfig, base: string): string | undefined {
  const { CREEL_STATE_DIR: given } = process.env;
  if (given) return resolve(given);
  return stateDir === undefined ? undefined : resolveFrom(base, stateDir);
}

/** The key of the lock, from where the configuration says; undefined: the lock has none. Errors name the place, never the key. */
export async function lockKeyOf({ lockKey }: CreelConfig, base: string): Promise<Uint8Array | undefined> {
  if (lockKey === undefined) return undefined;
  const wrong = wrongAt("lockKey", lockKey);
  return checkedLockKey(readPlace(lockKey, base, wrong), wrong);
}

/** The key of causes that all hosts of a fleet can read; undefined: there is none. */
export async function causeKeyOf({ fleet }: CreelConfig, base: string): Promise<Uint8Array | undefined> {
  if (fleet?.causes === undefined) return undefined;
  return checkedLockKey(readPlace({ file: fleet.causes }, base, wrongCauseKey), wrongCauseKey);
}

function wrongCauseKey(detail: string): CreelError {
  return new CreelError("ERR_CONFIG_INVALID", { source: "the configuration", field: "fleet.causes", detail });
}

/** The URL of the shared database; undefined: there is none. Errors name the place, never the URL, which holds a password. */
export async function databaseUrlOf({ kv }: CreelConfig, base: string): Promise<string | undefined> {
  if (kv === undefined) return undefined;
  const wrong = wrongAt("kv.postgres", kv.postgres);
  const url = readPlace(kv.postgres, base, wrong);
  if (!/^postgres(?:ql)?:\/\//.test(url) || !URL.canParse(url)) throw wrong("it is not a URL that begins with postgres://");
  return url;
}

/** A variable of the environment, or a file. */
interface Place {
  readonly env?: string | undefined;
  readonly file?: string | undefined;
}

function wrongAt(field: string, { env }: Place): (detail: string) => CreelError {
  return (detail) =>
    new CreelError("ERR_CONFIG_INVALID", { source: "the configuration", field: `${field}.${env === undefined ? "file" : "env"}`, detail });
}

function readPlace({ env, file }: Place, base: string, wrong: (detail: string) => CreelError): string {
  const text = env === undefined ? readKeyFile(resolveFrom(base, file!), wrong) : process.env[env];
  if (text === undefined) throw wrong(`the variable ${env} is not set`);
  return text;
}

/** SECURITY: a key that can be guessed seals nothing. test/contract/installed.test.ts */
export function checkedLockKey(given: string | Uint8Array, wrong: (detail: string) => CreelError): Uint8Array {
  const key = typeof given === "string" ? Buffer.from(given) : given;
  if (key.length < LIMITS.state.lockKeyBytes) throw wrong(`the key has fewer than ${LIMITS.state.lockKeyBytes} bytes`);
  return key;
}

function readKeyFile(path: string, wrong: (detail: string) => CreelError): string {
  try {
    return readFileSync(path, "utf8").trimEnd();
  } catch (error) {
    throw wrong(`the file cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
}

export async function readConfig(config: string | object | undefined): Promise<CreelConfig> {
  const source = sourceOf(config);
  const value = valueOf(config);
  if (isPlain(value)) return value;
  const { creelConfig } = await import("../protocol/config/config.ts");
  const parsed = creelConfig.safeParse(value);
  if (!parsed.success) throw new CreelError("ERR_CONFIG_INVALID", { source, ...firstIssue(parsed.error) });
  const misspelt = misspeltKey(creelConfig, value);
  if (misspelt) throw new CreelError("ERR_CONFIG_INVALID", { source, field: misspelt.field, detail: misspelt.detail });
  return parsed.data;
}

/**
 * What a configuration says about the sandbox, before anything else of it is checked: the schema takes as long to make as a process takes to start.
 * Undefined: nothing that can be used unchecked; `readConfig` says what is wrong.
 */
export function sandboxOf(config: string | object | undefined): NonNullable<CreelConfig["sandbox"]> | undefined {
  const value = valueOf(config);
  if (typeof value !== "object" || value === null) return undefined;
  const { sandbox = {} } = value as { sandbox?: unknown };
  if (typeof sandbox !== "object" || sandbox === null || Array.isArray(sandbox)) return undefined;
  const isRight = Object.entries(sandbox).every(
    ([name, set]) => Object.hasOwn(SANDBOX, name) && SANDBOX[name as keyof typeof SANDBOX](set),
  );
  return isRight ? sandbox : undefined;
}

/** Exactly what the schema takes. test/discovery/config-file.test.ts */
const SANDBOX = {
  walls: (set: unknown) => set === "auto" || set === "none" || set === "required",
  jitless: (set: unknown) => typeof set === "boolean",
  memoryMb: (set: unknown) => typeof set === "number" && set >= 128 && set <= 65_536,
  spare: (set: unknown) => typeof set === "boolean",
} as const;

const sourceOf = (config: string | object | undefined): string => (typeof config === "string" ? config : "the configuration");

function valueOf(config: string | object | undefined): unknown {
  if (typeof config !== "string") return config ?? {};
  try {
    // A small file, and the sandbox starts only after it: not by way of other threads.
    return parseJsonc(readFileSync(config, "utf8"));
  } catch (error) {
    throw new CreelError("ERR_CONFIG_READ", { source: config, detail: (error as Error).message });
  }
}

/**
 * What `creel install` writes, and no more: it is valid, and the schema of everything else takes a command longer to make than all of its work.
 * test/discovery/config-file.test.ts
 */
function isPlain(value: unknown): value is Pick<CreelConfig, "$schema" | "stateDir"> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return Object.entries(value).every(
    ([name, inner]) => (name === "stateDir" || name === "$schema") && typeof inner === "string" && inner !== "",
  );
}
