/** Trusted side: extended tar headers, which describe the next entry: POSIX records ("pax") and GNU long names. */
import { CreelError } from "../../protocol/errors.ts";

/** Replaces fields of the next header. */
export interface Extension {
  readonly name?: Buffer;
  readonly bytes?: number;
}

const DIGITS = /^[1-9]\d{0,15}$/;
const SIZE = /^(?:0|[1-9]\d{0,15})$/;

/** `isGlobal`: it is about all entries after it, as git's archives have one, with the name of the commit. */
export function readRecords(body: Buffer, isGlobal: boolean): Extension {
  const records = recordsOf(body);
  const path = records.get("path");
  const size = records.get("size");
  for (const key of records.keys()) {
    if (key.startsWith("GNU.sparse.")) throw refuse("has a map of a sparse file");
    if (isGlobal && (key === "path" || key === "size")) throw refuse(`gives all entries the same ${key}`);
    if (key === "linkpath") throw refuse("names the target of a link");
    // Names are then not UTF-8, and each tool makes its own of them.
    if (key === "hdrcharset") throw refuse("names another character set");
  }
  if (path?.length === 0) throw refuse("has an empty path");
  if (size && !SIZE.test(size.toString("latin1"))) throw refuse("has a size that is no number");
  return { ...(path && { name: path }), ...(size && { bytes: Number(size.toString("latin1")) }) };
}

/** GNU ends the name with a NUL. */
export function readLongName(body: Buffer): Extension {
  const name = body.at(-1) === 0 ? body.subarray(0, -1) : body;
  if (name.length === 0) throw refuse("has an empty path");
  return { name };
}

/** Each is "<length> <key>=<value>\n". Of a duplicate key, some tools use the first and others the second. */
function recordsOf(body: Buffer): Map<string, Buffer> {
  const records = new Map<string, Buffer>();
  for (let at = 0; at < body.length;) {
    const space = body.indexOf(0x20, at);
    const digits = body.toString("latin1", at, Math.min(space, at + 17));
    const end = at + Number(digits);
    const equals = body.indexOf(0x3d, space);
    if (space < 0 || !DIGITS.test(digits) || end > body.length || equals < 0 || equals >= end || body[end - 1] !== 0x0a)
      throw refuse("has a record that is not written as POSIX says");
    const key = body.toString("utf8", space + 1, equals);
    if (records.has(key)) throw refuse("has the same key twice");
    records.set(key, body.subarray(equals + 1, end - 1));
    at = end;
  }
  return records;
}

const refuse = (detail: string): CreelError => new CreelError("ERR_ARCHIVE_FORMAT", { detail: `an extended header ${detail}` });
