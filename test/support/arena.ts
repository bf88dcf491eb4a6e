/** A folder with a staging folder in it, and things around that must stay as they are: for tests of what writes into the staging folder. */
import { mkdirSync, lstatSync, readdirSync, readFileSync, readlinkSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { folder } from "./files.ts";

export interface Arena {
  readonly root: string;
  readonly staging: string;
  /** All that is around the staging folder: kinds, modes, times, contents. */
  around(): Record<string, string>;
  /** The files in it, by path. */
  files(): Record<string, Buffer>;
}

export function arena(): Arena {
  const root = folder({ "outside/sentinel.txt": "as it was", "outside/deep/er/file.js": "export {}", "sentinel.txt": "as it was" });
  const staging = join(root, "staging");
  mkdirSync(staging, { mode: 0o700 });
  symlinkSync("outside", join(root, "link"));
  return {
    root,
    staging,
    around: () => Object.fromEntries(walk(root).flatMap((path) => (path.startsWith("staging") ? [] : [[path, look(join(root, path))]]))),
    files: () =>
      Object.fromEntries(
        walk(staging).flatMap((path) => (lstatSync(join(staging, path)).isFile() ? [[path, readFileSync(join(staging, path))]] : [])),
      ),
  };
}

function walk(root: string): string[] {
  return readdirSync(root, { recursive: true, encoding: "utf8" }).toSorted();
}

function look(path: string): string {
  const stats = lstatSync(path);
  if (stats.isSymbolicLink()) return `link ${readlinkSync(path)}`;
  const mode = stats.mode.toString(8);
  return stats.isDirectory() ? `folder ${mode}` : `file ${mode} ${stats.mtimeMs} ${readFileSync(path, "base64")}`;
}
