/**
 * The file system inside a cell, as host and guest agree on it. It is POSIX on every machine: the plugin's own files at
 * /plugin, its volume at /home/plugin, scratch space at /tmp. None of these paths leads to the machine's files. A cell
 * has all of it in memory, because `fs` is synchronous and a guest cannot call out. The host has the authoritative copy
 * of the volume; the cell sends it every change.
 */
import { LIMITS } from "../limits.ts";

/** Read-only: the plugin's own files. */
export const PACKAGE_ROOT = "/plugin";
/** Home and working directory: the volume, if it was granted. */
export const HOME = "/home/plugin";
/** Always writable. It is lost with the cell. */
export const TEMPORARY = "/tmp";

/**
 * One file or folder, as it is sent into a cell: its path below the root, its time of change, and its kind. `d`: a
 * folder. `u`: text. `t`: text whose bytes are in base64. `b`: bytes in base64. `x`: a file that was too large to be
 * sent, and its size.
 */
export type SentFile =
  | readonly [path: string, mtimeMs: number, kind: "d"]
  | readonly [path: string, mtimeMs: number, kind: "u" | "t" | "b", content: string]
  | readonly [path: string, mtimeMs: number, kind: "x", size: number];

/** What a cell with a volume gets when it is loaded, as JSON. */
export interface SentVolume {
  readonly maxBytes: number;
  readonly files: readonly SentFile[];
}

/**
 * A change of a volume. `put` cuts a file off at an offset and appends data there: a whole file, or a line at its end.
 * It makes the file if it does not exist. `rm` removes a folder with everything below it. `mv` expects nothing at its
 * destination.
 */
export type VolumeChange =
  | readonly ["mkdir", path: string]
  | readonly ["rm", path: string]
  | readonly ["mv", from: string, to: string]
  | readonly ["put", path: string, offset: number, mtimeMs: number, encoding: "u" | "b", data: string];

/** Checks a path below a volume's root, on both sides. Returns Node's code for what is wrong with it. */
export function faultOfPath(path: string): "EINVAL" | "ENAMETOOLONG" | undefined {
  if (path.length > LIMITS.files.pathChars) return "ENAMETOOLONG";
  if (path === "" || path.includes("\0") || !path.isWellFormed()) return "EINVAL";
  const names = path.split("/");
  if (names.length > LIMITS.files.depth) return "ENAMETOOLONG";
  for (const name of names) {
    if (name === "" || name === "." || name === "..") return "EINVAL";
    if (nameBytes(name) > LIMITS.files.nameBytes) return "ENAMETOOLONG";
  }
  return undefined;
}

/** The length of a well-formed text in UTF-8. */
function nameBytes(name: string): number {
  let bytes = name.length;
  for (let at = 0; at < name.length; at++) {
    const unit = name.charCodeAt(at);
    // Each half of a surrogate pair counts two bytes, any other unit of that height three.
    if (unit >= 0x80) bytes += unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 1 : 2;
  }
  return bytes;
}

/**
 * The cost in bytes of storing a change. Every change is work, however small, and so is every file that it takes along
 * with a folder.
 */
export function costOf(dataBytes: number, rows = 0): number {
  return LIMITS.files.changeBytes + dataBytes + rows * LIMITS.files.rowBytes;
}
