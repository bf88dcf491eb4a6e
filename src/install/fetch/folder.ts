/**
 * Copies a folder by the archive rules, because a folder is as untrusted as an archive. Skips links, and the
 * author's working files, such as .git and node_modules.
 */
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { lstat, mkdir, open, opendir, realpath, writeFile } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { CreelError } from "../../protocol/errors.ts";
import { ARCHIVE_LIMITS } from "../archive/archive.ts";
import type { Unpacked, UnpackedFile } from "../archive/archive.ts";
import { entryPath } from "../archive/entry-rules.ts";
import { ArchiveTree } from "../archive/tree.ts";
import { nativeContent, nativeName } from "../manifest/native.ts";
import { printable } from "../../text/printable.ts";

const LEFT_BEHIND = new Set(["node_modules", ".git", ".hg", ".svn", ".DS_Store"]);

export interface CopyOptions {
  readonly signal?: AbortSignal | undefined;
  /** A state folder, which authors have beside their sources: it is not copied into itself. */
  readonly without?: readonly string[] | undefined;
}

/** `into` is an empty folder. */
export async function copyFolder(from: string, into: string, { signal, without }: CopyOptions = {}): Promise<Unpacked> {
  const tree = new ArchiveTree(ARCHIVE_LIMITS.entries);
  const files: UnpackedFile[] = [];
  let bytes = 0;
  const root = await realpath(from);
  // A path that does not exist cannot be resolved, and the walk will not meet it.
  const leftOut = new Set(await Promise.all((without ?? []).map((path) => realpath(path).catch(() => path))));
  for await (const { path, isFolder, within } of walk(root, leftOut, signal)) {
    const { segments } = entryPath(`package/${path}`, isFolder ? "folder" : "file", ARCHIVE_LIMITS.depth);
    const entry = printable(path);
    const native = nativeName(segments, isFolder ? "folder" : "file");
    if (native) throw new CreelError("ERR_ARCHIVE_NATIVE", { entry, kind: native });
    for (const folder of tree.add(segments, isFolder ? "folder" : "file")) await mkdir(join(into, folder), { mode: 0o700 });
    if (isFolder) continue;
    const content = await read(within, basename(path), path, ARCHIVE_LIMITS.unpackedBytes - bytes);
    bytes += content.length;
    const code = nativeContent(content);
    if (code) throw new CreelError("ERR_ARCHIVE_NATIVE", { entry, kind: code });
    await writeFile(join(into, path), content, { mode: 0o600, flag: "wx" });
    files.push({ path, bytes: content.length, sha512: createHash("sha512").update(content).digest("base64") });
  }
  if (files.length === 0) throw new CreelError("ERR_ARCHIVE_EMPTY");
  const sorted = files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  return { files: sorted, bytes, integrity: integrityOf(sorted) };
}

/** There is no archive, so the digest is that of the list of files and their digests. */
function integrityOf(files: readonly UnpackedFile[]): string {
  const list = files.map(({ path, sha512 }) => `${sha512}  ${path}\n`).join("");
  return `sha512-${createHash("sha512").update(list).digest("base64")}`;
}

/** A folder that is held open: even if its path changes, this is the folder that was found. */
interface Held {
  /** Where it was found. */
  readonly at: string;
  readonly handle: FileHandle;
}

interface Met {
  readonly path: string;
  readonly isFolder: boolean;
  readonly within: Held;
}

async function* walk(root: string, leftOut: ReadonlySet<string>, signal: AbortSignal | undefined): AsyncGenerator<Met> {
  await using handle = await open(root, FOLDER);
  yield* walkHeld({ at: root, handle }, "", leftOut, signal);
}

async function* walkHeld(within: Held, below: string, leftOut: ReadonlySet<string>, signal: AbortSignal | undefined): AsyncGenerator<Met> {
  const names: { name: string; isFolder: boolean }[] = [];
  for await (const entry of await opendir(held(within))) {
    if (LEFT_BEHIND.has(entry.name) || leftOut.has(join(within.at, entry.name))) continue;
    const path = below === "" ? entry.name : `${below}/${entry.name}`;
    // SECURITY: a link may lead anywhere: it is left out, as by npm pack. test/install/fetch/folder.test.ts
    if (entry.isSymbolicLink()) continue;
    if (!entry.isFile() && !entry.isDirectory()) throw special(path);
    names.push({ name: entry.name, isFolder: entry.isDirectory() });
    // Before they are sorted: a folder may hold millions.
    if (names.length > ARCHIVE_LIMITS.entries)
      throw new CreelError("ERR_ARCHIVE_LIMIT", { limit: ARCHIVE_LIMITS.entries, what: "files and folders" });
  }
  signal?.throwIfAborted();
  for (const { name, isFolder } of names.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = below === "" ? name : `${below}/${name}`;
    yield { path, isFolder, within };
    if (!isFolder) continue;
    await using handle = await openWithin(within, name, path, FOLDER);
    yield* walkHeld({ at: join(within.at, name), handle }, path, leftOut, signal);
  }
}

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const FILE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * A path to the open folder itself. Only Linux has one; elsewhere the opened file is compared with the one at its path.
 */
function held({ at, handle }: Held): string {
  return process.platform === "linux" ? `/proc/self/fd/${handle.fd}` : at;
}

/**
 * SECURITY: a file or folder may become a link after it was listed, and so may its parents. Links are not followed.
 * test/install/fetch/folder.test.ts
 */
async function openWithin(within: Held, name: string, path: string, flags: number): Promise<FileHandle> {
  let handle: FileHandle;
  try {
    handle = await open(join(held(within), name), flags);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw code === "ELOOP" || code === "ENOTDIR" ? link(path) : error;
  }
  if (process.platform === "linux" || (await isAt(handle, join(within.at, name)))) return handle;
  await handle.close();
  throw link(path);
}

async function isAt(handle: FileHandle, path: string): Promise<boolean> {
  const [opened, found] = await Promise.all([handle.stat(), lstat(path)]);
  return opened.ino === found.ino && opened.dev === found.dev && (await realpath(dirname(path))) === dirname(path);
}

function link(path: string): CreelError {
  return new CreelError("ERR_ARCHIVE_LINK", { entry: printable(path), kind: "symbolic link" });
}

function special(path: string): CreelError {
  return new CreelError("ERR_ARCHIVE_TYPE", { entry: printable(path), kind: "special file" });
}

async function read(within: Held, name: string, path: string, left: number): Promise<Buffer> {
  await using file = await openWithin(within, name, path, FILE);
  const stats = await file.stat();
  if (!stats.isFile()) throw special(path);
  if (stats.size > left) throw new CreelError("ERR_ARCHIVE_LIMIT", { limit: ARCHIVE_LIMITS.unpackedBytes, what: "bytes" });
  return await file.readFile();
}
