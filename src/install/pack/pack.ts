/**
 * Author's side: makes one archive of a plugin, to publish or to hand over: the bundle with its packages inside, so
 * that an operator fetches nothing else. The same sources give the same bytes, so that anybody can check where an
 * archive came from.
 */
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, realpath, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, matchesGlob, relative } from "node:path";
import * as z from "zod";
import { bundleAndScan } from "../../bundler/bundle.ts";
import { asciiJson } from "../../bundler/sent-files.ts";
import { findPlugin, MANIFESTS } from "../../discovery/manifest.ts";
import { CreelError } from "../../protocol/errors.ts";
import { sorted } from "../../state/lock.ts";
import { packedArchive, PACKED_AT_MS } from "../archive/tar-writer.ts";
import { copyFolder } from "../fetch/folder.ts";
import { parseStrictJson } from "../manifest/strict-json.ts";
import { configTypes } from "./config-types.ts";
import { isPacked, PACKED_BUNDLE, packedFiles } from "./packed-plugin.ts";
import type { OwnFiles } from "./packed-plugin.ts";

export interface PackedPlugin {
  readonly id: string;
  readonly version: string;
  /** The name that `npm pack` would give it. */
  readonly fileName: string;
  readonly archive: Buffer;
  /** In the archive, with their sizes. */
  readonly files: readonly { readonly name: string; readonly bytes: number }[];
  /** Files of the author's folder that the plugin can read, and that the archive carries. */
  readonly own: readonly string[];
}

/** What a registry shows. Scripts, dependencies and commands stay behind. */
const packageJson = z.looseObject({
  name: z.string().max(214).optional(),
  version: z.string().max(256).optional(),
  files: z.array(z.string()).optional(),
});
const KEPT = ["description", "license", "author", "contributors", "homepage", "repository", "bugs", "keywords", "funding", "publishConfig"];
const TEXTS = ["README.md", "LICENSE", "LICENSE.md", "LICENCE", "NOTICE", "CHANGELOG.md"];

/** `creel` is the version that packs. */
export async function packPlugin(path: string, creel: string): Promise<PackedPlugin> {
  const refuse = (detail: string): CreelError => new CreelError("ERR_PLUGIN_PACK", { folder: path, detail });
  const { root, entry, adapter, manifest, hook, ownsRoot } = await findPlugin(path);
  if (!ownsRoot) throw refuse("it is a single file; put it into a folder with a creel.plugin.json");
  if (hook) throw refuse("it is a HOOK.md folder, which is installed as it is; give it a creel.plugin.json to pack it");
  if (isPacked(manifest)) throw refuse("it is packed already");
  const found = await readPackage(root);
  const { declared } = await declaredVersion(root);
  if (declared !== undefined && found.version !== undefined && declared !== found.version)
    throw refuse(`its manifest says version ${declared}, and its package.json ${found.version}; remove it from the manifest`);
  const version = declared ?? found.version;
  if (version === undefined) throw refuse("it has no version; add one to its package.json");
  await using staged = await stage(root);
  const { bundle } = await bundleAndScan(staged.root, join(staged.root, relative(root, entry)), adapter, true);
  const own = publishedFiles(bundle.own, found.files);
  const { texts, facts } = packedFiles({ ...bundle, own: own.text }, creel);
  const name = found.name ?? manifest.id.toLowerCase();
  const { $schema: _, main: __, packed: ___, ...kept } = manifest as Record<string, unknown>;
  const about = Object.fromEntries(KEPT.filter((key) => found[key] !== undefined).map((key) => [key, found[key]]));
  const types = configTypes(manifest);
  const files = new Map<string, Uint8Array>(
    Object.entries({
      ...texts,
      "creel.plugin.json": json({ ...kept, version, main: PACKED_BUNDLE, packed: facts }),
      "package.json": json({ name, version, ...about, main: PACKED_BUNDLE, ...(types !== undefined && { types: "config.d.ts" }) }),
      ...(types !== undefined && { "config.d.ts": types }),
    }).map(([file, text]) => [file, Buffer.from(text)]),
  );
  for (const file of TEXTS) {
    const content = await readFile(join(root, file)).catch(() => undefined);
    if (content) files.set(file, content);
  }
  return {
    id: manifest.id,
    version,
    fileName: `${name.replace(/^@/, "").replace("/", "-")}-${version}.tgz`,
    archive: packedArchive(files),
    files: Array.from(files, ([file, content]) => ({ name: file, bytes: content.length })).toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    own: own.names,
  };
}

