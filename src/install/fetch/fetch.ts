/**
 * Fetches a plugin and its dependencies into a staging folder: downloaded by the operator's npm and git, checked
 * against the registry's integrity, unpacked by the archive rules. Runs no code of the plugin, and changes nothing
 * outside the staging folder.
 */
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { CreelError } from "../../protocol/errors.ts";
import { unpack } from "../archive/archive.ts";
import type { Unpacked } from "../archive/archive.ts";
import { expectRegistrySpecs } from "./dependency-spec.ts";
import type { Dependencies } from "./dependency-spec.ts";
import { copyFolder } from "./folder.ts";
import { archive } from "./git.ts";
import { announced, pack, resolve } from "./npm.ts";
import type { Announced, Dependency, NpmOptions } from "./npm.ts";
import type { Source } from "./source.ts";
import { oneLine } from "../../text/one-line.ts";
import { parseStrictJson } from "../manifest/strict-json.ts";

export type FetchStep =
  | { readonly step: "fetch"; readonly what: string }
  | { readonly step: "verify"; readonly packages: number }
  | { readonly step: "unpack"; readonly what: string; readonly at: number; readonly of: number };

export interface FetchOptions extends NpmOptions {
  readonly progress?: ((step: FetchStep) => void) | undefined;
  /** Not a part of any folder that is installed: the state folder, the operator's creel.json. */
  readonly without?: readonly string[] | undefined;
}

export interface Fetched {
  /** What exactly was fetched: a package with its version, a commit, or a file. */
  readonly resolved: string;
  /** Of the package's archive, or of the list of its files if there is no archive. */
  readonly integrity: string;
  /** The plugin's own folder; its dependencies are in its node_modules. */
  readonly root: string;
  readonly files: Unpacked["files"];
  /** Of the plugin and its dependencies, unpacked. */
  readonly bytes: number;
  readonly package: PackageFacts | undefined;
  readonly dependencies: readonly Dependency[];
  /** The registry's metadata; undefined: it does not come from a registry. */
  readonly announced?: Announced | undefined;
}

export interface PackageFacts {
  readonly name: string | undefined;
  readonly version: string | undefined;
  /** Names of lifecycle scripts that npm would run, and Creel does not. */
  readonly installScripts: readonly string[];
  readonly hasBin: boolean;
}

const INSTALL_SCRIPTS = ["preinstall", "install", "postinstall", "prepublish", "preprepare", "prepare", "postprepare"];
/** The gateway's own side, which the sandbox provides. */
const PROVIDED = new Set(["openclaw", "creel", "@openclaw/plugin-sdk"]);

const manifest = z.looseObject({
  name: z.string().max(214).optional(),
  version: z.string().max(256).optional(),
  dependencies: z.record(z.string(), z.string()).optional(),
  optionalDependencies: z.record(z.string(), z.string()).optional(),
  peerDependencies: z.record(z.string(), z.string()).optional(),
  bundleDependencies: z.union([z.array(z.string()), z.boolean()]).optional(),
  bundledDependencies: z.union([z.array(z.string()), z.boolean()]).optional(),
  scripts: z.record(z.string(), z.unknown()).optional(),
  bin: z.unknown().optional(),
});

/** `staging` is an empty folder that no other process writes to. */
export async function fetchPlugin(source: Source, staging: string, options: FetchOptions = {}): Promise<Fetched> {
  const root = join(staging, "plugin");
  await mkdir(root, { mode: 0o700 });
  const { resolved, unpacked, said } = await bring(source, root, staging, options);
  const found = await readPackage(root);
  const external = (from: Dependencies | undefined): Dependencies =>
    Object.fromEntries(Object.entries(from ?? {}).filter(([name]) => !PROVIDED.has(name) && !isBundled(found!, name)));
  const needed = external(found?.dependencies);
  // SECURITY: checked before npm sees them. Development dependencies are never fetched.
  // test/install/fetch/npm-reach.test.ts
  expectRegistrySpecs(found?.name ?? "the plugin", needed, external(found?.optionalDependencies), external(found?.peerDependencies));
  const dependencies = await resolve(needed, join(staging, "resolve"), options);
  const more = await bringDependencies(dependencies, root, staging, options);
  return {
    resolved,
    integrity: unpacked.integrity,
    root,
    files: unpacked.files,
    bytes: unpacked.bytes + more,
    package: found && {
      name: found.name,
      version: found.version,
      installScripts: INSTALL_SCRIPTS.filter((name) => found.scripts?.[name] !== undefined),
      hasBin: found.bin !== undefined,
    },
    dependencies,
    announced: said,
  };
}

