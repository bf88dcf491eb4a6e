/**
 * Trusted side: streams the entries of a third party's tar archive: POSIX ustar and pax, and GNU, as npm, git and tar
 * write them for plain files. Refuses whatever two tools are known to read differently.
 */
import { CreelError } from "../../protocol/errors.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { ByteReader } from "./byte-reader.ts";
import { printable } from "../../text/printable.ts";
import { readLongName, readRecords } from "./tar-extended.ts";
import type { Extension } from "./tar-extended.ts";
import { BLOCK, isZero, readHeader } from "./tar-header.ts";
import type { TarHeader } from "./tar-header.ts";

export interface TarEntry {
  readonly name: string;
  readonly kind: "file" | "folder";
  readonly bytes: number;
  /** Read it before the next entry; unread content is skipped. The first piece has 512 bytes, if the file has. */
  readonly content: AsyncIterable<Buffer>;
}

const LINKS: Record<string, string> = { "1": "hard link", "2": "symbolic link", K: "link with a long target" };
const OTHERS: Record<string, string> = {
  "3": "character device",
  "4": "block device",
  "6": "named pipe",
  "7": "contiguous file of an old kind",
  S: "sparse file",
  D: "list of a folder, as backups have it",
  M: "part of a file of another volume",
};

export async function* readTar(reader: ByteReader): AsyncGenerator<TarEntry> {
  let extension: Extension | undefined;
  for (;;) {
    const at = reader.position;
    const block = await whole(reader, BLOCK);
    if (isZero(block)) {
      if (extension) throw malformed(at, "is the end, after a header that is about the next entry");
      return await readEnd(reader);
    }
    const header = readHeader(block, at);
    const next = await extend(reader, header, at);
    if (next) {
      // Tools differ most in how they treat two extended headers in a row.
      if (extension) throw malformed(at, "follows another one that is about the next entry");
      if (!next.isGlobal) extension = next;
      continue;
    }
    const entry = judge(header, extension, at);
    extension = undefined;
    const start = reader.position;
    yield { ...entry, content: contentOf(reader, entry.bytes) };
    const end = start + Math.ceil(entry.bytes / BLOCK) * BLOCK;
    // If it ends in here, the next header is not there either.
    for await (const piece of reader.pieces(end - reader.position)) void piece;
  }
}

/** Undefined: the header is that of an entry. */
async function extend(
  reader: ByteReader,
  { type, bytes }: TarHeader,
  at: number,
): Promise<(Extension & { isGlobal?: boolean }) | undefined> {
  if (type !== "x" && type !== "g" && type !== "L") return undefined;
  // SECURITY: the only content of an archive that is held in memory as a whole. test/install/archive/archives.test.ts
  if (bytes === 0 || bytes > LIMITS.install.archiveHeaderBytes) throw malformed(at, `is about the next entry, and has ${bytes} bytes`);
  const body = (await whole(reader, Math.ceil(bytes / BLOCK) * BLOCK)).subarray(0, bytes);
  if (type === "L") return readLongName(body);
  const isGlobal = type === "g";
  return { ...readRecords(body, isGlobal), isGlobal };
}

function judge(header: TarHeader, extension: Extension | undefined, at: number): Omit<TarEntry, "content"> {
  const name = decode(extension?.name ?? header.name);
  const entry = printable(name);
  const { type, bytes } = header;
  const link = LINKS[type];
  if (link) throw new CreelError("ERR_ARCHIVE_LINK", { entry, kind: link });
  if (type !== "0" && type !== "\0" && type !== "5")
    throw new CreelError("ERR_ARCHIVE_TYPE", { entry, kind: OTHERS[type] ?? `thing of the unknown kind "${printable(type)}"` });
  // A tool that uses the other size would continue inside the file, where the author could have placed other headers.
  if (extension?.bytes !== undefined && extension.bytes !== bytes)
    throw malformed(at, "has another size than the extended header before it says");
  const kind = type === "5" ? "folder" : "file";
  if (kind === "folder" && bytes > 0) throw malformed(at, "is that of a folder, and has a size");
  if (kind === "file" && name.endsWith("/")) throw malformed(at, "is that of a file, and its name that of a folder");
  return { name, kind, bytes };
}

function decode(name: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(name);
  } catch {
    throw new CreelError("ERR_ARCHIVE_NAME", { entry: printable(name.toString("latin1")), detail: "it is not UTF-8" });
  }
}

async function* contentOf(reader: ByteReader, bytes: number): AsyncGenerator<Buffer> {
  const end = reader.position + bytes;
  if (bytes > 0) yield await whole(reader, Math.min(bytes, BLOCK));
  yield* reader.pieces(end - reader.position);
  if (reader.position < end) throw truncated(reader);
}

/** Two blocks of zeros, and only zeros after them, which some tools add as padding. */
async function readEnd(reader: ByteReader): Promise<void> {
  const at = reader.position;
  if (!isZero(await whole(reader, BLOCK)))
    throw new CreelError("ERR_ARCHIVE_TRAILING", { detail: `one block of zeros, and then more at byte ${at}` });
  for (let piece; (piece = await reader.piece(64 * 1024));)
    if (!isZero(piece)) throw new CreelError("ERR_ARCHIVE_TRAILING", { detail: "non-zero bytes follow its last block" });
}

async function whole(reader: ByteReader, count: number): Promise<Buffer> {
  const taken = await reader.take(count);
  if (taken.length < count) throw truncated(reader);
  return taken;
}

const truncated = (reader: ByteReader): CreelError => new CreelError("ERR_ARCHIVE_TRUNCATED", { detail: `after ${reader.position} bytes` });
const malformed = (at: number, detail: string): CreelError =>
  new CreelError("ERR_ARCHIVE_FORMAT", { detail: `the header at byte ${at} ${detail}` });
