/**
 * Trusted side: the files of an audit log as parts to ship. Files are full at some size and get another name, and the oldest are deleted: a
 * place is found again by its file's first line, and if that file is gone, the part says that lines are missing.
 */
import { createHash } from "node:crypto";
import { open, readdir } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { AUDIT_FOLDER, auditFiles } from "../../host/audit/audit-file.ts";
import type { Part, Place } from "./cursor.ts";

/** More of a first line is not needed to tell files apart: it has the time, the host and the run. */
const HEAD_BYTES = 512;
/** Another process may have opened a file just before it got its new name. */
const QUIET_MS = 2_000;
const NEWLINE = 10;

interface Found {
  readonly path: string;
  readonly head: string;
  /** It is full, and nobody writes to it any more. */
  readonly isOver: boolean;
}

/** The bytes that follow `place`, as whole lines; undefined: there are none yet. */
export async function nextPart(
  stateDir: string,
  name: Part["name"],
  place: Place | undefined,
  maxBytes: number,
): Promise<Part | undefined> {
  const files = await filesOf(stateDir, name);
  let at = place ? files.findIndex(({ head }) => head === place.head) : 0;
  const isGone = at === -1;
  if (isGone) at = 0;
  for (; at < files.length; at++) {
    const { path, head, isOver } = files[at]!;
    const start = head === place?.head ? place.at : 0;
    const bytes = await linesFrom(path, start, maxBytes);
    if (bytes.length > 0) {
      const since = place?.last === undefined ? {} : { last: place.last };
      const gap = isGone && {
        name,
        ...(place!.last !== undefined && { since: place!.last }),
        why: "the oldest lines were deleted before they were shipped",
      };
      const to = { head, at: start + bytes.length, ...since, ...lastOf(bytes) };
      return { name, from: { head, at: start, ...since }, to, ...(gap && { gap }) };
    }
    if (!isOver) return undefined;
  }
  return undefined;
}

/** The lines of a part; undefined: its file is gone. */
export async function linesOf(stateDir: string, { name, from, to }: Part): Promise<string[] | undefined> {
  const file = (await filesOf(stateDir, name)).find(({ head }) => head === from.head);
  if (!file) return undefined;
  const handle = await open(file.path);
  try {
    return (await bytesAt(handle, from.at, to.at - from.at)).toString().split("\n").filter(Boolean);
  } finally {
    await handle.close();
  }
}

/** The oldest first. One that has no whole first line yet is left out. */
async function filesOf(stateDir: string, name: string): Promise<Found[]> {
  const folder = join(stateDir, AUDIT_FOLDER);
  const names = auditFiles(await readdir(folder).catch(none<string[]>([])), name);
  const found: Found[] = [];
  for (const file of names) {
    const path = join(folder, file);
    const handle = await open(path).catch(none(undefined));
    if (!handle) continue;
    try {
      const start = await bytesAt(handle, 0, HEAD_BYTES);
      const from = start.findIndex((byte) => byte !== NEWLINE);
      const end = from === -1 ? -1 : start.indexOf(NEWLINE, from);
      if (from === -1 || (end === -1 && start.length < HEAD_BYTES)) continue;
      const { mtimeMs } = await handle.stat();
      const head = createHash("sha256")
        .update(start.subarray(from, end === -1 ? HEAD_BYTES : end))
        .digest("hex");
      found.push({ path, head, isOver: file !== `${name}.jsonl` && Date.now() - mtimeMs > QUIET_MS });
    } finally {
      await handle.close();
    }
  }
  return found;
}

/** A line that is longer than a part is cut: a reader takes its pieces for torn lines. */
async function linesFrom(path: string, at: number, maxBytes: number): Promise<Buffer> {
  const handle = await open(path);
  try {
    const bytes = await bytesAt(handle, at, maxBytes);
    const end = bytes.lastIndexOf(NEWLINE) + 1;
    return end === 0 && bytes.length === maxBytes ? bytes : bytes.subarray(0, end);
  } finally {
    await handle.close();
  }
}

async function bytesAt(handle: FileHandle, at: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  const { bytesRead } = await handle.read(buffer, 0, length, at);
  return buffer.subarray(0, bytesRead);
}

function lastOf(bytes: Buffer): Pick<Place, "last"> {
  const line = bytes.toString().split("\n").findLast(Boolean);
  const last = /"at":"([^"]{1,40})"/.exec(line ?? "")?.[1];
  return last === undefined ? {} : { last };
}

function none<T>(value: T): (error: NodeJS.ErrnoException) => T {
  return (error) => {
    if (error.code !== "ENOENT") throw error;
    return value;
  };
}
