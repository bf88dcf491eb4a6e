/** What a plugin's `openclaw.plugin.json` says that it provides, and the sandbox cannot: read without running the plugin. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Fields of the manifest, as lists of names or tables by name. */
const FIELDS = ["channels", "providers", "cliBackends", "mcpServers"] as const;
/** `kind` has other words, too, which mean nothing to OpenClaw. */
const KINDS: ReadonlySet<unknown> = new Set(["memory", "context-engine"]);

/** By field, the names; without those that the plugin does not have. */
function nativeOnly(dir: string): ReadonlyMap<string, readonly string[]> {
  const manifest = manifestOf(dir);
  const found = FIELDS.map((field): [string, string[]] => [field, namesOf(manifest[field])]);
  const kinds = [manifest.kind].flat().filter((kind) => KINDS.has(kind));
  return new Map([...found, ["kind", kinds.map(String)] as const].filter(([, names]) => names.length > 0));
}

/** In words, for `plan` and `policy`. */
export function nativeOnlyLines(dir: string): string[] {
  return [...nativeOnly(dir)].map(([field, names]) => `${field} of its openclaw.plugin.json: ${names.join(", ")}`);
}

function manifestOf(dir: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(readFileSync(join(dir, "openclaw.plugin.json"), "utf8"))) as Record<string, unknown>;
  } catch {
    return {};
  }
}

function namesOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.map(String);
  return typeof value === "object" && value !== null ? Object.keys(value) : [];
}
