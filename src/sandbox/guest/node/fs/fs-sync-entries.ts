/** Inside the isolate: Node's synchronous functions that list, make, move, copy and remove files and folders. */
import { nodeError } from "../errors.ts";
import { modeOf, onPath, optionsOf, pathOfArgument } from "./fs-arguments.ts";
import { constants } from "./fs-constants.ts";
import { bufferClass } from "./fs-content.ts";
import { calling, Fault, fsError } from "./fs-errors.ts";
import type { Entry, Folder } from "./fs-node.ts";
import { Dirent } from "./fs-stats.ts";
import { childrenOf, copy, dataCopy, existing, existingFile, makeFolder, move, pathOf, remove, walk, writeAll } from "./fs-tree.ts";

export function mkdir(target: unknown, given?: unknown): string | undefined {
  const options = typeof given === "object" && given !== null ? (given as { recursive?: unknown; mode?: unknown }) : { mode: given };
  const mode = modeOf(options.mode, 0o777);
  return onPath("mkdir", target, (path) => {
    if (!options.recursive) {
      makeFolder(walk(path), mode);
      return undefined;
    }
    let first: Folder | undefined;
    const names = path.split("/");
    for (let end = 1; end <= names.length; end++) {
      const part = names.slice(0, end).join("/");
      if (part === "") continue;
      const spot = walk(part);
      if (spot.entry?.kind === "file") throw new Fault(end === names.length ? "EEXIST" : "ENOTDIR");
      if (spot.entry) continue;
      const made = makeFolder(spot, mode);
      first ??= made;
    }
    return first && pathOf(first);
  });
}

/** Sorted by the bytes of their names, as libuv does. */
function sorted(folder: Folder): Entry[] {
  return [...childrenOf(folder).values()].toSorted(({ name: a }, { name: b }) => byPoints(a, b));
}

function byPoints(a: string, b: string): number {
  for (let at = 0; at < a.length && at < b.length; at++) {
    const x = a.codePointAt(at)!;
    const y = b.codePointAt(at)!;
    if (x !== y) return x - y;
    if (x > 0xffff) at += 1;
  }
  return a.length - b.length;
}

export function readdir(target: unknown, given?: unknown): (string | Buffer | Dirent)[] {
  const { encoding, withFileTypes, recursive } = optionsOf(given);
  const top = pathOfArgument(target);
  const named = (name: string): string | Buffer => (encoding === "buffer" ? bufferClass().from(name) : name);
  const found: (string | Buffer | Dirent)[] = [];
  const queue: [folder: Entry, below: string][] = [[calling("scandir", top, () => existing(top)), ""]];
  for (const [folder, below] of queue) {
    if (folder.kind === "file") throw fsError(new Fault("ENOTDIR"), "scandir", top);
    for (const entry of sorted(folder)) {
      const path = below + entry.name;
      if (withFileTypes) found.push(new Dirent(named(entry.name), below === "" ? top : joined(top, below.slice(0, -1)), entry));
      else found.push(named(path));
      if (recursive && entry.kind === "folder") queue.push([entry, `${path}/`]);
    }
  }
  return found;
}

function joined(folder: string, name: string): string {
  return folder.endsWith("/") ? folder + name : `${folder}/${name}`;
}

export function access(target: unknown, mode: unknown = constants.F_OK): void {
  onPath("access", target, (path) => {
    const entry = existing(path);
    if ((Number(mode) & constants.W_OK) !== 0) entry.mount.unlock();
    if ((Number(mode) & constants.X_OK) !== 0 && (entry.mode & 0o111) === 0) throw new Fault("EACCES");
  });
}

export function exists(target: unknown): boolean {
  try {
    access(target);
    return true;
  } catch {
    return false;
  }
}

export function rm(target: unknown, given?: unknown): void {
  const { force, recursive } = (given ?? {}) as { force?: unknown; recursive?: unknown };
  const path = pathOfArgument(target);
  try {
    calling("rm", path, () => {
      const entry = existing(path);
      if (entry.kind === "folder" && !recursive)
        throw nodeError(Error, "ERR_FS_EISDIR", `Path is a directory: rm returned EISDIR (is a directory) ${path}`);
      remove(entry);
    });
  } catch (error) {
    if (!force || (error as { code?: string }).code !== "ENOENT") throw error;
  }
}

