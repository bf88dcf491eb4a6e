/** Unpacks archives in an arena, and says what is wrong with what is there afterwards. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { unpack } from "../../src/install/archive/archive.ts";
import type { Unpacked, UnpackOptions } from "../../src/install/archive/archive.ts";
import { CreelError } from "../../src/protocol/errors.ts";
import { arena } from "./arena.ts";
import type { Arena } from "./arena.ts";

export const sha512 = (bytes: string | Buffer): string => createHash("sha512").update(bytes).digest("base64");

export function place(archive: Buffer, at: Arena = arena()): { at: Arena; source: string } {
  const source = join(at.root, "archive");
  writeFileSync(source, archive);
  mkdirSync(at.staging, { recursive: true, mode: 0o700 });
  return { at, source };
}

export interface Attempt {
  readonly at: Arena;
  readonly unpacked?: Unpacked;
  readonly code?: string;
  readonly message?: string;
  readonly entry?: string;
  /** Everything that must not be, whatever the archive: empty, if all is well. */
  readonly complaints: readonly string[];
}

/** Either all of what it says is there and nothing else, or it was refused and nothing is; and nothing else was touched. */
export async function attempt(archive: Buffer, options?: UnpackOptions, where?: Arena): Promise<Attempt> {
  const { at, source } = place(archive, where);
  const before = at.around();
  const complaints: string[] = [];
  const check = (isFine: boolean, complaint: string): void => void (isFine || complaints.push(complaint));
  try {
    const unpacked = await unpack(source, at.staging, options);
    check(isDeepStrictEqual(unpacked.files, filesOf(at)), "it says other files than there are");
    check(unpacked.bytes === unpacked.files.reduce((sum, { bytes }) => sum + bytes, 0), "it says another size than that of its files");
    check(isDeepStrictEqual(at.around(), before), "something outside was changed");
    return { at, unpacked, complaints };
  } catch (error) {
    check(!existsSync(at.staging), "the staging folder is still there");
    check(isDeepStrictEqual(at.around(), before), "something outside was changed");
    if (!(error instanceof CreelError)) throw error;
    // For a terminal: one line, and nothing that it obeys.
    check(/^[^\p{Cc}\p{Cf}]{10,400}$/u.test(error.message), "the message is not one short printable line");
    return { at, code: error.code, message: error.message, entry: String(error.params.entry), complaints };
  }
}

/** Where many are tried in a row. */
export async function attemptAndClear(archive: Buffer, where: Arena, options?: UnpackOptions): Promise<Attempt> {
  const made = await attempt(archive, options, where);
  rmSync(where.staging, { recursive: true, force: true });
  return made;
}

export const textsOf = (at: Arena): Record<string, string> =>
  Object.fromEntries(Object.entries(at.files()).map(([path, bytes]) => [path, bytes.toString("utf8")]));

function filesOf(at: Arena): Unpacked["files"] {
  const files = Object.entries(at.files()).map(([path, bytes]) => ({ path, bytes: bytes.length, sha512: sha512(bytes) }));
  return files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}
