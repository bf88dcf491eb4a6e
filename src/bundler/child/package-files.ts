/**
 * Bundler child process: the plugin's own files, for its `fs` to read. They must be its own: regular files of its
 * folder by their real paths, and nothing that a package manager, git or an editor keeps there. If there are too many,
 * the largest are left out.
 */
import { closeSync, constants, fstatSync, openSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import type { Dirent } from "node:fs";
import { basename, join, relative, sep } from "node:path";
import { LIMITS } from "../../protocol/limits.ts";
import { lackingFile, sentFile } from "../sent-files.ts";

interface Found {
  readonly name: string;
  readonly path: string;
  readonly size: number;
  readonly mtimeMs: number;
}

export interface FileOptions {
  /** The plugin is a single file, and its folder is not its own; it gets only these, which are in its bundle. */
  readonly only: readonly string[] | undefined;
  /** Folders of packages that are in the bundle. */
  readonly packages: readonly string[];
  /** The name of a package's file inside the cell. */
  readonly nameOf: (path: string) => string;
  /** The bundle. */
  readonly code: string;
}

/** As JSON. */
export function packageFiles(root: string, { only, packages, nameOf, code }: FileOptions): string {
  const base = realpathSync(root);
  const own = (only ?? [...filesIn(base)]).flatMap((path) => look(base, path) ?? []);
  const found = [...own, ...packages.flatMap((folder) => dataFiles(folder, nameOf, code))];
  const kept = new Set<Found>();
  let bytes = 0;
  for (const file of found.toSorted((a, b) => a.size - b.size)) {
    bytes += file.size;
    if (bytes > LIMITS.plugin.packageBytes || kept.size >= LIMITS.plugin.packageFiles) break;
    kept.add(file);
  }
  let lacking = 0;
  const sent = found
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((file) => {
      if (kept.has(file)) return read(file) ?? [];
      return ++lacking > LIMITS.plugin.packageFiles ? [] : lackingFile(file.name, file.mtimeMs, file.size);
    });
  return `[${sent.join(",")}]`;
}

/** What packages read beside their code. */
const DATA = /\.(?:wasm|dat|data|bin|txt|json|proto|csv|tsv|html|xml|yaml|yml|graphql|sql|bcmap|afm|ttf|ico|onnx|model)$/i;

/** The data files of a package that the code names. SECURITY: test/contract/package-data.test.ts */
function dataFiles(folder: string, nameOf: (path: string) => string, code: string): Found[] {
  const base = realpathSync(folder);
  return [...filesIn(base)].flatMap((path) => {
    if (!DATA.test(path) || basename(path) === "package.json" || !code.includes(basename(path))) return [];
    const found = look(base, path);
    return found ? { ...found, name: nameOf(join(folder, relative(base, path))) } : [];
  });
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
      if (++looks > LIMITS.plugin.packageLooks) return;
      const path = join(folder, entry.name);
      // Does not follow a link to a folder, which may form a cycle.
      if (entry.isDirectory() && depth < LIMITS.plugin.packageDepth) folders.push([path, depth + 1]);
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

/** Undefined: not a file of the folder. */
function look(base: string, path: string): Found | undefined {
  try {
    const real = realpathSync(path);
    // SECURITY: check the file itself, not a link to it. test/contract/fs.test.ts
    if (!real.startsWith(base + sep) || relative(base, real).split(sep).some(isForeign)) return undefined;
    const opened = openSync(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const stats = fstatSync(opened);
      const name = relative(base, path).split(sep).join("/");
      return stats.isFile() && name.length <= LIMITS.files.pathChars
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
      // It has grown since, and the additional bytes were not counted.
      return bytes.length > size ? undefined : sentFile(name, mtimeMs, bytes);
    } finally {
      closeSync(opened);
    }
  } catch {
    return undefined;
  }
}
