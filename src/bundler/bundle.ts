/**
 * Gateway, trusted: a plugin as one script with a source map. A child process makes it (bundler.ts). The gateway never
 * parses a plugin's text, only passes it on, and checks what comes back.
 */
import { createHash } from "node:crypto";
import { basename } from "node:path";
import { CreelError } from "../protocol/errors.ts";
import { LIMITS } from "../protocol/limits.ts";
import { parseJson } from "../text/parse-json.ts";
import { bundler } from "./bundler.ts";
import type { Bundled } from "./bundler.ts";
import { readsFiles } from "./imports.ts";
import { sourceMap } from "./messages.ts";
import type { Builtin, BundleRequest, BundleScan } from "./messages.ts";

export interface PluginBundle {
  /** The body of a CommonJS module. */
  readonly code: string;
  /** Source map, as JSON text; sources are relative to the plugin's root. */
  readonly map: string;
  readonly bytes: number;
  readonly digest: string;
  /** Node modules that it requires, with their importers. */
  readonly builtins: readonly Builtin[];
  /** Whether its code can read files. If not, its cell gets none. */
  readonly readsFiles: boolean;
  /**
   * The plugin's own files, as JSON. Nothing between here and its cell parses it: it is the plugin's claim about
   * itself.
   */
  readonly own: string;
}

/** The name in stacks of a plugin given as text, and of a virtual entry. */
const INLINE = "plugin.ts";
const ADAPTER = "creel-adapter.js";
/** What an adapter imports: the file it turns into a plugin. */
export const ADAPTED = "creel:adapted";
/** The map of a bundle without code. */
const NO_MAP = `{"version":3,"sources":[],"mappings":""}`;

/**
 * `adapter` is the text of a virtual entry, which imports the real one as ADAPTED and so never mentions paths of the
 * host. `ownsRoot`: the whole folder is the plugin's. `isLiteral`: see BundleRequest.
 */
export async function bundleFile(
  root: string,
  entry: string,
  adapter?: string,
  { ownsRoot = false, isLiteral = false } = {},
): Promise<PluginBundle> {
  try {
    return checked(await builtFile(root, entry, adapter, { ownsRoot, isLiteral }));
  } catch (error) {
    // With all that packages bring along, it may be too large.
    if (isLiteral && error instanceof CreelError && error.code === "ERR_PLUGIN_SIZE") return bundleFile(root, entry, adapter, { ownsRoot });
    throw error;
  }
}

/**
 * For reviews: the bundle, and what its code reveals. The whole folder is the plugin's. `isPortable`: it is the same on
 * every machine.
 */
export async function bundleAndScan(
  root: string,
  entry: string,
  adapter: string | undefined,
  isPortable = false,
): Promise<{ bundle: PluginBundle; scan: BundleScan }> {
  const built = await builtFile(root, entry, adapter, { ownsRoot: true, scans: true, isPortable });
  if (!built.scan) throw new CreelError("ERR_PLUGIN_BUNDLE", { detail: "the bundler did not scan its code" });
  return { bundle: checked(built), scan: built.scan };
}

/**
 * For reviews of packed plugins: what the code of a finished bundle reveals. SECURITY: the bundle keeps the given bytes;
 * the child only reads them. test/install/pack/packed-plugin.test.ts
 */
export async function scanBundle(
  name: string,
  { code, map, own }: Pick<PluginBundle, "code" | "map" | "own">,
): Promise<{ bundle: PluginBundle; scan: BundleScan }> {
  const { builtins, scan } = await named(name, bundler.bundle({ cwd: "/", input: name, hasText: true, scans: true, isBuilt: true }, code));
  if (!scan) throw new CreelError("ERR_PLUGIN_BUNDLE", { detail: "the bundler did not scan its code" });
  return { bundle: checked({ code, map, own, builtins, files: 1, scan }), scan };
}

function builtFile(
  root: string,
  entry: string,
  adapter: string | undefined,
  how: Pick<BundleRequest, "ownsRoot" | "scans" | "isPortable" | "isLiteral">,
): Promise<Bundled> {
  const request = { cwd: root, root, ...how };
  return named(
    basename(entry),
    adapter === undefined
      ? bundler.bundle({ ...request, input: entry, hasText: false })
      : bundler.bundle({ ...request, input: ADAPTER, alias: { name: ADAPTED, path: entry }, hasText: true }, adapter),
  );
}

/**
 * Bundling the same text again is common: hosts are reopened, and several plugins share a text. Drops the least
 * recently used.
 */
const texts = new Map<string, Promise<PluginBundle>>();
const MAX_TEXTS = 64;
const MAX_TEXT_BYTES = 256 * 1024;

/** For plugins given as text: they have no folder, so they can only import packages. */
export function bundleText(source: string, isLiteral = false): Promise<PluginBundle> {
  const cwd = process.cwd();
  const key = createHash("sha256").update(`${cwd}\0${isLiteral}\0${source}`).digest("base64");
  const known = texts.get(key);
  texts.delete(key);
  const made = known ?? bundleNewText(cwd, source, isLiteral, () => texts.delete(key));
  texts.set(key, made);
  if (texts.size > MAX_TEXTS) texts.delete(texts.keys().next().value!);
  return made;
}

async function bundleNewText(cwd: string, source: string, isLiteral: boolean, forget: () => void): Promise<PluginBundle> {
  try {
    const made = await named(INLINE, bundler.bundle({ cwd, input: INLINE, hasText: true, isLiteral }, source));
    // Not cached: the files may change.
    if (made.files > 0 || made.code.length > MAX_TEXT_BYTES) forget();
    return checked(made);
  } catch (error) {
    forget();
    throw error;
  }
}

/** After a bundler has parsed untrusted text, its answer is untrusted, too. */
function checked({ code, map, builtins, own }: Bundled): PluginBundle {
  const bytes = Buffer.byteLength(code);
  if (bytes > LIMITS.bundler.bundleBytes)
    throw new CreelError("ERR_PLUGIN_SIZE", { bytes, limit: LIMITS.bundler.bundleBytes, largest: "" });
  if (own.length > LIMITS.plugin.packageSentChars)
    throw new CreelError("ERR_PLUGIN_BUNDLE", { detail: `its own files take ${own.length} characters` });
  const digest = `sha256-${createHash("sha256").update(code).digest("base64")}`;
  return { code, map: checkedMap(map), bytes, digest, builtins, readsFiles: readsFiles(builtins, code), own };
}

function checkedMap(map: string): string {
  if (map === "") return NO_MAP;
  if (map.length > LIMITS.bundler.mapBytes)
    throw new CreelError("ERR_PLUGIN_BUNDLE", { detail: `its source map has ${map.length} characters` });
  const parsed = parseJson(sourceMap, map);
  if (!parsed.success) throw new CreelError("ERR_PLUGIN_BUNDLE", { detail: "its source map is not valid" });
  return JSON.stringify(parsed.data);
}

/** The bundler does not know which plugin the text belongs to. */
async function named(plugin: string, bundled: Promise<Bundled>): Promise<Bundled> {
  try {
    return await bundled;
  } catch (error) {
    throw error instanceof CreelError ? new CreelError(error.code, { plugin, ...error.params }) : error;
  }
}
