/**
 * Trusted side: makes one script of a plugin's TypeScript or JavaScript and its pure-JS dependencies, with a source map.
 * Nothing of the plugin runs here. What the sandbox does not have stays a `require`, which fails inside with its name.
 */
import { createHash } from "node:crypto";
import { isBuiltin } from "node:module";
import { resolve } from "node:path";
import type { RolldownPlugin } from "rolldown";
import { CreelError } from "../protocol/errors.ts";
import { LIMITS } from "../protocol/limits.ts";

export interface PluginBundle {
  /** The body of a CommonJS module. */
  readonly code: string;
  /** Source map, as JSON text; sources are relative to the plugin's root. */
  readonly map: string;
  readonly bytes: number;
  readonly digest: string;
}

/** The SDKs are types and identity functions: nothing of them is needed inside. */
const SDK = /^(?:creel\/plugin|openclaw\/plugin-sdk(?:\/.*)?)$/;
const SDK_CODE =
  "export const definePlugin = (plugin) => plugin; export const definePluginEntry = (plugin) => plugin; export const emptyPluginConfigSchema = () => ({ type: 'object', additionalProperties: false, properties: {} });";
/** What stacks call a plugin that was given as text, and a virtual entry. */
const INLINE = "plugin.ts";
const ADAPTER = "creel-adapter.js";
/** What an adapter imports: the file it makes a plugin of. */
export const ADAPTED = "creel:adapted";

/** `adapter` is the text of a virtual entry, which imports the real one as ADAPTED and so never mentions the host's paths. */
export async function bundleFile(root: string, entry: string, adapter?: string): Promise<PluginBundle> {
  return bundle(adapter === undefined ? { input: entry, cwd: root } : { input: ADAPTER, cwd: root, source: adapter, adapted: entry });
}

const inline = new Map<string, Promise<PluginBundle>>();
/** Bundling the same text again is common in tests and reloads; the texts are small. */
const INLINE_KEPT = 64;

/** For plugins given as text. */
export function bundleText(source: string): Promise<PluginBundle> {
  const known = inline.get(source);
  if (known) return known;
  const made = bundle({ input: INLINE, cwd: process.cwd(), source });
  inline.set(source, made);
  if (inline.size > INLINE_KEPT) inline.delete(inline.keys().next().value!);
  return made;
}

interface BundleInput {
  readonly input: string;
  readonly cwd: string;
  readonly source?: string;
  readonly adapted?: string;
}

async function bundle({ input, cwd, source, adapted }: BundleInput): Promise<PluginBundle> {
  // Loading the bundler takes tens of milliseconds; a host whose plugins are all installed never needs it.
  const { rolldown } = await import("rolldown");
  const virtual: RolldownPlugin = {
    name: "creel",
    resolveId: (id, importer) => {
      if (SDK.test(id)) return "\0creel-sdk";
      if (adapted !== undefined && id === ADAPTED) return adapted;
      if (source !== undefined && importer === undefined) return resolve(cwd, input);
      return null;
    },
    load: (id) => {
      if (id === "\0creel-sdk") return SDK_CODE;
      return source !== undefined && id === resolve(cwd, input) ? source : null;
    },
  };
  let output;
  try {
    await using build = await rolldown({
      input,
      cwd,
      plugins: [virtual],
      external: (id) => isBuiltin(id),
      platform: "neutral",
      resolve: {
        mainFields: ["module", "main"],
        conditionNames: ["import", "module", "default"],
        extensionAlias: { ".js": [".ts", ".js"] },
      },
      logLevel: "silent",
      treeshake: true,
    });
    output = (await build.generate({ format: "cjs", exports: "named", sourcemap: "hidden", codeSplitting: false, file: "plugin.js" }))
      .output[0];
  } catch (error) {
    throw new CreelError("ERR_PLUGIN_BUNDLE", { detail: firstLines(error) });
  }
  const { code } = output;
  const bytes = Buffer.byteLength(code);
  if (bytes > LIMITS.bundleBytes) throw new CreelError("ERR_PLUGIN_SIZE", { bytes, limit: LIMITS.bundleBytes });
  return { code, map: output.map!.toString(), bytes, digest: `sha256-${createHash("sha256").update(code).digest("base64")}` };
}

function firstLines(error: unknown): string {
  // oxlint-disable-next-line no-control-regex -- the bundler colours its messages
  const text = (error instanceof Error ? error.message : String(error)).replaceAll(/\u001b\[[0-9;]*m/g, "");
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("Build failed"))
    .slice(0, 6)
    .join(" ");
}
