/**
 * Inside the isolate: the tree of files that a plugin sees, and its changes. It is made when the plugin first uses a
 * file. It has no links, so a path means what its names say.
 */
import { LIMITS } from "../../../../protocol/limits.ts";
import { HOME, PACKAGE_ROOT, TEMPORARY } from "../../../../protocol/messages/files.ts";
import type { SentFile, SentVolume } from "../../../../protocol/messages/files.ts";
import { mounts } from "../../boot/world.ts";
import { utf8Length } from "../buffer/codecs.ts";
import { place as here } from "../path.ts";
import { Content, sizeOf } from "./fs-content.ts";
import type { Data } from "./fs-content.ts";
import { Fault } from "./fs-errors.ts";
import { ChangeQueue } from "./fs-change-queue.ts";
import { Mount } from "./fs-mount.ts";
import { adopt, entriesOf, newFile, newFolder, pathBelow } from "./fs-node.ts";
import type { Entry, File, Folder } from "./fs-node.ts";

const FILE = 0o100644;
const FOLDER = 0o40755;
const MAX_PATH = 4096;

/** Where a path leads. */
export interface Spot {
  readonly parent: Folder;
  readonly name: string;
  readonly entry: Entry | undefined;
  /** Its last name is `.` or `..`, or it has none. */
  readonly isDots: boolean;
  /** It ends with a slash. */
  readonly isFolder: boolean;
}

const NOTHING = { maxBytes: 0, maxFiles: 0 };
const system = new Mount("", { ...NOTHING, locked: new Fault("EACCES", `a plugin may write below ${HOME} and ${TEMPORARY}`) });
const own = new Mount("plugin", { ...NOTHING, locked: new Fault("EROFS", "the plugin's own files cannot be changed") });
let top: Folder | undefined;
let isOwnFilled = false;

/** Changes of the volume. Undefined: the plugin has no volume. */
let queue: ChangeQueue | undefined;

function root(): Folder {
  if (top) return top;
  const folder = (path: string, mount: Mount): void => {
    const names = path.slice(1).split("/");
    let at = system.root;
    for (const name of names.slice(0, -1))
      at = (at.children.get(name) as Folder | undefined) ?? adopt(at, newFolder(system, name, 0o40755, Date.now()));
    mount.root.name = names.at(-1)!;
    adopt(at, mount.root);
  };
  top = system.root;
  folder(PACKAGE_ROOT, own);
  folder(HOME, homeMount());
  folder(TEMPORARY, new Mount("tmp", { maxBytes: LIMITS.files.tmpBytes, maxFiles: LIMITS.files.tmpFiles }));
  return top;
}

function homeMount(): Mount {
  if (mounts.volume === undefined)
    return new Mount("plugin", {
      ...NOTHING,
      locked: new Fault("EACCES", "the plugin has no volume: the operator has not granted fs"),
    });
  const { maxBytes, files } = JSON.parse(mounts.volume) as SentVolume;
  mounts.volume = undefined;
  queue = new ChangeQueue();
  const mount = new Mount("plugin", { maxBytes, maxFiles: LIMITS.files.files, queue });
  fill(mount, files);
  return mount;
}

function fill(mount: Mount, files: readonly SentFile[]): void {
  for (const [path, timeMs, kind, sent] of files) {
    const names = path.split("/");
    const name = names.pop()!;
    let parent = mount.root;
    for (const folder of names)
      parent = (parent.children.get(folder) as Folder | undefined) ?? adopt(parent, newFolder(mount, folder, FOLDER, timeMs));
    const entry =
      kind === "d"
        ? newFolder(mount, name, FOLDER, timeMs)
        : newFile(mount, name, contentOf(kind, sent), mount === own ? 0o100444 : FILE, timeMs);
    mount.countIn(adopt(parent, entry));
  }
}