interface Brought {
  readonly resolved: string;
  readonly unpacked: Unpacked;
  readonly said?: Announced;
}

async function bring(source: Source, root: string, staging: string, options: FetchOptions): Promise<Brought> {
  const { progress, signal, without } = options;
  switch (source.kind) {
    case "npm": {
      progress?.({ step: "fetch", what: source.spec });
      const [packed] = await pack([source.spec], join(staging, "archives"), options);
      const said = await announced(packed!, join(staging, "archives"), options);
      progress?.({ step: "verify", packages: 1 });
      progress?.({ step: "unpack", what: `${packed!.name}@${packed!.version}`, at: 1, of: 1 });
      const unpacked = await unpackInto(packed!.path, root, signal);
      expectIntegrity(`${packed!.name}@${packed!.version}`, unpacked.integrity, packed!.integrity);
      return { resolved: `${packed!.name}@${packed!.version}`, unpacked, said };
    }
    case "tarball":
      progress?.({ step: "unpack", what: source.path, at: 1, of: 1 });
      return { resolved: source.path, unpacked: await unpackInto(source.path, root, signal) };
    case "folder":
      progress?.({ step: "unpack", what: source.path, at: 1, of: 1 });
      return { resolved: source.path, unpacked: await copyFolder(source.path, root, { signal, without }) };
    default:
      return await bringCommit(source, root, staging, options);
  }
}

async function bringCommit(
  source: Extract<Source, { kind: "git" }>,
  root: string,
  staging: string,
  { progress, signal }: FetchOptions,
): Promise<Brought> {
  progress?.({ step: "fetch", what: source.url });
  const { path, commit } = await archive(source, staging, signal);
  return { resolved: `${source.url}#${commit}`, unpacked: await unpackInto(path, root, signal) };
}

async function bringDependencies(
  dependencies: readonly Dependency[],
  root: string,
  staging: string,
  options: FetchOptions,
): Promise<number> {
  if (dependencies.length === 0) return 0;
  const specs = [...new Set(dependencies.map(({ name, version }) => `${name}@${version}`))];
  options.progress?.({ step: "fetch", what: `${specs.length} required package${specs.length === 1 ? "" : "s"}` });
  const packed = await pack(specs, join(staging, "archives"), options);
  options.progress?.({ step: "verify", packages: packed.length });
  const paths = new Map(specs.map((spec, at) => [spec, packed[at]!.path]));
  let bytes = 0;
  for (const [at, { name, version, path, integrity }] of dependencies.entries()) {
    options.progress?.({ step: "unpack", what: name, at: at + 1, of: dependencies.length });
    const into = join(root, path);
    await mkdir(into, { recursive: true, mode: 0o700 });
    const unpacked = await unpackInto(paths.get(`${name}@${version}`)!, into, options.signal).catch((error: unknown) => {
      const { what, entry } = error instanceof CreelError ? error.params : {};
      if (!(error instanceof CreelError) || (what === undefined && entry === undefined)) throw error;
      const whose = oneLine(`${name}@${version}`, 300);
      throw new CreelError(error.code, {
        ...error.params,
        ...(what !== undefined && { what: `${what}, in ${whose}` }),
        ...(entry !== undefined && { entry: `${whose}/${entry}` }),
      });
    });
    expectIntegrity(`${name}@${version}`, unpacked.integrity, integrity);
    bytes += unpacked.bytes;
  }
  return bytes;
}

function unpackInto(path: string, into: string, signal: AbortSignal | undefined): Promise<Unpacked> {
  return unpack(path, into, signal ? { signal } : {});
}

// SECURITY: the unpacked bytes are those that the registry announced. test/install/fetch/fetch.test.ts
function expectIntegrity(what: string, found: string, expected: string): void {
  if (found !== expected) throw new CreelError("ERR_INSTALL_INTEGRITY", { what, found, expected });
}

async function readPackage(root: string): Promise<z.infer<typeof manifest> | undefined> {
  const bytes = await readFile(join(root, "package.json")).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (!bytes) return undefined;
  const parsed = manifest.safeParse(parseStrictJson(bytes, { path: "package.json" }));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new CreelError("ERR_PLUGIN_MANIFEST", { path: "package.json", field: issue!.path.join("."), detail: issue!.message });
}

/** It came with the archive. */
function isBundled({ bundleDependencies, bundledDependencies }: z.infer<typeof manifest>, name: string): boolean {
  const bundled = bundleDependencies ?? bundledDependencies;
  return bundled === true || (Array.isArray(bundled) && bundled.includes(name));
}
