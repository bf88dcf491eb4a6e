/** Inside the isolate: Node's file functions, in their synchronous form; the others are made of them. */
import { invalidArgType, nodeError, outOfRange } from "./errors.ts";
import { checkDescriptor, dataFor, dataOfArgument, modeOf, optionsOf, pathOfArgument, timeOf } from "./fs-arguments.ts";
import { constants } from "./fs-constants.ts";
import { bufferClass, bytesOf } from "./fs-content.ts";
import * as descriptors from "./fs-descriptors.ts";
import { calling, Fault, fsError } from "./fs-errors.ts";
import type { Entry, File, Folder } from "./fs-node.ts";
import { Dirent, statsOf } from "./fs-stats.ts";
import {
  append,
  childrenOf,
  copy,
  dataCopy,
  existing,
  makeFolder,
  move,
  pathOf,
  remove,
  resize,
  walk,
  writeAll,
  writeAt,
} from "./fs-tree.ts";

type Args = readonly unknown[];

function on<T>(syscall: string, value: unknown, work: (path: string) => T): T {
  const path = pathOfArgument(value);
  return calling(syscall, path, () => work(path));
}

function onDescriptor<T>(syscall: string, value: unknown, work: (fd: number) => T): T {
  const fd = checkDescriptor(value);
  return calling(syscall, undefined, () => work(fd));
}

function fileAt(path: string): File {
  const entry = existing(path);
  if (entry.kind === "folder") throw new Fault("EISDIR");
  return entry;
}

function readFile(target: unknown, given?: unknown): string | Buffer {
  const options = optionsOf(given);
  if (typeof target === "number")
    return dataFor(
      onDescriptor("read", target, (fd) => descriptors.readRest(fd)),
      options.encoding,
    );
  const flags = descriptors.flagsOf(options.flag);
  const entry = on("open", target, (path) => descriptors.openEntry(path, flags, 0o666));
  const data = calling("read", undefined, () => {
    if (entry.kind === "folder") throw new Fault("EISDIR");
    if ((flags & constants.O_WRONLY) !== 0) throw new Fault("EBADF");
    return entry.content.data;
  });
  return dataFor(data, options.encoding);
}

function writeFile(target: unknown, data: unknown, given?: unknown, usual = "w"): void {
  const options = optionsOf(given);
  const content = dataOfArgument(data, options.encoding);
  if (typeof target === "number") return void onDescriptor("write", target, (fd) => descriptors.write(fd, bytesOf(content), null));
  const flags = descriptors.flagsOf(options.flag, usual);
  const entry = on("open", target, (path) => descriptors.openEntry(path, flags, modeOf(options.mode, 0o666)));
  calling("write", undefined, () => {
    if ((flags & (constants.O_WRONLY | constants.O_RDWR)) === 0) throw new Fault("EBADF");
    const file = entry as File;
    if ((flags & constants.O_APPEND) !== 0) return append(file, content);
    if ((flags & constants.O_TRUNC) !== 0) return writeAll(file, content);
    const bytes = bytesOf(content);
    // Over the beginning, without cutting off what is behind.
    if (bytes.length > 0) writeAt(file, bytes, 0);
  });
}

