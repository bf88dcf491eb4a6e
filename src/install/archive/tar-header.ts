/**
 * Trusted side: the 512-byte header of a tar entry. Tools interpret unusual headers differently, and attackers have
 * made archives that show one file to a reviewer and another one to the installer. So unusual headers are refused.
 */
import { CreelError } from "../../protocol/errors.ts";

export const BLOCK = 512;

export interface TarHeader {
  /** Not decoded: an extended header may replace it. */
  readonly name: Buffer;
  readonly type: string;
  readonly bytes: number;
}

const SUM_AT = 148;
const TARGET_AT = 157;
const PREFIX_AT = 345;
const PREFIX_END = PREFIX_AT + 155;
/** Some writers put two times of 12 bytes at the end of a short prefix field. */
const TIMES_AT = 476;
/** Mode, owner, group, time and device. They are not used, but some tools skip an entry if one is malformed. */
const OTHER_NUMBERS = [
  [100, 8],
  [108, 8],
  [116, 8],
  [136, 12],
  [329, 8],
  [337, 8],
] as const;
const POSIX = "ustar\x0000";
const GNU = "ustar  \0";

const ZEROS = Buffer.alloc(64 * 1024);

/** Of at most 64 KB. */
export const isZero = (bytes: Buffer): boolean => bytes.equals(ZEROS.subarray(0, bytes.length));

/** `at` is the offset of the block in the archive, for messages. */
export function readHeader(block: Buffer, at: number): TarHeader {
  const refuse = (detail: string): CreelError => new CreelError("ERR_ARCHIVE_FORMAT", { detail: `the header at byte ${at} ${detail}` });
  if (octal(block.subarray(SUM_AT, SUM_AT + 8)) !== sumOf(block)) throw refuse("has a wrong checksum");
  const magic = block.toString("latin1", 257, 265);
  if (magic !== POSIX && magic !== GNU) throw refuse("is of an unknown kind of tar");
  const bytes = number(block.subarray(124, 136));
  if (bytes === undefined) throw refuse("has a size that is no number");
  const name = textOf(block.subarray(0, 100));
  const prefix = prefixOf(block, magic);
  if (!name || !prefix) throw refuse("has bytes after the end of its name");
  if (name.length === 0) throw refuse("has no name");
  if (!OTHER_NUMBERS.every(([start, length]) => isNumeric(block.subarray(start, start + length))))
    throw refuse("has a number field that is not a number");
  const type = String.fromCharCode(block[156]!);
  // npm's reader skips such an entry, and then parses its content as headers.
  if (type !== "1" && type !== "2" && !isZero(block.subarray(TARGET_AT, TARGET_AT + 100)))
    throw refuse("names a link target but is not a link");
  return {
    name: prefix.length > 0 ? Buffer.concat([prefix, Buffer.from("/"), name]) : name,
    type,
    bytes,
  };
}

function sumOf(block: Buffer): number {
  let sum = 0;
  for (let i = 0; i < BLOCK; i++) sum += i >= SUM_AT && i < SUM_AT + 8 ? 0x20 : block[i]!;
  return sum;
}

/** GNU keeps times and maps of sparse files in the prefix field. */
function prefixOf(block: Buffer, magic: string): Buffer | undefined {
  const field = block.subarray(PREFIX_AT, PREFIX_END);
  if (magic === GNU) return isZero(field) ? field.subarray(0, 0) : undefined;
  const length = field.indexOf(0);
  if (length < 0) return field;
  const hasTimes = PREFIX_AT + length < TIMES_AT && [TIMES_AT, TIMES_AT + 12].every((at) => isNumeric(block.subarray(at, at + 12)));
  return isZero(block.subarray(PREFIX_AT + length, hasTimes ? TIMES_AT : PREFIX_END)) ? field.subarray(0, length) : undefined;
}

/** Undefined: there is more after the NUL that ends it. */
function textOf(field: Buffer): Buffer | undefined {
  const end = field.indexOf(0);
  if (end < 0) return field;
  return isZero(field.subarray(end)) ? field.subarray(0, end) : undefined;
}

/** Octal digits. GNU writes larger numbers in binary after a byte of 0x80. */
function number(field: Buffer): number | undefined {
  if (field[0]! < 0x80) return octal(field);
  if (field[0] !== 0x80) return undefined;
  let value = 0;
  for (const byte of field.subarray(1)) value = value * 256 + byte;
  return Number.isSafeInteger(value) ? value : undefined;
}

const isNumeric = (field: Buffer): boolean => /^[ 0-7\0]*$/.test(field.toString("latin1")) || number(field) !== undefined;

function octal(field: Buffer): number | undefined {
  const digits = /^ *([0-7]+)[ \0]*$/.exec(field.toString("latin1"))?.[1];
  return digits === undefined ? undefined : Number.parseInt(digits, 8);
}
