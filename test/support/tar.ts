/** Writes tar archives for tests, field by field, so that wrong ones can be made: whatever is given is written, and only the rest is right. */
import { crc32, deflateRawSync } from "node:zlib";

export const BLOCK = 512;

export interface RawEntry {
  readonly name: string | Buffer;
  /** "0", a file, unless it says otherwise. */
  readonly type?: string;
  readonly content?: string | Buffer;
  /** As the header says it: a number, or the field's own bytes. */
  readonly size?: number | Buffer;
  readonly prefix?: string;
  readonly target?: string;
  readonly mode?: number;
  /** "posix" unless it says otherwise. */
  readonly magic?: "posix" | "gnu" | "none";
  /** The last word on the header, before its checksum is written. */
  readonly forge?: (header: Buffer) => void;
  readonly checksum?: number;
}

const MAGIC = { posix: "ustar\x0000", gnu: "ustar  \0", none: "\0".repeat(8) };

const octal = (value: number, digits: number): string => `${value.toString(8).padStart(digits, "0")}\0`;

export function entry({
  name,
  type = "0",
  content = "",
  size,
  prefix = "",
  target = "",
  mode = 0o644,
  magic = "posix",
  forge,
  checksum,
}: RawEntry): Buffer {
  const body = Buffer.from(content);
  const header = Buffer.alloc(BLOCK);
  Buffer.from(name).copy(header, 0, 0, 100);
  header.write(octal(mode, 7), 100, "latin1");
  header.write(octal(0, 7), 108, "latin1");
  header.write(octal(0, 7), 116, "latin1");
  if (Buffer.isBuffer(size)) size.copy(header, 124, 0, 12);
  else header.write(octal(size ?? body.length, 11), 124, "latin1");
  header.write(octal(499_162_500, 11), 136, "latin1");
  header.write(type, 156, "latin1");
  header.write(target, 157, 100, "utf8");
  header.write(MAGIC[magic], 257, "latin1");
  header.write(prefix, 345, 155, "utf8");
  forge?.(header);
  sum(header, checksum);
  return Buffer.concat([header, body, Buffer.alloc(-body.length & (BLOCK - 1))]);
}

/** Writes the header's checksum: the right one, unless another is given. */
export function sum(header: Buffer, checksum?: number): void {
  header.fill(" ", 148, 156);
  let right = 0;
  for (let i = 0; i < BLOCK; i++) right += header[i]!;
  header.write(`${(checksum ?? right).toString(8).padStart(6, "0")}\0 `, 148, "latin1");
}

export const END = Buffer.alloc(2 * BLOCK);

export const tar = (...entries: (RawEntry | Buffer)[]): Buffer =>
  Buffer.concat([...entries.map((each) => (Buffer.isBuffer(each) ? each : entry(each))), END]);

/** POSIX's header about the next entry ("x"), or about all after it ("g"). */
export function pax(records: Readonly<Record<string, string>> | string, type: "x" | "g" = "x"): Buffer {
  const text =
    typeof records === "string"
      ? records
      : Object.entries(records)
          .map(([key, value]) => record(key, value))
          .join("");
  return entry({ name: "PaxHeader/next", type, content: text });
}

/** "<its own length> <key>=<value>\n" */
export function record(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  const bytes = Buffer.byteLength(rest);
  let length = bytes + String(bytes).length;
  if (bytes + String(length).length !== length) length++;
  return `${length}${rest}`;
}

export const longName = (name: string, type: "L" | "K" = "L"): Buffer =>
  entry({ name: "././@LongLink", type, content: `${name}\0`, magic: "gnu" });

const FRAME = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);

/** A gzip file around `deflated`, whatever that is. */
export function gzipFrame(deflated: Buffer, checksum: number, bytes: number, head: Buffer = FRAME): Buffer {
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(checksum, 0);
  trailer.writeUInt32LE(bytes % 2 ** 32, 4);
  return Buffer.concat([head, deflated, trailer]);
}

export const gzip = (plain: Buffer, head?: Buffer): Buffer => gzipFrame(deflateRawSync(plain), crc32(plain), plain.length, head);
