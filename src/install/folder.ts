/**
 * Copies a folder as if it had been packed: by the rules for archives, since a folder is as much a stranger's as an archive is. What belongs to the
 * author's own work (git's files, installed packages) stays behind.
 */
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { mkdir, open, opendir, realpath, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CreelError } from "../protocol/errors.ts";
import { ARCHIVE_LIMITS } from "./archive.ts";
import type { Unpacked, UnpackedFile } from "./archive.ts";
import { entryPath } from "./archive-rules.ts";
import { ArchiveTree } from "./archive-tree.ts";
import { nativeContent, nativeName } from "./native.ts";
import { printable } from "./printable.ts";

const LEFT_BEHIND = new Set(["node_modules", ".git", ".hg", ".svn", ".DS_Store"]);

export interface CopyOptions {
  readonly signal?: AbortSignal | undefined;
  /** A state folder, which authors have beside their sources: it is not copied into itself. */
  readonly without?: string | undefined;
}

/** `into` is an empty folder. */
export async function copyFolder(from: string, into: string, { signal, without }: CopyOptions = {}): Promise<Unpacked> {
  const tree = new ArchiveTree(ARCHIVE_LIMITS.entries);
  const files: UnpackedFile[] = [];
  let bytes = 0;
  const root = await realpath(from);
  const leftOut = without === undefined ? undefined : await realpath(without);
  for await (const { path, isFolder } of walk(root, "", leftOut, signal)) {
    const { segments } = entryPath(`package/${path}`, isFolder ? "folder" : "file", ARCHIVE_LIMITS.depth);
    const entry = printable(path);
    const native = nativeName(segments, isFolder ? "folder" : "file");
    if (native) throw new CreelError("ERR_ARCHIVE_NATIVE", { entry, kind: native });
    for (const folder of tree.add(segments, isFolder ? "folder" : "file")) await mkdir(join(into, folder), { mode: 0o700 });
    if (isFolder) continue;
    const content = await read(join(root, path), entry, ARCHIVE_LIMITS.unpackedBytes - bytes);
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

/** There is no archive: what stands for it is the list of its files and their digests. */
function integrityOf(files: readonly UnpackedFile[]): string {
  const list = files.map(({ path, sha512 }) => `${sha512}  ${path}\n`).join("");
  return `sha512-${createHash("sha512").update(list).digest("base64")}`;
}

async function* walk(
  root: string,
  below: string,
  leftOut: string | undefined,
  signal: AbortSignal | undefined,
): AsyncGenerator<{ path: string; isFolder: boolean }> {
  const names: { name: string; isFolder: boolean }[] = [];
  for await (const entry of await opendir(join(root, below))) {
    if (LEFT_BEHIND.has(entry.name) || join(root, below, entry.name) === leftOut) continue;
    const path = below === "" ? entry.name : `${below}/${entry.name}`;
    // SECURITY: a link in it leads wherever its author likes. test/install/folder.test.ts
    if (!entry.isFile() && !entry.isDirectory())
      throw new CreelError(entry.isSymbolicLink() ? "ERR_ARCHIVE_LINK" : "ERR_ARCHIVE_TYPE", {
        entry: printable(path),
        kind: entry.isSymbolicLink() ? "symbolic link" : "special file",
      });
    names.push({ name: entry.name, isFolder: entry.isDirectory() });
    // Before they are sorted: a folder may hold millions.
    if (names.length > ARCHIVE_LIMITS.entries)
      throw new CreelError("ERR_ARCHIVE_LIMIT", { limit: ARCHIVE_LIMITS.entries, what: "files and folders" });
  }
  signal?.throwIfAborted();
  for (const { name, isFolder } of names.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = below === "" ? name : `${below}/${name}`;
    yield { path, isFolder };
    if (isFolder) yield* walk(root, path, leftOut, signal);
  }
}

async function read(path: string, entry: string, left: number): Promise<Buffer> {
  // SECURITY: it was a file a moment ago; if it has become a link meanwhile, this fails. test/install/folder.test.ts
  await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  const stats = await file.stat();
  if (!stats.isFile()) throw new CreelError("ERR_ARCHIVE_TYPE", { entry, kind: "special file" });
  if (stats.size > left) throw new CreelError("ERR_ARCHIVE_LIMIT", { limit: ARCHIVE_LIMITS.unpackedBytes, what: "bytes" });
  return await file.readFile();
}
