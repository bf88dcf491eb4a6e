/** Trusted side: `creel.json` as a file, and where it says that things are. Small, so that commands which only look are quick. */
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { firstIssue } from "../host/issues.ts";
import { creelConfig } from "../protocol/config.ts";
import type { CreelConfig } from "../protocol/config.ts";
import { CreelError } from "../protocol/errors.ts";
import { parseJsonc } from "../protocol/jsonc.ts";

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

export async function readConfig(config: string | object | undefined): Promise<CreelConfig> {
  const source = typeof config === "string" ? config : "the configuration";
  let value: unknown = config ?? {};
  if (typeof config === "string") {
    try {
      value = parseJsonc(await readFile(config, "utf8"));
    } catch (error) {
      throw new CreelError("ERR_CONFIG_READ", { source, detail: (error as Error).message });
    }
  }
  const parsed = creelConfig.safeParse(value);
  if (!parsed.success) throw new CreelError("ERR_CONFIG_INVALID", { source, ...firstIssue(parsed.error) });
  return parsed.data;
}
