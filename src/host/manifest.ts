/** Trusted side: finds a plugin's manifest and entry file. Reads, and runs nothing. */
import { readFile, stat } from "node:fs/promises";
import { basename, dirname, extname, join, resolve } from "node:path";
import { pluginManifest } from "../protocol/config.ts";
import type { PluginManifest } from "../protocol/config.ts";
import { CreelError } from "../protocol/errors.ts";
import { pluginId } from "../protocol/registration.ts";
import { HOOK_FILE, hookAdapter, hookPluginId, isHookFolder, readHookFolder } from "./hook-folder.ts";
import type { HookFolder } from "./hook-folder.ts";
import { firstIssue } from "./issues.ts";

export interface PluginFiles {
  readonly root: string;
  readonly entry: string;
  readonly manifest: PluginManifest;
  /** The folder and all that is in it is the plugin's. False: it is a file, and lies in somebody's folder. */
  readonly ownsRoot: boolean;
  /** The text of a virtual entry that imports the real one: for files that are not written as plugins. */
  readonly adapter?: string;
  /** Set for a HOOK.md folder. */
  readonly hook?: HookFolder;
}

const OPENCLAW = "openclaw.plugin.json";
export const MANIFESTS = ["creel.plugin.json", OPENCLAW];
const ENTRIES = ["index.ts", "index.js", "index.mjs", "src/index.ts", "src/index.js"];

/** `path` is a folder, with a manifest or a HOOK.md or neither, or the entry file itself. */
export async function findPlugin(path: string): Promise<PluginFiles> {
  const absolute = resolve(path);
  const stats = await stat(absolute).catch(() => undefined);
  if (!stats) throw new CreelError("ERR_PLUGIN_ENTRY", { path });
  if (basename(absolute) === HOOK_FILE) return hookFiles(dirname(absolute));
  if (stats.isFile()) {
    const name = basename(absolute, extname(absolute));
    const id = name === "index" ? basename(dirname(absolute)) : name;
    return { root: dirname(absolute), entry: absolute, manifest: { id: checkedId(id) }, ownsRoot: false };
  }
  const declared = await readManifest(absolute);
  if (!declared && (await isHookFolder(absolute))) return hookFiles(absolute);
  const manifest = declared ?? { id: checkedId(basename(absolute)) };
  const candidates = manifest.main ? [manifest.main] : [...(await packageEntries(absolute)), ...ENTRIES];
  for (const candidate of candidates) {
    const entry = join(absolute, candidate);
    if ((await stat(entry).catch(() => undefined))?.isFile()) return { root: absolute, entry, manifest, ownsRoot: true };
  }
  throw new CreelError("ERR_PLUGIN_ENTRY", { path });
}

async function hookFiles(root: string): Promise<PluginFiles> {
  const hook = await readHookFolder(root);
  const { entry, key, name, description, version } = hook;
  const manifest = { id: checkedId(hookPluginId(key)), name, ...(description && { description }), ...(version && { version }) };
  return { root, entry, manifest, adapter: hookAdapter(hook), hook, ownsRoot: true };
}

export function checkedId(id: string): string {
  if (!pluginId.safeParse(id).success) throw new CreelError("ERR_PLUGIN_ID", { plugin: id });
  return id;
}

async function readManifest(root: string): Promise<PluginManifest | undefined> {
  for (const name of MANIFESTS) {
    const path = join(root, name);
    const text = await readFile(path, "utf8").catch(() => undefined);
    if (text === undefined) continue;
    const found = parseJson(text, path);
    const parsed = pluginManifest.safeParse(name === OPENCLAW ? withoutPermissions(found) : found);
    if (!parsed.success) throw new CreelError("ERR_PLUGIN_MANIFEST", { path, ...firstIssue(parsed.error) });
    checkedId(parsed.data.id);
    return parsed.data;
  }
  return undefined;
}

/** OpenClaw packages name their entries in package.json. */
async function packageEntries(root: string): Promise<string[]> {
  const text = await readFile(join(root, "package.json"), "utf8").catch(() => undefined);
  if (text === undefined) return [];
  const found = parseJson(text, join(root, "package.json")) as { openclaw?: { runtimeExtensions?: unknown; extensions?: unknown } } | null;
  return [found?.openclaw?.runtimeExtensions, found?.openclaw?.extensions].flat().filter((entry) => typeof entry === "string");
}

/** Whatever OpenClaw means by that key, it is not ours. */
function withoutPermissions(manifest: unknown): unknown {
  if (typeof manifest !== "object" || manifest === null) return manifest;
  const { permissions: _, ...rest } = manifest as Record<string, unknown>;
  return rest;
}

function parseJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new CreelError("ERR_PLUGIN_MANIFEST", { path, field: "(whole file)", detail: (error as Error).message });
  }
}
