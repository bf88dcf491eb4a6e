/**
 * Trusted side: unpacks a third party's gzip file chunk by chunk, and reports sizes to a counter. Node's gunzip
 * concatenates several members and ignores trailing bytes; other tools do not, and would show other files than those
 * installed. So the gzip frame is parsed here: one member, its checksum, its end. zlib does the inflating.
 */
import { crc32, createInflateRaw } from "node:zlib";
import type { InflateRaw } from "node:zlib";
import { CreelError } from "../../protocol/errors.ts";
import type { ByteReader } from "./byte-reader.ts";

const DEFLATE = 8;
const FLAG = { headerSum: 2, extra: 4, name: 8, comment: 16, reserved: 0xe0 };
/** A file's name, and a line of comment. */
const MAX_TEXT = 1_024;
const CHUNK = 64 * 1024;

export const isGzip = (start: Buffer): boolean => start[0] === 0x1f && start[1] === 0x8b;

/** `count` gets the bytes that came out and the bytes that went in; it throws at a limit. */
export async function* gunzip(reader: ByteReader, count: (out: number, taken: number) => void): AsyncGenerator<Buffer> {
  await readFrame(reader);
  const inflate = createInflateRaw({ chunkSize: CHUNK });
  const feeding = feed(reader, inflate);
  let bytes = 0;
  let sum = 0;
  try {
    for await (const piece of inflate as AsyncIterable<Buffer>) {
      bytes += piece.length;
      // SECURITY: checked chunk by chunk, before a chunk is kept. test/install/archive/archives.test.ts "a bomb is
      // refused …"
      count(bytes, inflate.bytesWritten);
      sum = crc32(piece, sum);
      yield piece;
    }
    await feeding;
  } catch (error) {
    throw asRefusal(error);
  } finally {
    inflate.destroy();
    await feeding;
  }
  const trailer = await take(reader, 8);
  if (trailer.readUInt32LE(0) !== sum || trailer.readUInt32LE(4) !== bytes % 2 ** 32) throw malformed("its checksum is wrong");
  if (await reader.piece(1)) throw new CreelError("ERR_ARCHIVE_TRAILING", { detail: "bytes follow the compressed data" });
}

async function readFrame(reader: ByteReader): Promise<void> {
  const head = await take(reader, 10);
  const flags = head[3]!;
  if (!isGzip(head) || head[2] !== DEFLATE || flags & (FLAG.reserved | FLAG.headerSum))
    throw malformed("its gzip header is of an unknown kind");
  if (flags & FLAG.extra) await take(reader, (await take(reader, 2)).readUInt16LE());
  if (flags & FLAG.name) await skipText(reader);
  if (flags & FLAG.comment) await skipText(reader);
}

async function skipText(reader: ByteReader): Promise<void> {
  for (let i = 0; i < MAX_TEXT; i++) if ((await take(reader, 1))[0] === 0) return;
  throw malformed("its gzip header is too long");
}

/**
 * Writes one piece at a time until zlib has seen the end of the compressed data, to know where that is. Never rejects:
 * a failure of the source destroys `inflate` with the error.
 */
async function feed(reader: ByteReader, inflate: InflateRaw): Promise<void> {
  const over = new Promise<void>((resolve) => inflate.once("end", resolve).once("close", resolve));
  try {
    while (!inflate.destroyed && !inflate.readableEnded) {
      const piece = await reader.piece(CHUNK);
      if (!piece) {
        inflate.end();
        return;
      }
      const before = inflate.bytesWritten;
      await Promise.race([new Promise<void>((resolve) => void inflate.write(piece, () => resolve())), over]);
      const taken = inflate.bytesWritten - before;
      if (taken < piece.length) {
        reader.unread(piece.subarray(taken));
        return;
      }
    }
  } catch (error) {
    inflate.destroy(error as Error);
  }
}

async function take(reader: ByteReader, count: number): Promise<Buffer> {
  const taken = await reader.take(count);
  if (taken.length < count) throw new CreelError("ERR_ARCHIVE_TRUNCATED", { detail: "inside the gzip frame" });
  return taken;
}

function asRefusal(error: unknown): unknown {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  if (code === "Z_BUF_ERROR") return new CreelError("ERR_ARCHIVE_TRUNCATED", { detail: "inside the compressed data" });
  return code?.startsWith("Z_") ? malformed("the compressed data is damaged") : error;
}

const malformed = (detail: string): CreelError => new CreelError("ERR_ARCHIVE_FORMAT", { detail });
