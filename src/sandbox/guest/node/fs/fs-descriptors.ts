/** Inside the isolate: open files, by descriptor. */
import { constants, FLAGS } from "./fs-constants.ts";
import { invalidArgType, invalidArgValue } from "../errors.ts";
import { bytesOf } from "./fs-content.ts";
import type { Data } from "./fs-content.ts";
import { Fault } from "./fs-errors.ts";
import type { Entry, File } from "./fs-node.ts";
import { append, existing, makeFile, resize, walk, writeAt } from "./fs-tree.ts";

const { O_WRONLY, O_RDWR, O_CREAT, O_EXCL, O_TRUNC, O_APPEND, O_DIRECTORY } = constants;
const FIRST = 3;
const MAX_OPEN = 256;

interface Open {
  readonly entry: Entry;
  readonly flags: number;
  position: number;
  /** A text that was read in parts, and its bytes. */
  text?: string;
  encoded?: Uint8Array;
}

const opened = new Map<number, Open>();

export function flagsOf(value: unknown, usual = "r"): number {
  const flags = value ?? usual;
  if (typeof flags === "number") return flags;
  if (typeof flags !== "string") throw invalidArgType("flags", "of type string", flags);
  if (!Object.hasOwn(FLAGS, flags)) throw invalidArgValue("flags", flags);
  return FLAGS[flags]!;
}

/** The entry that `open` leads to. Makes it if the flags say so. */
export function openEntry(path: string, flags: number, mode: number): Entry {
  const writes = (flags & (O_WRONLY | O_RDWR)) !== 0;
  if ((flags & O_CREAT) !== 0) {
    const spot = walk(path);
    if (!spot.entry) return makeFile(spot, mode);
    if ((flags & O_EXCL) !== 0) throw new Fault("EEXIST");
  }
  const entry = existing(path);
  if (entry.kind === "folder") {
    if (writes || (flags & O_CREAT) !== 0) throw new Fault("EISDIR");
    return entry;
  }
  if ((flags & O_DIRECTORY) !== 0) throw new Fault("ENOTDIR");
  if (writes) entry.mount.unlock();
  if ((flags & O_TRUNC) !== 0 && writes) resize(entry, 0);
  return entry;
}

export function openFile(path: string, flags: number, mode: number): number {
  if (opened.size >= MAX_OPEN) throw new Fault("EMFILE");
  const entry = openEntry(path, flags, mode);
  let fd = FIRST;
  while (opened.has(fd)) fd += 1;
  opened.set(fd, { entry, flags, position: 0 });
  return fd;
}

function at(fd: number): Open {
  const found = opened.get(fd);
  if (!found) throw new Fault("EBADF");
  return found;
}

export function entryOf(fd: number): Entry {
  return at(fd).entry;
}

export function close(fd: number): void {
  at(fd);
  opened.delete(fd);
}

function readable(fd: number): { readonly open: Open; readonly file: File } {
  const open = at(fd);
  if ((open.flags & O_WRONLY) !== 0) throw new Fault("EBADF");
  if (open.entry.kind === "folder") throw new Fault("EISDIR");
  return { open, file: open.entry };
}

/** Null means: where the last read or write ended. Returns the number of bytes. */
export function read(fd: number, into: Uint8Array, position: number | null): number {
  const { open, file } = readable(fd);
  const start = position ?? open.position;
  const part = encoded(open, file.content.data).subarray(start, start + into.length);
  into.set(part);
  if (position === null) open.position += part.length;
  return part.length;
}

/** Made once for all reads of a file that does not change. */
function encoded(open: Open, data: Data): Uint8Array {
  if (typeof data !== "string") return data;
  if (open.encoded === undefined || open.text !== data) {
    open.encoded = bytesOf(data);
    open.text = data;
  }
  return open.encoded;
}

/** Reads from the current position to the end of the file. */
export function readRest(fd: number): Uint8Array {
  const { open, file } = readable(fd);
  const rest = bytesOf(file.content.data).subarray(open.position);
  open.position += rest.length;
  return rest;
}

export function write(fd: number, bytes: Uint8Array, position: number | null): number {
  const file = writable(fd);
  const open = at(fd);
  if ((open.flags & O_APPEND) !== 0) {
    append(file, bytes.slice());
    open.position = file.content.size;
    return bytes.length;
  }
  if (bytes.length > 0) writeAt(file, bytes, position ?? open.position);
  if (position === null) open.position += bytes.length;
  return bytes.length;
}

export function writable(fd: number): File {
  const { entry, flags } = at(fd);
  if ((flags & (O_WRONLY | O_RDWR)) === 0 || entry.kind === "folder") throw new Fault("EBADF");
  return entry;
}
