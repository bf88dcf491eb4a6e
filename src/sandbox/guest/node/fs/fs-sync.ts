/**
 * Inside the isolate: Node's file functions in their synchronous form. Those with callbacks and promises are made of
 * them.
 */
import { invalidArgType, outOfRange } from "../errors.ts";
import { dataFor, dataOfArgument, modeOf, onDescriptor, onPath, optionsOf, pathOfArgument, timeOf } from "./fs-arguments.ts";
import { constants } from "./fs-constants.ts";
import { bytesOf } from "./fs-content.ts";
import * as descriptors from "./fs-descriptors.ts";
import { calling, Fault, fsError } from "./fs-errors.ts";
import type { Entry, File } from "./fs-node.ts";
import { statsOf } from "./fs-stats.ts";
import { access, copyFile, cp, mkdir, mkdtemp, readdir, rename, rm, rmdir, unlink } from "./fs-sync-entries.ts";
import { append, existing, existingFile, pathOf, resize, writeAll, writeAt } from "./fs-tree.ts";

type Args = readonly unknown[];

function readFile(target: unknown, given?: unknown): string | Buffer {
  const options = optionsOf(given);
  if (typeof target === "number")
    return dataFor(
      onDescriptor("read", target, (fd) => descriptors.readRest(fd)),
      options.encoding,
    );
  const flags = descriptors.flagsOf(options.flag);
  const entry = onPath("open", target, (path) => descriptors.openEntry(path, flags, 0o666));
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
  const entry = onPath("open", target, (path) => descriptors.openEntry(path, flags, modeOf(options.mode, 0o666)));
  calling("write", undefined, () => {
    if ((flags & (constants.O_WRONLY | constants.O_RDWR)) === 0) throw new Fault("EBADF");
    const file = entry as File;
    if ((flags & constants.O_APPEND) !== 0) return append(file, content);
    if ((flags & constants.O_TRUNC) !== 0) return writeAll(file, content);
    const bytes = bytesOf(content);
    // Overwrites the beginning and keeps the rest.
    if (bytes.length > 0) writeAt(file, bytes, 0);
  });
}

function stat(syscall: string, target: unknown, given?: unknown): unknown {
  const options = (given ?? {}) as { bigint?: unknown; throwIfNoEntry?: unknown };
  try {
    return statsOf(
      onPath(syscall, target, (path) => existing(path)),
      options,
    );
  } catch (error) {
    if (options.throwIfNoEntry === false && ["ENOENT", "ENOTDIR"].includes((error as { code?: string }).code ?? "")) return undefined;
    throw error;
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
  onPath("open", target, (path) => resize(existingFile(path), size));
}

function ftruncate(target: unknown, length?: unknown): void {
  const size = lengthOf(length);
  onDescriptor("ftruncate", target, (fd) => resize(descriptors.writable(fd), size));
}

/** Times, modes and owners live as long as the cell. Nothing depends on them. */
function mark(entry: Entry, marks: Partial<Pick<Entry, "atimeMs" | "mtimeMs" | "uid" | "gid" | "mode">>): void {
  entry.mount.unlock();
  Object.assign(entry, marks, { ctimeMs: Date.now() });
}

function utimes(syscall: string, target: unknown, atime: unknown, mtime: unknown): void {
  const marks = { atimeMs: timeOf(atime), mtimeMs: timeOf(mtime) };
  onPath(syscall, target, (path) => mark(existing(path), marks));
}

function chmod(syscall: string, target: unknown, mode: unknown): void {
  const bits = modeOf(mode, 0) & 0o7777;
  onPath(syscall, target, (path) => {
    const entry = existing(path);
    mark(entry, { mode: (entry.mode & constants.S_IFMT) | bits });
  });
}

function chown(syscall: string, target: unknown, uid: unknown, gid: unknown): void {
  onPath(syscall, target, (path) => mark(existing(path), { uid: Number(uid), gid: Number(gid) }));
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
  // The third form is read(fd, { buffer, … }).
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
  return onPath("lstat", target, (path) => pathOf(existing(path)));
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
    return onPath("open", target, (path) => descriptors.openFile(path, bits, modeOf(mode, 0o666)));
  },
  read,
  readFile,
  readdir,
  readlink: (target: unknown): never => {
    onPath("readlink", target, (path) => existing(path));
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
