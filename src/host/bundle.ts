/**
 * Trusted side: a plugin as one script, with a source map. It is made in another process (bundler.ts): here a plugin's text is never
 * parsed, only handed on, and what comes back is checked.
 */
import { createHash } from "node:crypto";
import { basename } from "node:path";
import { CreelError } from "../protocol/errors.ts";
import { LIMITS } from "../protocol/limits.ts";
import { bundler } from "./bundler.ts";
import type { Bundled } from "./bundler.ts";
import { readsFiles } from "./bundler-imports.ts";
import { sourceMap } from "./bundler-message.ts";
import type { Builtin, BundleScan } from "./bundler-message.ts";

export interface PluginBundle {
  /** The body of a CommonJS module. */
  readonly code: string;
  /** Source map, as JSON text; sources are relative to the plugin's root. */
  readonly map: string;
  readonly bytes: number;
  readonly digest: string;
  /** Which of Node's modules it requires, and who imports them. */
  readonly builtins: readonly Builtin[];
  /** Can its code read files? Whoever cannot is sent none. */
  readonly readsFiles: boolean;
  /** The plugin's own files, as JSON. Nobody on the way to its cell looks into it: it is the plugin's word about itself. */
  readonly own: string;
}

/** What stacks call a plugin that was given as text, and a virtual entry. */
const INLINE = "plugin.ts";
const ADAPTER = "creel-adapter.js";
/** What an adapter imports: the file it makes a plugin of. */
export const ADAPTED = "creel:adapted";
/** The map of a bundle without code. */
const NO_MAP = `{"version":3,"sources":[],"mappings":""}`;

/** `adapter` is the text of a virtual entry, which imports the real one as ADAPTED and so never mentions the host's paths. `ownsRoot`: all of the folder is the plugin's. */
export async function bundleFile(root: string, entry: string, adapter?: string, ownsRoot = false): Promise<PluginBundle> {
  return checked(await builtFile(root, entry, adapter, ownsRoot, false));
}

/** For whoever is to decide about a plugin: the bundle, and what its code shows. All of the folder is the plugin's. */
export async function bundleAndScan(
  root: string,
  entry: string,
  adapter: string | undefined,
): Promise<{ bundle: PluginBundle; scan: BundleScan }> {
  const built = await builtFile(root, entry, adapter, true, true);
  if (!built.scan) throw new CreelError("ERR_PLUGIN_BUNDLE", { detail: "the bundler did not say what its code shows" });
  return { bundle: checked(built), scan: built.scan };
}

function builtFile(root: string, entry: string, adapter: string | undefined, ownsRoot: boolean, scans: boolean): Promise<Bundled> {
  const request = { kind: "plugin", cwd: root, root, ownsRoot, scans } as const;
  return named(
    basename(entry),
    adapter === undefined
      ? bundler.bundle({ ...request, input: entry, hasText: false })
      : bundler.bundle({ ...request, input: ADAPTER, alias: { name: ADAPTED, path: entry }, hasText: true }, adapter),
  );
}

/** Bundling the same text again is common: hosts are opened again, several plugins have one text. The least recently used goes. */
const texts = new Map<string, Promise<PluginBundle>>();
const MAX_TEXTS = 64;
const MAX_TEXT_BYTES = 256 * 1024;

/** For plugins given as text: there is no folder, so they can import packages and nothing else. */
export function bundleText(source: string): Promise<PluginBundle> {
  const cwd = process.cwd();
  const key = createHash("sha256").update(`${cwd}\0${source}`).digest("base64");
  const known = texts.get(key);
  texts.delete(key);
  const made = known ?? bundleNewText(cwd, source, () => texts.delete(key));
  texts.set(key, made);
  if (texts.size > MAX_TEXTS) texts.delete(texts.keys().next().value!);
  return made;
}

async function bundleNewText(cwd: string, source: string, forget: () => void): Promise<PluginBundle> {
  try {
    const made = await named(INLINE, bundler.bundle({ kind: "plugin", cwd, input: INLINE, hasText: true }, source));
    // Files may be others the next time.
    if (made.files > 0 || made.code.length > MAX_TEXT_BYTES) forget();
    return checked(made);
  } catch (error) {
    forget();
    throw error;
  }
}

/** What a bundler says after it has read a stranger's text is a stranger's word, too. */
function checked({ code, map, builtins, own }: Bundled): PluginBundle {
  const bytes = Buffer.byteLength(code);
  if (bytes > LIMITS.bundleBytes) throw new CreelError("ERR_PLUGIN_SIZE", { bytes, limit: LIMITS.bundleBytes });
  if (own.length > LIMITS.packageSentChars)
    throw new CreelError("ERR_PLUGIN_BUNDLE", { detail: `its own files take ${own.length} characters` });
  const digest = `sha256-${createHash("sha256").update(code).digest("base64")}`;
  return { code, map: checkedMap(map), bytes, digest, builtins, readsFiles: readsFiles(builtins, code), own };
}

function checkedMap(map: string): string {
  if (map === "") return NO_MAP;
  if (map.length > LIMITS.bundleMapBytes)
    throw new CreelError("ERR_PLUGIN_BUNDLE", { detail: `its source map has ${map.length} characters` });
  let found: unknown;
  try {
    found = JSON.parse(map);
  } catch {
    found = undefined;
  }
  const parsed = sourceMap.safeParse(found);
  if (!parsed.success) throw new CreelError("ERR_PLUGIN_BUNDLE", { detail: "its source map is not one" });
  return JSON.stringify(parsed.data);
}

/** The bundler does not know whose text it was given. */
async function named(plugin: string, bundled: Promise<Bundled>): Promise<Bundled> {
  try {
    return await bundled;
  } catch (error) {
    throw error instanceof CreelError ? new CreelError(error.code, { plugin, ...error.params }) : error;
  }
}