/**
 * A copy by the rules of an installation, in a folder of a fixed name: the bundler makes names of variables from the
 * names of folders. Its packages stay where they are.
 */
async function stage(root: string): Promise<AsyncDisposable & { readonly root: string }> {
  const base = await realpath(await mkdtemp(join(tmpdir(), "creel-pack-")));
  const copy = join(base, "plugin");
  await mkdir(copy);
  const disposable = { root: copy, [Symbol.asyncDispose]: () => rm(base, { recursive: true, force: true }) };
  try {
    await copyFolder(root, copy);
    const [own, ...above] = ancestors(await realpath(root)).map((folder) => join(folder, "node_modules"));
    const hoisted = above.find((folder) => existsSync(folder));
    if (existsSync(own!)) await symlink(own!, join(copy, "node_modules"));
    if (hoisted !== undefined) await symlink(hoisted, join(base, "node_modules"));
    return disposable;
  } catch (error) {
    await disposable[Symbol.asyncDispose]();
    throw error;
  }
}

/** The folder itself first. */
function ancestors(folder: string): string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...ancestors(above)];
}

const json = (value: object): string => `${JSON.stringify(sorted(value), undefined, 2)}\n`;

async function readPackage(root: string): Promise<z.infer<typeof packageJson>> {
  const bytes = await readFile(join(root, "package.json")).catch(() => undefined);
  if (!bytes) return {};
  const parsed = packageJson.safeParse(parseStrictJson(bytes, { path: "package.json" }));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new CreelError("ERR_PLUGIN_MANIFEST", { path: "package.json", field: issue!.path.join("."), detail: issue!.message });
}

/** As the manifest itself says it; discovery would take it from the package.json. */
async function declaredVersion(root: string): Promise<{ declared: string | undefined }> {
  for (const path of MANIFESTS) {
    const bytes = await readFile(join(root, path)).catch(() => undefined);
    if (bytes) return { declared: (parseStrictJson(bytes, { path }) as { version?: string }).version };
  }
  return { declared: undefined };
}

const ALWAYS = /^(?:package\.json|creel\.plugin\.json|openclaw\.plugin\.json|readme.*|licen[cs]e.*)$/i;

/**
 * The files that the plugin can read at run time: those that npm would publish. All get the same time of change, and
 * archives of an earlier `creel pack` are left out, so that packing twice gives the same bytes.
 */
function publishedFiles(own: string, only: readonly string[] | undefined): { text: string; names: string[] } {
  if (own === "") return { text: "", names: [] };
  const isWanted = (name: string): boolean =>
    !/^[^/]+\.tgz$/.test(name) &&
    (!only || name.startsWith("node_modules/") || ALWAYS.test(name) || only.some((pattern) => isBelow(name, pattern)));
  const kept = (JSON.parse(own) as OwnFiles).filter(([name]) => isWanted(name));
  const lines = kept.map(([name, , kind, ...content]) => `[${[name, PACKED_AT_MS, kind, ...content].map(asciiJson).join(",")}]`);
  return { text: `[${lines.join(",")}]`, names: kept.map(([name]) => name) };
}

function isBelow(name: string, pattern: string): boolean {
  const path = pattern.replace(/^\.?\//, "").replace(/\/$/, "");
  return name === path || name.startsWith(`${path}/`) || matchesGlob(name, path);
}
