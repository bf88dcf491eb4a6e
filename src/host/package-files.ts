/**
 * Bundler process: the plugin's own files, for its `fs` to read. What it can read must be its own: regular files of its folder, by their real
 * paths, and nothing that a package manager, git or an editor keeps there. The largest are left out when there are too many.
 */
import { closeSync, constants, fstatSync, openSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import type { Dirent } from "node:fs";
import { join, relative, sep } from "node:path";
import { LIMITS } from "../protocol/limits.ts";
import { lackingFile, sentFile } from "./sent-files.ts";

interface Found {
  readonly name: string;
  readonly path: string;
  readonly size: number;
  readonly mtimeMs: number;
}

/** As JSON. `only`: the plugin is a file, and the folder around it is not its own; it gets these, which are in its bundle. */
export function packageFiles(root: string, only?: readonly string[]): string {
  const base = realpathSync(root);
  const found = (only ?? [...filesIn(base)]).flatMap((path) => look(base, path) ?? []);
  const kept = new Set<Found>();
  let bytes = 0;
  for (const file of found.toSorted((a, b) => a.size - b.size)) {
    bytes += file.size;
    if (bytes > LIMITS.packageBytes || kept.size >= LIMITS.packageFiles) break;
    kept.add(file);
  }
  let lacking = 0;
  const sent = found
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((file) => {
      if (kept.has(file)) return read(file) ?? [];
      return ++lacking > LIMITS.packageFiles ? [] : lackingFile(file.name, file.mtimeMs, file.size);
    });
  return `[${sent.join(",")}]`;
}

/** Hidden names are not the plugin's: `.git`, and `.env` and `.npmrc` with what the operator keeps in them. */
function isForeign(name: string): boolean {
  return name.startsWith(".") || name === "node_modules";
}

function* filesIn(base: string): Generator<string> {
  const folders: [path: string, depth: number][] = [[base, 0]];
  let looks = 0;
  for (const [folder, depth] of folders) {
    for (const entry of entriesOf(folder)) {
      if (isForeign(entry.name)) continue;
      if (++looks > LIMITS.packageLooks) return;
      const path = join(folder, entry.name);
      // A link to a folder is not followed: it may lead around in a circle.
      if (entry.isDirectory() && depth < LIMITS.packageDepth) folders.push([path, depth + 1]);
      else if (entry.isFile() || entry.isSymbolicLink()) yield path;
    }
  }
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** Undefined: not a file of the folder's. */
function look(base: string, path: string): Found | undefined {
  try {
    const real = realpathSync(path);
    // SECURITY: of the file itself, not of a link to it. test/contract/fs.test.ts
    if (!real.startsWith(base + sep) || relative(base, real).split(sep).some(isForeign)) return undefined;
    const opened = openSync(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const stats = fstatSync(opened);
      const name = relative(base, path).split(sep).join("/");
      return stats.isFile() && name.length <= LIMITS.volumePathChars
        ? { name, path: real, size: stats.size, mtimeMs: Math.floor(stats.mtimeMs) }
        : undefined;
    } finally {
      closeSync(opened);
    }
  } catch {
    return undefined;
  }
}

function read({ name, path, size, mtimeMs }: Found): string | undefined {
  try {
    const opened = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const bytes = readFileSync(opened);
      // It has grown since: what it is now was not counted.
      return bytes.length > size ? undefined : sentFile(name, mtimeMs, bytes);
    } finally {
      closeSync(opened);
    }
  } catch {
    return undefined;
  }
}
