/** Inside the isolate: the nodes of the file system's tree. */
import type { Content } from "./fs-content.ts";
import type { Mount } from "./fs-mount.ts";

interface Common {
  readonly ino: number;
  readonly mount: Mount;
  /** Undefined: it was removed, but open descriptors still have it. The root is its own parent. */
  parent: Folder | undefined;
  name: string;
  mode: number;
  uid: number;
  gid: number;
  atimeMs: number;
  mtimeMs: number;
  ctimeMs: number;
  readonly birthtimeMs: number;
}

export interface File extends Common {
  readonly kind: "file";
  readonly content: Content;
}

export interface Folder extends Common {
  readonly kind: "folder";
  readonly children: Map<string, Entry>;
}

export type Entry = File | Folder;

let inodes = 1;

function common(mount: Mount, name: string, mode: number, timeMs: number): Common {
  const times = { atimeMs: timeMs, mtimeMs: timeMs, ctimeMs: timeMs, birthtimeMs: timeMs };
  return { ino: inodes++, mount, parent: undefined, name, mode, uid: 1000, gid: 1000, ...times };
}

export function newFile(mount: Mount, name: string, content: Content, mode: number, timeMs: number): File {
  return { kind: "file", content, ...common(mount, name, mode, timeMs) };
}

export function newFolder(mount: Mount, name: string, mode: number, timeMs: number): Folder {
  return { kind: "folder", children: new Map(), ...common(mount, name, mode, timeMs) };
}

export function adopt<E extends Entry>(parent: Folder, child: E): E {
  child.parent = parent;
  parent.children.set(child.name, child);
  return child;
}

/** The path below a folder, without a leading slash. */
export function pathBelow(top: Folder, entry: Entry): string {
  let path = entry.name;
  for (let at = entry.parent!; at !== top; at = at.parent!) path = `${at.name}/${path}`;
  return path;
}

/** The entry and everything below it. */
export function* entriesOf(entry: Entry): Generator<Entry> {
  yield entry;
  if (entry.kind === "folder") for (const child of entry.children.values()) yield* entriesOf(child);
}
