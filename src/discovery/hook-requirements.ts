/**
 * Trusted side: whether this gateway meets the conditions of a HOOK.md folder. The rules are OpenClaw's, except where a
 * sandbox makes them moot.
 */
import type { HookConditions } from "./hook-folder.ts";

/** What a gateway has even if it does not mention these. */
const CONFIG_DEFAULTS = new Set(["workspace.dir", "browser.enabled", "browser.evaluateEnabled"]);

export interface Surroundings {
  readonly platform: string;
  /** The environment that the operator gives this hook; the gateway's own never reaches a plugin. */
  readonly env: Readonly<Record<string, string>>;
  readonly config: unknown;
}

/** Why the hook cannot be loaded, with a remedy; undefined if it can. */
export function unmet(hook: HookConditions, { platform, env, config }: Surroundings): string | undefined {
  const { os, always, requires } = hook;
  if (os.length > 0 && !os.includes(platform)) return `the hook is for ${os.join(", ")}, but this is ${platform}`;
  if (always) return undefined;
  // Node is what the hook is written for, not a program that it starts.
  const programs = [...requires.bins, ...requires.anyBins].filter((program) => program !== "node");
  if (programs.length > 0) return `the hook requires ${programs.join(", ")}, but a sandboxed hook cannot run programs`;
  const missing = requires.env.find((variable) => !env[variable]);
  if (missing !== undefined) return `the hook requires ${missing}: set hooks.internal.entries.${hook.key}.env.${missing}`;
  const unset = requires.config.find((path) => !isSet(config, path));
  if (unset !== undefined) return `the hook requires the configuration "${unset}", which is not set`;
  return undefined;
}

function isSet(config: unknown, path: string): boolean {
  let value = config;
  for (const part of path.split(".")) {
    const isObject = typeof value === "object" && value !== null;
    value = isObject && Object.hasOwn(value as object, part) ? (value as Record<string, unknown>)[part] : undefined;
  }
  if (value === undefined) return CONFIG_DEFAULTS.has(path);
  return typeof value === "string" ? value.trim() !== "" : Boolean(value);
}
