/**
 * Trusted side: finds out for `creel outdated` what the source of an installed plugin has now. Installs, bundles and
 * runs nothing, and does not touch the state folder: fetched files go into a temporary folder. Dependencies are not
 * checked.
 */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { CreelError } from "../../protocol/errors.ts";
import type { LockEntry } from "../../state/lock.ts";
import { unpack } from "../archive/archive.ts";
import { copyFolder } from "./folder.ts";
import { commitOf } from "./git.ts";
import { readPluginFiles } from "../manifest/manifest.ts";
import { offeredBy } from "./npm.ts";
import type { NpmOptions } from "./npm.ts";
import { parseSource } from "./source.ts";

export interface Available {
  /** `changed`: other bytes of the same version. */
  readonly status: "current" | "newer" | "changed";
  /** The version or commit of the source. Undefined: it has no version. */
  readonly version: string | undefined;
}

export interface AvailableOptions extends NpmOptions {
  /** The state folder and the creel.json, which may be inside the plugin's folder. */
  readonly without: readonly string[];
}

async function availableOf({ source: { spec, resolved, integrity }, version }: LockEntry, options: AvailableOptions): Promise<Available> {
  const source = await parseSource(spec);
  if (source.kind === "git") {
    const commit = await commitOf(source, options.signal);
    return { status: resolved.endsWith(`#${commit}`) ? "current" : "newer", version: commit.slice(0, 12) };
  }
  const folder = await mkdtemp(join(tmpdir(), "creel-outdated-"));
  try {
    // Otherwise npm looks for a project, and its settings, in the folders above.
    await writeFile(join(folder, "package.json"), "{}");
    if (source.kind === "npm") {
      const found = await offeredBy(source.spec, folder, options);
      return { status: statusOf(version !== found.version, integrity !== found.integrity), version: found.version };
    }
    const root = join(folder, "plugin");
    const { signal, without } = options;
    const found = await (source.kind === "folder"
      ? copyFolder(source.path, await made(root), { signal, without })
      : unpack(source.path, await made(root), signal ? { signal } : {}));
    const { manifest } = await readPluginFiles({ root, package: undefined }, basename(source.path));
    const isOther = manifest.version !== undefined && manifest.version !== version;
    return { status: statusOf(isOther, integrity !== found.integrity), version: manifest.version ?? version };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const statusOf = (isNewer: boolean, isChanged: boolean): Available["status"] => (isNewer ? "newer" : isChanged ? "changed" : "current");

async function made(folder: string): Promise<string> {
  await mkdir(folder, { mode: 0o700 });
  return folder;
}

/** The result, or the error. */
export interface AvailableOrError extends Partial<Available> {
  readonly error: CreelError | undefined;
}

export async function triedAvailable(entry: LockEntry, options: AvailableOptions): Promise<AvailableOrError> {
  try {
    return { ...(await availableOf(entry, options)), error: undefined };
  } catch (error) {
    if (error instanceof CreelError) return { error };
    throw error;
  }
}
