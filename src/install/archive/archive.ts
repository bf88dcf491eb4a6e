/**
 * Trusted side: unpacks a third party's package into an empty folder, without running or trusting anything in it. An
 * archive is refused as a whole, because what one tool skips or renames with a warning may be what the next tool runs.
 * A refused archive leaves no files.
 */
import { createHash } from "node:crypto";
import type { Hash } from "node:crypto";
import { closeSync, constants, mkdirSync, openSync, writeSync } from "node:fs";
import { lstat, open, readdir, realpath, rm } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { CreelError } from "../../protocol/errors.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { entryPath } from "./entry-rules.ts";
import { ArchiveTree } from "./tree.ts";
import { ByteReader } from "./byte-reader.ts";
import { gunzip, isGzip } from "./gunzip.ts";
import { nativeContent, nativeName } from "../manifest/native.ts";
import { printable } from "../../text/printable.ts";
import { readTar } from "./tar-reader.ts";
import type { TarEntry } from "./tar-reader.ts";

export interface ArchiveLimits {
  /** Of the archive itself. */
  readonly archiveBytes: number;
  /** Of the unpacked data, tar headers included. */
  readonly unpackedBytes: number;
  /** Files and folders. */
  readonly entries: number;
  readonly depth: number;
  /** How many times larger it may become, once it is larger than `ratioFromBytes`. */
  readonly ratio: number;
  readonly ratioFromBytes: number;
  readonly ms: number;
}

export const ARCHIVE_LIMITS: ArchiveLimits = {
  archiveBytes: LIMITS.install.archiveBytes,
  unpackedBytes: LIMITS.install.archiveUnpackedBytes,
  entries: LIMITS.install.archiveEntries,
  depth: LIMITS.install.archiveDepth,
  ratio: LIMITS.install.archiveRatio,
  ratioFromBytes: LIMITS.install.archiveRatioFromBytes,
  ms: LIMITS.install.archiveMs,
};

export interface UnpackedFile {
  /** Below the package's folder, with slashes. */
  readonly path: string;
  readonly bytes: number;
  /** As in Subresource Integrity, without "sha512-". */
  readonly sha512: string;
}

export interface Unpacked {
  /** Sorted by path. */
  readonly files: readonly UnpackedFile[];
  /** Of all files together. */
  readonly bytes: number;
  /** Of the archive, as it was read: "sha512-…", as registries and lock files have it. */
  readonly integrity: string;
}

export interface UnpackOptions {
  readonly limits?: Partial<ArchiveLimits>;
  readonly signal?: AbortSignal;
}

const CHUNK = 64 * 1024;
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/** `source` is a .tgz or .tar; `into` an empty folder, which is removed if the archive is refused. */
export async function unpack(source: string, into: string, options: UnpackOptions = {}): Promise<Unpacked> {
  const limits = { ...ARCHIVE_LIMITS, ...options.limits };
  const staging = await checkedStaging(into);
  const deadline = performance.now() + limits.ms;
  const checkTime = (): void => {
    options.signal?.throwIfAborted();
    if (performance.now() > deadline) throw new CreelError("ERR_ARCHIVE_TIME", { ms: limits.ms });
  };
  try {
    await using file = await openArchive(source, limits.archiveBytes);
    // The first pass checks, the second writes. A refused archive is therefore hardly ever written to disk, which is
    // the slow part.
    const judged = await pass(file, limits, checkTime);
    const written = await pass(file, limits, checkTime, staging);
    // SECURITY: the file may change between the passes; what was written must be what was checked.
    // test/install/archive/archives.test.ts
    if (judged.integrity !== written.integrity)
      throw new CreelError("ERR_ARCHIVE_READ", { path: source, detail: "it changed while it was read" });
    return written;
  } catch (error) {
    // SECURITY: a refused archive leaves nothing that could be loaded. test/install/archive/archives.test.ts
    await rm(staging, { recursive: true, force: true, maxRetries: 3 });
    throw error;
  }
}

/** Reads the whole archive. Writes its files if `staging` is given. */
async function pass(file: FileHandle, limits: ArchiveLimits, checkTime: () => void, staging?: string): Promise<Unpacked> {
  const hash = createHash("sha512");
  const stored = new ByteReader(bytesOf(file, limits.archiveBytes, hash, checkTime));
  await using plain = await plainBytes(stored, counter(limits, checkTime));
  const files = await readEntries(new ByteReader(plain), limits, staging);
  const bytes = files.reduce((sum, { bytes: more }) => sum + more, 0);
  return { files: files.toSorted((a, b) => (a.path < b.path ? -1 : 1)), bytes, integrity: `sha512-${hash.digest("base64")}` };
}

/** The real path. No other user may write to it: a link placed there would redirect our files. */
async function checkedStaging(into: string): Promise<string> {
  const refuse = (detail: string): CreelError => new CreelError("ERR_ARCHIVE_STAGING", { path: into, detail });
  const stats = await lstat(into).catch(() => undefined);
  if (!stats?.isDirectory()) throw refuse("it is not a folder");
  if (process.getuid && stats.uid !== process.getuid()) throw refuse("it belongs to another user");
  if (process.getuid && stats.mode & 0o022) throw refuse("others may write to it");
  if ((await readdir(into)).length > 0) throw refuse("it is not empty");
  return await realpath(into);
}

