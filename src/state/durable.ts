/**
 * Trusted side: files that a power cut leaves whole or absent, never in part. The content is on the disk before its
 * name, and a name appears in one step. Synchronous, so that steps do not interleave and tests can end the process at
 * each.
 */
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { dirname, join } from "node:path";

/** The name must be free. */
export function writeDurably(path: string, content: string | Uint8Array, mode: number): void {
  const file = openSync(path, "wx", mode);
  try {
    writeFileSync(file, content);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** `staging`: a folder on the same file system, for unfinished files. */
export function replaceFile(path: string, content: Uint8Array, staging: string, mode: number): void {
  const temporary = join(staging, randomName());
  try {
    writeDurably(temporary, content, mode);
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  syncFolder(dirname(path));
}

/** Names are content of the folder. Windows cannot sync a folder, and need not. */
export function syncFolder(path: string): void {
  if (process.platform === "win32") return;
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

export function randomName(): string {
  return randomBytes(9).toString("hex");
}