export function rmdir(target: unknown, given?: unknown): void {
  if ((given as { recursive?: unknown } | undefined)?.recursive) return rm(target, { recursive: true });
  onPath("rmdir", target, (path) => {
    const { entry, isDots } = walk(path);
    if (!entry) throw new Fault("ENOENT");
    if (entry.kind === "file") throw new Fault("ENOTDIR");
    if (isDots) throw new Fault(path.endsWith("..") ? "ENOTEMPTY" : "EINVAL");
    if (childrenOf(entry).size > 0) throw new Fault("ENOTEMPTY");
    remove(entry);
  });
}

export function unlink(target: unknown): void {
  onPath("unlink", target, (path) => remove(existingFile(path)));
}

export function rename(from: unknown, to: unknown): void {
  const source = pathOfArgument(from, "oldPath");
  const dest = pathOfArgument(to, "newPath");
  const work = (): void => {
    const old = walk(source);
    const { entry } = old;
    if (!entry) throw new Fault("ENOENT");
    const spot = walk(dest);
    if (old.isDots || spot.isDots) throw new Fault("EBUSY");
    if (spot.entry === entry) return;
    if (entry.kind === "file" && spot.isFolder && !spot.entry) throw new Fault("ENOTDIR");
    for (let at: Folder | undefined = spot.parent; at; at = at.parent) if (at === entry) throw new Fault("EINVAL");
    if (spot.entry) {
      if (spot.entry.kind === "folder") {
        if (entry.kind === "file") throw new Fault("EISDIR");
        if (childrenOf(spot.entry).size > 0) throw new Fault("ENOTEMPTY");
      } else if (entry.kind === "folder") {
        throw new Fault("ENOTDIR");
      }
      entry.parent?.mount.unlock();
      remove(spot.entry);
    }
    move(entry, { ...spot, entry: undefined });
  };
  calling("rename", source, work, dest);
}

export function copyFile(from: unknown, to: unknown, mode: unknown = 0): void {
  const source = pathOfArgument(from, "src");
  const dest = pathOfArgument(to, "dest");
  const work = (): void => {
    const file = existingFile(source);
    const spot = walk(dest);
    if (spot.entry === file) return;
    if (!spot.entry) return copy(file, spot);
    if ((Number(mode) & constants.COPYFILE_EXCL) !== 0) throw new Fault("EEXIST");
    if (spot.entry.kind === "folder") throw new Fault("EISDIR");
    writeAll(spot.entry, dataCopy(file));
  };
  calling("copyfile", source, work, dest);
}

interface CpOptions {
  readonly recursive?: unknown;
  readonly force?: unknown;
  readonly errorOnExist?: unknown;
  readonly filter?: (from: string, to: string) => unknown;
}

export function cp(from: unknown, to: unknown, options: CpOptions = {}): void {
  const source = pathOfArgument(from, "src");
  const dest = pathOfArgument(to, "dest");
  const { recursive, force = true, errorOnExist, filter } = options;
  if (filter && !filter(source, dest)) return;
  const entry = calling("cp", source, () => existing(source), dest);
  if (entry.kind === "folder") {
    if (!recursive) throw nodeError(Error, "ERR_FS_EISDIR", `Recursive option not enabled, cannot copy a directory: ${source}`);
    if (`${dest}/`.startsWith(`${source}/`))
      throw nodeError(Error, "ERR_FS_CP_EINVAL", `Invalid src or dest: cannot copy ${source} to a subdirectory of self ${dest}`);
    mkdir(dest, { recursive: true });
    for (const { name } of sorted(entry)) cp(joined(source, name), joined(dest, name), options);
    return;
  }
  if (exists(dest) && !force) {
    if (errorOnExist) throw nodeError(Error, "ERR_FS_CP_EEXIST", `Target already exists: ${dest}`);
    return;
  }
  const end = dest.lastIndexOf("/");
  if (end > 0) mkdir(dest.slice(0, end), { recursive: true });
  copyFile(source, dest);
}

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

export function mkdtemp(prefix: unknown): string {
  const start = pathOfArgument(prefix, "prefix");
  for (;;) {
    const path = start + Array.from({ length: 6 }, () => LETTERS[Math.floor(Math.random() * LETTERS.length)]).join("");
    if (exists(path)) continue;
    calling("mkdtemp", `${start}XXXXXX`, () => makeFolder(walk(path), 0o700));
    return path;
  }
}