function contentOf(kind: "u" | "t" | "b" | "x", sent: string | number): Content {
  if (kind === "u") return new Content(sent as string);
  return new Content("", kind === "x" ? { lacking: sent as number } : { base64: sent as string, isText: kind === "t" });
}

export function childrenOf(folder: Folder): Map<string, Entry> {
  if (folder === own.root && !isOwnFilled) {
    isOwnFilled = true;
    if (mounts.files !== undefined) fill(own, JSON.parse(mounts.files) as SentFile[]);
    mounts.files = undefined;
  }
  return folder.children;
}

/** The absolute path of an entry. */
export function pathOf(entry: Entry): string {
  return entry === system.root ? "/" : `/${pathBelow(system.root, entry)}`;
}

/** Follows a path as Linux would: every name but the last must be an existing folder. */
export function walk(path: string): Spot {
  if (path === "") throw new Fault("ENOENT");
  if (path.length >= MAX_PATH) throw new Fault("ENAMETOOLONG");
  const names = (path.startsWith("/") ? path : `${here.cwd}/${path}`).split("/").filter((name) => name !== "" && name !== ".");
  let at = root();
  for (const [index, name] of names.entries()) {
    if (utf8Length(name) > LIMITS.files.nameBytes) throw new Fault("ENAMETOOLONG");
    const isLast = index === names.length - 1;
    if (name === "..") {
      at = at.parent ?? at;
      if (isLast) break;
      continue;
    }
    const entry = childrenOf(at).get(name);
    if (isLast) {
      const isFolder = /\/\.?$/.test(path);
      if (isFolder && entry?.kind === "file") throw new Fault("ENOTDIR");
      return { parent: at, name, entry, isFolder, isDots: path.endsWith("/.") };
    }
    if (!entry)
      throw new Fault(
        "ENOENT",
        at === own.root && name === "node_modules" ? "of a plugin's packages only the code is there, in its bundle" : undefined,
      );
    if (entry.kind === "file") throw new Fault("ENOTDIR");
    at = entry;
  }
  return { parent: at.parent ?? at, name: at.name, entry: at, isFolder: true, isDots: true };
}

export function existing(path: string): Entry {
  const { entry } = walk(path);
  if (!entry) throw new Fault("ENOENT");
  return entry;
}

export function existingFile(path: string): File {
  const entry = existing(path);
  if (entry.kind === "folder") throw new Fault("EISDIR");
  return entry;
}

export function makeFolder({ parent, name, entry }: Spot, mode = 0o777): Folder {
  if (entry) throw new Fault("EEXIST");
  return added(
    parent,
    name,
    (mount, timeMs) => newFolder(mount, name, 0o40000 | (mode & 0o7777 & ~0o22), timeMs),
    (path) => parent.mount.queue?.made(path),
  );
}

export function makeFile({ parent, name, entry, isFolder }: Spot, mode = 0o666): File {
  if (entry) throw new Fault("EEXIST");
  if (isFolder) throw new Fault("EISDIR");
  return added(
    parent,
    name,
    (mount, timeMs) => newFile(mount, name, new Content(), 0o100000 | (mode & 0o7777 & ~0o22), timeMs),
    (path, made) => parent.mount.queue?.wrote(made, path, 0, 0),
  );
}

function added<E extends Entry>(
  parent: Folder,
  name: string,
  make: (mount: Mount, timeMs: number) => E,
  note: (path: string, made: E) => void,
): E {
  const { mount } = parent;
  mount.unlock();
  const path = mount.placeFor(parent, name);
  mount.count(1, path.length);
  const made = adopt(parent, make(mount, Date.now()));
  touch(parent);
  note(path, made);
  return made;
}

