/**
 * The file system inside a cell, as host and guest agree on it. Posix, whatever the machine: the package's own files at /plugin,
 * the plugin's volume at /home/plugin, scratch space at /tmp. Nothing of the machine's is behind any of these names. A cell has all of it in its memory, since `fs` is
 * synchronous and a guest cannot call out; the host has the volume's only true copy, which every change is sent to.
 */
import { LIMITS } from "./limits.ts";

/** Read-only: the plugin's own files. */
export const PACKAGE_ROOT = "/plugin";
/** Home and working directory: the volume, if it was granted. */
export const HOME = "/home/plugin";
/** Writable always; gone with the cell. */
export const TEMPORARY = "/tmp";

/**
 * One file or folder, as it is sent into a cell: its path below the root, when it was changed, and what it is. `d`: a folder. `u`: text. `t`: text whose bytes are in base64. `b`: bytes in
 * base64. `x`: a file that was too large to be sent, and its size.
 */
export type SentFile =
  | readonly [path: string, mtimeMs: number, kind: "d"]
  | readonly [path: string, mtimeMs: number, kind: "u" | "t" | "b", content: string]
  | readonly [path: string, mtimeMs: number, kind: "x", size: number];

/** What a cell with a volume is told when it is loaded, as JSON. */
export interface SentVolume {
  readonly maxBytes: number;
  readonly files: readonly SentFile[];
}

/**
 * What happened to a volume. `put` cuts a file off at an offset and adds data there: all of a file, or a line at its end; it makes the file if
 * that is not there. `rm` takes a folder with all that is in it. `mv` finds nothing at its destination.
 */
export type VolumeChange =
  | readonly ["mkdir", path: string]
  | readonly ["rm", path: string]
  | readonly ["mv", from: string, to: string]
  | readonly ["put", path: string, offset: number, mtimeMs: number, encoding: "u" | "b", data: string];

/** What is wrong with a path below a volume's root, if anything is, in Node's words. Both sides ask. */
export function faultOfPath(path: string): "EINVAL" | "ENAMETOOLONG" | undefined {
  if (path.length > LIMITS.volumePathChars) return "ENAMETOOLONG";
  if (path === "" || path.includes("\0") || !path.isWellFormed()) return "EINVAL";
  const names = path.split("/");
  if (names.length > LIMITS.volumeDepth) return "ENAMETOOLONG";
  for (const name of names) {
    if (name === "" || name === "." || name === "..") return "EINVAL";
    if (nameBytes(name) > LIMITS.volumeNameBytes) return "ENAMETOOLONG";
  }
  return undefined;
}

/** Of a well-formed text, in UTF-8. */
function nameBytes(name: string): number {
  let bytes = name.length;
  for (let at = 0; at < name.length; at++) {
    const unit = name.charCodeAt(at);
    // Half a pair is two bytes, any other unit of that height three.
    if (unit >= 0x80) bytes += unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 1 : 2;
  }
  return bytes;
}

/** What a change costs whoever writes it down, as bytes: every change is work, however small. */
export function costOf(dataBytes: number): number {
  return LIMITS.volumeChangeBytes + dataBytes;
}
