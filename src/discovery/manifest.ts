/** Trusted side: finds a plugin's manifest and entry file. Reads, and runs nothing. */
import { readFile, stat } from "node:fs/promises";
import { basename, dirname, extname, join, resolve, sep } from "node:path";
import { CATALOG } from "../protocol/catalog.ts";
import { pluginManifest } from "../protocol/config/config.ts";
import type { PluginManifest } from "../protocol/config/config.ts";
import { requestsByKind } from "../protocol/config/permissions.ts";
import { CreelError } from "../protocol/errors.ts";
import { pluginId } from "../protocol/rules/plugin-id.ts";
import { HOOK_FILE, hookAdapter, hookPluginId, isHookFolder, readHookFolder } from "./hook-folder.ts";
import type { HookFolder } from "./hook-folder.ts";

export interface PluginFiles {
  readonly root: string;
  readonly entry: string;
  readonly manifest: PluginManifest;
  /** The folder and all its content is the plugin's. False: the plugin is a file in a folder of others. */
  readonly ownsRoot: boolean;
  /** The text of a virtual entry that imports the real one: for files that are not written as plugins. */
  readonly adapter?: string;
  /** Set for a HOOK.md folder. */
  readonly hook?: HookFolder;
}

const OPENCLAW = "openclaw.plugin.json";
export const MANIFESTS = ["creel.plugin.json", OPENCLAW];
const ENTRIES = ["", "src/", "dist/", "lib/", "build/"].flatMap((folder) =>
  ["ts", "js", "mjs", "cjs", "mts"].map((extension) => `${folder}index.${extension}`),
);

/** `path` is a folder, with a manifest, a HOOK.md or neither, or the entry file itself. */
export async function findPlugin(path: string): Promise<PluginFiles> {
  const absolute = resolve(path);
  const stats = await stat(absolute).catch(() => undefined);
  if (!stats) throw new CreelError("ERR_PLUGIN_ENTRY", { path, problem: "does not exist" });
  if (basename(absolute) === HOOK_FILE) return hookFiles(dirname(absolute));
  if (stats.isFile()) {
    const name = basename(absolute, extname(absolute));
    const id = name === "index" ? basename(dirname(absolute)) : name;
    return { root: dirname(absolute), entry: absolute, manifest: { id: checkedId(id) }, ownsRoot: false };
  }
  const declared = await readManifest(absolute);
  if (!declared && (await isHookFolder(absolute))) return hookFiles(absolute);
  const manifest = await withVersion(absolute, declared ?? { id: checkedId(basename(absolute)) });
  const candidates = manifest.main ? spellings(manifest.main) : [...(await packageEntries(absolute)), ...ENTRIES];
  for (const candidate of candidates) {
    const entry = join(absolute, candidate);
    // SECURITY: a package names its files itself. test/discovery/entries.test.ts
    if (!entry.startsWith(absolute + sep)) continue;
    if ((await stat(entry).catch(() => undefined))?.isFile()) return { root: absolute, entry, manifest, ownsRoot: true };
  }
  throw new CreelError("ERR_PLUGIN_ENTRY", { path, problem: "has no entry file" });
}

/** A manifest that names no version has that of its package: so an author keeps it in one place. */
async function withVersion(root: string, manifest: PluginManifest): Promise<PluginManifest> {
  if (manifest.version !== undefined) return manifest;
  const text = await readFile(join(root, "package.json"), "utf8").catch(() => undefined);
  const { version } = ((text !== undefined && parseJson(text, join(root, "package.json"))) || {}) as { version?: unknown };
  return typeof version === "string" ? { ...manifest, version } : manifest;
}

async function hookFiles(root: string): Promise<PluginFiles> {
  const hook = await readHookFolder(root);
  const { entry, key, name, description, version } = hook;
  const manifest = {
    id: checkedId(hookPluginId(key)),
    name,
    hooks: [...hook.events],
    ...(description && { description }),
    ...(version && { version }),
  };
  return { root, entry, manifest, adapter: hookAdapter(hook), hook, ownsRoot: true };
}

