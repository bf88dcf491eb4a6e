/**
 * Trusted side: how far a host has shipped its audit log, in `audit-shipped.json` of the state folder. A part is noted before it is sent, so that a
 * host that is killed sends the same bytes under the same number again: neither lost nor, for a reader, there twice.
 */
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { parseJson } from "../../text/parse-json.ts";

const place = z.object({
  /** The digest of a file's first line: its name changes when it is full, and its inode may be another file's later. */
  head: z.string(),
  /** Bytes that are shipped. */
  at: z.int().nonnegative(),
  /** When the last shipped line was written. */
  last: z.string().optional(),
});
export type Place = z.infer<typeof place>;

const gap = z.object({ name: z.string(), since: z.string().optional(), why: z.string() });

/** Bytes of one file, on their way. */
const part = z.object({ name: z.enum(["runs", "state"]), from: place, to: place, gap: gap.optional() });
export type Part = z.infer<typeof part>;

const cursor = z.object({
  log: z.string(),
  /** The number of the next part, or of the one that is on its way. */
  next: z.int().nonnegative(),
  places: z.object({ runs: place.optional(), state: place.optional() }),
  pending: part.optional(),
});
export type Cursor = z.infer<typeof cursor>;

function fileOf(stateDir: string): string {
  return join(stateDir, "audit-shipped.json");
}

/** A new log if there is none, or none that can be read: a reader is told that one begins. */
export function readCursor(stateDir: string): Cursor {
  const fresh: Cursor = { log: randomBytes(8).toString("hex"), next: 0, places: {} };
  try {
    const parsed = parseJson(cursor, readFileSync(fileOf(stateDir), "utf8"));
    return parsed.success ? parsed.data : fresh;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return fresh;
    throw error;
  }
}

export function writeCursor(stateDir: string, value: Cursor): void {
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  const temporary = `${fileOf(stateDir)}.${process.pid}.tmp`;
  writeFileSync(temporary, JSON.stringify(value), { mode: 0o600 });
  renameSync(temporary, fileOf(stateDir));
}