/** Removes the entry and everything below it. */
export function remove(entry: Entry): void {
  const { parent } = entry;
  if (!parent) throw new Fault("EBUSY");
  parent.mount.unlock();
  const { mount } = entry;
  const path = pathBelow(mount.root, entry);
  for (const one of entriesOf(entry)) {
    if (one.kind === "file") mount.grow(-one.content.size);
    mount.count(-1, -pathBelow(mount.root, one).length);
  }
  mount.queue?.removed(entry, path);
  parent.children.delete(entry.name);
  // An open descriptor must not lead back into the tree.
  for (const one of entriesOf(entry)) one.parent = undefined;
  touch(parent);
}

/** Moves an entry to a free spot. Between mounts it is copied. */
export function move(entry: Entry, { parent, name }: Spot): void {
  const from = entry.parent;
  if (!from) throw new Fault("EBUSY");
  from.mount.unlock();
  parent.mount.unlock();
  for (let at: Folder | undefined = parent; at; at = at.parent) if (at === entry) throw new Fault("EINVAL");
  const { mount } = parent;
  if (from.mount !== mount) {
    copy(entry, { parent, name, entry: undefined, isFolder: false, isDots: false });
    return remove(entry);
  }
  const old = pathBelow(mount.root, entry);
  const path = mount.placeFor(parent, name);
  const inside = [...entriesOf(entry)];
  for (const one of inside) mount.placeFor(parent, name + pathBelow(mount.root, one).slice(old.length));
  mount.count(0, (path.length - old.length) * inside.length);
  from.children.delete(entry.name);
  entry.name = name;
  adopt(parent, entry);
  touch(from);
  touch(parent);
  mount.queue?.moved(entry, old, path);
}

export function copy(entry: Entry, to: Spot): void {
  if (entry.kind === "file") return writeAll(makeFile(to, entry.mode), dataCopy(entry));
  const made = makeFolder(to, entry.mode);
  for (const child of childrenOf(entry).values())
    copy(child, { parent: made, name: child.name, entry: undefined, isFolder: false, isDots: false });
}

/** A copy, because bytes change in place and two files must not share them. */
export function dataCopy({ content: { data } }: File): Data {
  return typeof data === "string" ? data : data.slice();
}

/** The caller has copied bytes that others may change. */
export function writeAll(file: File, data: Data): void {
  const size = sizeOf(data);
  change(file, size - file.content.size, 0, 0, () => file.content.replace(data, size));
}

export function append(file: File, data: Data): void {
  const { size, chars } = file.content;
  const more = sizeOf(data);
  change(file, more, size, chars, () => file.content.append(data, more));
}

export function writeAt(file: File, bytes: Uint8Array, at: number): void {
  const { size } = file.content;
  change(file, Math.max(0, at + bytes.length - size), Math.min(at, size), undefined, () => file.content.write(bytes, at));
}

export function resize(file: File, size: number): void {
  const old = file.content.size;
  change(file, size - old, Math.min(size, old), size === 0 ? 0 : undefined, () => file.content.resize(size));
}

/** `offset` is the first byte that may differ, `chars` its character index. */
function change(file: File, growth: number, offset: number, chars: number | undefined, work: () => void): void {
  const { mount } = file;
  mount.unlock();
  // A removed file that is still open may be written to, within bounds.
  const isThere = file.parent !== undefined;
  if (isThere) mount.grow(growth);
  else if (growth > mount.rules.maxBytes) throw new Fault("ENOSPC");
  if (isThere && growth < 0) mount.queue?.shrinks(file);
  work();
  file.mtimeMs = file.ctimeMs = Date.now();
  if (isThere) mount.queue?.wrote(file, pathBelow(mount.root, file), offset, chars);
}

function touch(folder: Folder): void {
  folder.mtimeMs = folder.ctimeMs = Date.now();
}

/**
 * Makes an asynchronous function of a synchronous one. It is done at once and settles when the host has stored the
 * change.
 */
export async function settled<T>(work: () => T): Promise<T> {
  const before = queue?.changes ?? 0;
  const value = work();
  if ((queue?.changes ?? 0) !== before) await queue!.persisted();
  return value;
}