async function openArchive(path: string, limit: number): Promise<FileHandle> {
  const refuse = (detail: string): CreelError => new CreelError("ERR_ARCHIVE_READ", { path, detail });
  // Opening a pipe would block without O_NONBLOCK.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((error: NodeJS.ErrnoException) => {
    throw refuse(error.code ?? error.message);
  });
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw refuse("it is not a file");
    if (stats.size > limit) throw new CreelError("ERR_ARCHIVE_LIMIT", { limit, what: "bytes" });
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function* bytesOf(file: FileHandle, limit: number, hash: Hash, checkTime: () => void): AsyncGenerator<Buffer> {
  for (let bytes = 0; ;) {
    checkTime();
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(CHUNK), 0, CHUNK, bytes);
    if (bytesRead === 0) return;
    bytes += bytesRead;
    if (bytes > limit) throw new CreelError("ERR_ARCHIVE_LIMIT", { limit, what: "bytes" });
    const chunk = buffer.subarray(0, bytesRead);
    hash.update(chunk);
    yield chunk;
  }
}

type Count = (out: number, taken: number) => void;

function counter({ unpackedBytes, ratio, ratioFromBytes }: ArchiveLimits, checkTime: () => void): Count {
  return (out, taken) => {
    checkTime();
    if (out > unpackedBytes) throw new CreelError("ERR_ARCHIVE_LIMIT", { limit: unpackedBytes, what: "bytes when it is unpacked" });
    if (out > ratioFromBytes && out > taken * ratio)
      throw new CreelError("ERR_ARCHIVE_LIMIT", { limit: ratio, what: "times its size when it is unpacked" });
  };
}

/** To be disposed of when it is not read to its end: zlib is waiting then. */
async function plainBytes(stored: ByteReader, count: Count): Promise<AsyncGenerator<Buffer>> {
  const start = await stored.take(2);
  stored.unread(start);
  return isGzip(start) ? gunzip(stored, count) : counted(stored, count);
}

/** Data that is not compressed does not grow. */
async function* counted(reader: ByteReader, count: Count): AsyncGenerator<Buffer> {
  for (let piece; (piece = await reader.piece(CHUNK));) {
    count(reader.position, reader.position);
    yield piece;
  }
}

async function readEntries(reader: ByteReader, limits: ArchiveLimits, staging: string | undefined): Promise<UnpackedFile[]> {
  const tree = new ArchiveTree(limits.entries);
  const files = new Map<string, UnpackedFile>();
  let repeats = 0;
  let root: string | undefined;
  let left = limits.unpackedBytes;
  for await (const entry of readTar(reader)) {
    const path = entryPath(entry.name, entry.kind, limits.depth);
    root ??= path.root;
    if (path.root !== root)
      throw new CreelError("ERR_ARCHIVE_ROOT", {
        entry: printable(entry.name),
        detail: `is in another folder than "${printable(root)}"`,
      });
    const native = nativeName(path.segments, entry.kind);
    if (native) throw new CreelError("ERR_ARCHIVE_NATIVE", { entry: printable(entry.name), kind: native });
    // Known before a byte of it is read.
    left -= entry.bytes;
    if (left < 0) throw new CreelError("ERR_ARCHIVE_LIMIT", { limit: limits.unpackedBytes, what: "bytes when it is unpacked" });
    const name = path.segments.join("/");
    const first = entry.kind === "file" ? files.get(name) : undefined;
    if (first) {
      if (++repeats > limits.entries) throw new CreelError("ERR_ARCHIVE_LIMIT", { limit: limits.entries, what: "files and folders" });
      await expectSame(entry, first);
      continue;
    }
    const folders = tree.add(path.segments, entry.kind);
    if (staging !== undefined) for (const folder of folders) create(entry, () => mkdirSync(join(staging, folder), { mode: 0o700 }));
    if (entry.kind === "file") files.set(name, await readFile(entry, name, staging));
  }
  if (files.size === 0) throw new CreelError("ERR_ARCHIVE_EMPTY");
  return [...files.values()];
}

/**
 * Old versions of npm write the file that `main` names twice, as `./dist/index.js` and as `dist/index.js`. SECURITY: the
 * second has to be the same, byte for byte: tools differ in which one they keep. test/install/archive/archives.test.ts
 */
async function expectSame(entry: TarEntry, { path, sha512 }: UnpackedFile): Promise<void> {
  if ((await readFile(entry, path, undefined)).sha512 === sha512) return;
  const detail = "the name occurs twice, with different content";
  throw new CreelError("ERR_ARCHIVE_COLLISION", { entry: printable(entry.name), other: printable(path), detail });
}

/**
 * Ignores the modes in the archive, since no file of a plugin is executed from there. Writes synchronously: that takes
 * 50 µs per file, several times less than through Node's thread pool, and the event loop runs between chunks.
 */
async function readFile(entry: TarEntry, path: string, staging: string | undefined): Promise<UnpackedFile> {
  // SECURITY: never through something that is there already, a link least of all. test/install/archive/archives.test.ts
  const file = staging === undefined ? undefined : create(entry, () => openSync(join(staging, path), NEW_FILE, 0o600));
  try {
    const hash = createHash("sha512");
    let isFirst = true;
    for await (const piece of entry.content) {
      const native = isFirst ? nativeContent(piece) : undefined;
      if (native) throw new CreelError("ERR_ARCHIVE_NATIVE", { entry: printable(entry.name), kind: native });
      isFirst = false;
      hash.update(piece);
      if (file !== undefined) for (let at = 0; at < piece.length;) at += writeSync(file, piece, at);
    }
    return { path, bytes: entry.bytes, sha512: hash.digest("base64") };
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** The file system has the last word on which names are the same. */
function create<T>(entry: TarEntry, make: () => T): T {
  try {
    return make();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const name = printable(entry.name);
    if (code === "EEXIST")
      throw new CreelError("ERR_ARCHIVE_COLLISION", { entry: name, other: name, detail: "the name is taken" }, { cause: error });
    if (code === "ENAMETOOLONG") throw new CreelError("ERR_ARCHIVE_NAME", { entry: name, detail: "it is too long" }, { cause: error });
    throw error;
  }
}