function mkdir(target: unknown, given?: unknown): string | undefined {
  const options = typeof given === "object" && given !== null ? (given as { recursive?: unknown; mode?: unknown }) : { mode: given };
  const mode = modeOf(options.mode, 0o777);
  return on("mkdir", target, (path) => {
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

/** By the bytes of their names, as libuv sorts them. */
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

function readdir(target: unknown, given?: unknown): (string | Buffer | Dirent)[] {
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

function stat(syscall: string, target: unknown, given?: unknown): unknown {
  const options = (given ?? {}) as { bigint?: unknown; throwIfNoEntry?: unknown };
  try {
    return statsOf(
      on(syscall, target, (path) => existing(path)),
      options,
    );
  } catch (error) {
    if (options.throwIfNoEntry === false && ["ENOENT", "ENOTDIR"].includes((error as { code?: string }).code ?? "")) return undefined;
    throw error;
  }
}

function access(target: unknown, mode: unknown = constants.F_OK): void {
  on("access", target, (path) => {
    const entry = existing(path);
    if ((Number(mode) & constants.W_OK) !== 0) entry.mount.unlock();
    if ((Number(mode) & constants.X_OK) !== 0 && (entry.mode & 0o111) === 0) throw new Fault("EACCES");
  });
}

function exists(target: unknown): boolean {
  try {
    access(target);
    return true;
  } catch {
    return false;
  }
}

function rm(target: unknown, given?: unknown): void {
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

function rmdir(target: unknown, given?: unknown): void {
  if ((given as { recursive?: unknown } | undefined)?.recursive) return rm(target, { recursive: true });
  on("rmdir", target, (path) => {
    const { entry, isDots } = walk(path);
    if (!entry) throw new Fault("ENOENT");
    if (entry.kind === "file") throw new Fault("ENOTDIR");
    if (isDots) throw new Fault(path.endsWith("..") ? "ENOTEMPTY" : "EINVAL");
    if (childrenOf(entry).size > 0) throw new Fault("ENOTEMPTY");
    remove(entry);
  });
}

function unlink(target: unknown): void {
  on("unlink", target, (path) => remove(fileAt(path)));
}

function rename(from: unknown, to: unknown): void {
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

function copyFile(from: unknown, to: unknown, mode: unknown = 0): void {
  const source = pathOfArgument(from, "src");
  const dest = pathOfArgument(to, "dest");
  const work = (): void => {
    const file = fileAt(source);
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

function cp(from: unknown, to: unknown, options: CpOptions = {}): void {
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

function mkdtemp(prefix: unknown): string {
  const start = pathOfArgument(prefix, "prefix");
  for (;;) {
    const path = start + Array.from({ length: 6 }, () => LETTERS[Math.floor(Math.random() * LETTERS.length)]).join("");
    if (exists(path)) continue;
    calling("mkdtemp", `${start}XXXXXX`, () => makeFolder(walk(path), 0o700));
    return path;
  }
}

function lengthOf(value: unknown): number {
  if (value === undefined || value === null) return 0;
  if (typeof value !== "number") throw invalidArgType("len", "of type number", value);
  if (!Number.isInteger(value)) throw outOfRange("len", "an integer", value);
  return Math.max(0, value);
}

function truncate(target: unknown, length?: unknown): void {
  if (typeof target === "number") return ftruncate(target, length);
  const size = lengthOf(length);
  on("open", target, (path) => resize(fileAt(path), size));
}

function ftruncate(target: unknown, length?: unknown): void {
  const size = lengthOf(length);
  onDescriptor("ftruncate", target, (fd) => resize(descriptors.writable(fd), size));
}

/** Times, modes and owners are kept as long as the cell is; nothing depends on them. */
function mark(entry: Entry, marks: Partial<Pick<Entry, "atimeMs" | "mtimeMs" | "uid" | "gid" | "mode">>): void {
  entry.mount.unlock();
  Object.assign(entry, marks, { ctimeMs: Date.now() });
}

function utimes(syscall: string, target: unknown, atime: unknown, mtime: unknown): void {
  const marks = { atimeMs: timeOf(atime), mtimeMs: timeOf(mtime) };
  on(syscall, target, (path) => mark(existing(path), marks));
}

function chmod(syscall: string, target: unknown, mode: unknown): void {
  const bits = modeOf(mode, 0) & 0o7777;
  on(syscall, target, (path) => {
    const entry = existing(path);
    mark(entry, { mode: (entry.mode & constants.S_IFMT) | bits });
  });
}

function chown(syscall: string, target: unknown, uid: unknown, gid: unknown): void {
  on(syscall, target, (path) => mark(existing(path), { uid: Number(uid), gid: Number(gid) }));
}

/** read(fd, buffer, { offset, length, position }) and read(fd, buffer, offset, length, position). */
function read(target: unknown, ...args: Args): number {
  const [buffer, offset, length, position] = rangeOf(args);
  return onDescriptor("read", target, (fd) => descriptors.read(fd, buffer.subarray(offset, offset + length), position));
}

function write(target: unknown, data: unknown, ...args: Args): number {
  if (typeof data === "string") {
    const [position, encoding] = args;
    const bytes = bytesOf(dataOfArgument(data, encoding));
    return onDescriptor("write", target, (fd) => descriptors.write(fd, bytes, positionOf(position)));
  }
  const [buffer, offset, length, position] = rangeOf([data, ...args]);
  return onDescriptor("write", target, (fd) => descriptors.write(fd, buffer.subarray(offset, offset + length), position));
}

function rangeOf([first, second, ...rest]: Args): [buffer: Uint8Array, offset: number, length: number, position: number | null] {
  // read(fd, { buffer, … }) is the third way.
  const isBag = !ArrayBuffer.isView(first) && typeof first === "object" && first !== null;
  const view = isBag ? (first as { buffer?: unknown }).buffer : first;
  const bag = isBag ? first : typeof second === "object" && second !== null ? second : undefined;
  if (!ArrayBuffer.isView(view)) throw invalidArgType("buffer", "an instance of Buffer, TypedArray, or DataView", view);
  const buffer = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
  const { offset, length, position } = (bag ?? { offset: second, length: rest[0], position: rest[1] }) as Record<string, unknown>;
  const start = typeof offset === "number" ? offset : 0;
  if (start < 0 || start > buffer.length) throw outOfRange("offset", `>= 0 && <= ${buffer.length}`, offset);
  const count = typeof length === "number" ? length : buffer.length - start;
  if (count < 0 || start + count > buffer.length) throw outOfRange("length", `>= 0 && <= ${buffer.length - start}`, length);
  return [buffer, start, count, positionOf(position)];
}

function positionOf(value: unknown): number | null {
  if (typeof value === "bigint") return Number(value);
  return typeof value === "number" && value >= 0 ? value : null;
}

function realpath(target: unknown): string {
  return on("lstat", target, (path) => pathOf(existing(path)));
}

function noLinks(syscall: string) {
  return (target: unknown, path: unknown): never => {
    throw fsError(
      new Fault("EPERM", "there are no links inside the sandbox"),
      syscall,
      pathOfArgument(target, "target"),
      pathOfArgument(path),
    );
  };
}

/** By Node's name, without `Sync`. */
export const sync = {
  access,
  appendFile: (target: unknown, data: unknown, options?: unknown) => writeFile(target, data, options, "a"),
  chmod: (target: unknown, mode: unknown) => chmod("chmod", target, mode),
  chown: (target: unknown, uid: unknown, gid: unknown) => chown("chown", target, uid, gid),
  close: (fd: unknown) => onDescriptor("close", fd, (number) => descriptors.close(number)),
  copyFile,
  cp,
  fchmod: (target: unknown, mode: unknown) =>
    onDescriptor("fchmod", target, (fd) => {
      const entry = descriptors.entryOf(fd);
      mark(entry, { mode: (entry.mode & constants.S_IFMT) | (modeOf(mode, 0) & 0o7777) });
    }),
  fchown: (target: unknown, uid: unknown, gid: unknown) =>
    onDescriptor("fchown", target, (fd) => mark(descriptors.entryOf(fd), { uid: Number(uid), gid: Number(gid) })),
  fdatasync: (fd: unknown) => void onDescriptor("fdatasync", fd, (number) => descriptors.entryOf(number)),
  fstat: (target: unknown, options?: { bigint?: unknown }) =>
    statsOf(
      onDescriptor("fstat", target, (fd) => descriptors.entryOf(fd)),
      options ?? {},
    ),
  fsync: (fd: unknown) => void onDescriptor("fsync", fd, (number) => descriptors.entryOf(number)),
  ftruncate,
  futimes: (target: unknown, atime: unknown, mtime: unknown) =>
    onDescriptor("futimes", target, (fd) => mark(descriptors.entryOf(fd), { atimeMs: timeOf(atime), mtimeMs: timeOf(mtime) })),
  lchmod: (target: unknown, mode: unknown) => chmod("lchmod", target, mode),
  lchown: (target: unknown, uid: unknown, gid: unknown) => chown("lchown", target, uid, gid),
  link: noLinks("link"),
  lstat: (target: unknown, options?: unknown) => stat("lstat", target, options),
  lutimes: (target: unknown, atime: unknown, mtime: unknown) => utimes("lutime", target, atime, mtime),
  mkdir,
  mkdtemp,
  open: (target: unknown, flags?: unknown, mode?: unknown): number => {
    const bits = descriptors.flagsOf(flags);
    return on("open", target, (path) => descriptors.openFile(path, bits, modeOf(mode, 0o666)));
  },
  read,
  readFile,
  readdir,
  readlink: (target: unknown): never => {
    on("readlink", target, (path) => existing(path));
    throw fsError(new Fault("EINVAL"), "readlink", pathOfArgument(target));
  },
  realpath,
  rename,
  rm,
  rmdir,
  stat: (target: unknown, options?: unknown) => stat("stat", target, options),
  symlink: noLinks("symlink"),
  truncate,
  unlink,
  utimes: (target: unknown, atime: unknown, mtime: unknown) => utimes("utime", target, atime, mtime),
  write,
  writeFile: (target: unknown, data: unknown, options?: unknown) => writeFile(target, data, options),
};

export { exists };