export function checkedId(id: string): string {
  if (!pluginId.safeParse(id).success) throw new CreelError("ERR_PLUGIN_ID", { plugin: id });
  return id;
}

/** Undefined: the folder has none. Rejects when it is not valid. */
export async function readManifest(root: string): Promise<PluginManifest | undefined> {
  for (const name of MANIFESTS) {
    const path = join(root, name);
    const text = await readFile(path, "utf8").catch(() => undefined);
    if (text === undefined) continue;
    const found = parseJson(text, path);
    const parsed = pluginManifest.safeParse(name === OPENCLAW ? asOurs(found) : withRequests(found));
    if (!parsed.success) {
      const { manifestProblems } = await import("./manifest-problems.ts");
      throw new CreelError("ERR_PLUGIN_MANIFEST", { path, ...manifestProblems(text, parsed.error) });
    }
    checkedId(parsed.data.id);
    return parsed.data;
  }
  return undefined;
}

/** Permissions by key, in the form that the schema has. */
function withRequests(found: unknown): unknown {
  if (typeof found !== "object" || found === null || !("permissions" in found)) return found;
  return { ...found, permissions: requestsByKind(found.permissions) };
}

interface Package {
  openclaw?: Extensions;
  clawdbot?: Extensions;
  exports?: unknown;
  module?: unknown;
  main?: unknown;
}

interface Extensions {
  runtimeExtensions?: unknown;
  extensions?: unknown;
}

/** The entries that a package.json names: as an OpenClaw plugin first, then as a package. */
async function packageEntries(root: string): Promise<string[]> {
  const text = await readFile(join(root, "package.json"), "utf8").catch(() => undefined);
  if (text === undefined) return [];
  const found = (parseJson(text, join(root, "package.json")) ?? {}) as Package;
  // OpenClaw's former name.
  const { runtimeExtensions, extensions } = found.openclaw ?? found.clawdbot ?? {};
  const named = [runtimeExtensions, extensions, exported(found.exports), found.module, found.main].flat();
  return named.filter((entry) => typeof entry === "string").flatMap(spellings);
}

/** The package itself among its `exports`. */
function exported(exports: unknown, depth = 0): unknown {
  if (typeof exports !== "object" || exports === null || Array.isArray(exports) || depth > 4) return exports;
  const table = exports as Record<string, unknown>;
  const key = [".", "import", "default", "node", "require"].find((name) => table[name] !== undefined);
  return key === undefined ? undefined : exported(table[key], depth + 1);
}

/** The file, without its extension too, and the built one: packages are published without their sources. */
function spellings(entry: string): string[] {
  const plain = entry.replace(/^\.\//, "").replace(/\.[cm]?[jt]sx?$/, "");
  const built = plain.replace(/^src\//, "");
  return [
    entry,
    ...["ts", "js", "mjs", "cjs"].map((extension) => `${plain}.${extension}`),
    ...["js", "mjs", "cjs"].map((extension) => `dist/${built}.${extension}`),
    ...["js", "mjs", "cjs"].map((extension) => `${plain}/index.${extension}`),
  ];
}

/**
 * `permissions` and `required` in an OpenClaw manifest are not ours; of its `hooks`, the names that the catalog has
 * count.
 */
function asOurs(manifest: unknown): unknown {
  if (typeof manifest !== "object" || manifest === null) return manifest;
  const { permissions: _, required: __, hooks, ...rest } = manifest as Record<string, unknown>;
  const names = Array.isArray(hooks) ? hooks.filter((hook) => typeof hook === "string" && Object.hasOwn(CATALOG, hook)) : [];
  return names.length > 0 ? { ...rest, hooks: names } : rest;
}

function parseJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new CreelError("ERR_PLUGIN_MANIFEST", { path, field: "(whole file)", detail: (error as Error).message });
  }
}
