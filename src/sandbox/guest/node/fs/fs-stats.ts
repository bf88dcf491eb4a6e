/** Inside the isolate: `fs.Stats` and `fs.Dirent`. */
import { constants } from "./fs-constants.ts";
import type { Entry } from "./fs-node.ts";

const BLOCK = 4096;
const DEVICE = 2049;

abstract class Kinds {
  abstract mode: number | bigint;

  #is(kind: number): boolean {
    return (Number(this.mode) & constants.S_IFMT) === kind;
  }
  isDirectory(): boolean {
    return this.#is(constants.S_IFDIR);
  }
  isFile(): boolean {
    return this.#is(constants.S_IFREG);
  }
  isBlockDevice(): boolean {
    return false;
  }
  isCharacterDevice(): boolean {
    return false;
  }
  isSymbolicLink(): boolean {
    return false;
  }
  isFIFO(): boolean {
    return false;
  }
  isSocket(): boolean {
    return false;
  }
}

const TIMES = ["atime", "mtime", "ctime", "birthtime"] as const;

export class Stats extends Kinds {
  dev = DEVICE;
  mode: number;
  nlink: number;
  uid: number;
  gid: number;
  rdev = 0;
  blksize = BLOCK;
  ino: number;
  size: number;
  blocks: number;
  atimeMs: number;
  mtimeMs: number;
  ctimeMs: number;
  birthtimeMs: number;
  declare atime: Date;
  declare mtime: Date;
  declare ctime: Date;
  declare birthtime: Date;

  constructor(entry: Entry) {
    super();
    this.mode = entry.mode;
    this.nlink = entry.parent ? 1 : 0;
    this.uid = entry.uid;
    this.gid = entry.gid;
    this.ino = entry.ino;
    this.size = entry.kind === "file" ? entry.content.size : BLOCK;
    this.blocks = Math.ceil(this.size / BLOCK) * 8;
    this.atimeMs = entry.atimeMs;
    this.mtimeMs = entry.mtimeMs;
    this.ctimeMs = entry.ctimeMs;
    this.birthtimeMs = entry.birthtimeMs;
  }
}

/** Node makes these Dates when they are first read, on the prototype. */
for (const time of TIMES)
  Object.defineProperty(Stats.prototype, time, {
    get(this: Stats) {
      return new Date(Math.round(this[`${time}Ms`]));
    },
    set(this: Stats, value: Date) {
      Object.defineProperty(this, time, { value, writable: true, enumerable: true, configurable: true });
    },
    enumerable: true,
    configurable: true,
  });

/** As Stats, but with BigInts, and with times in nanoseconds as well. */
export class BigIntStats extends Kinds {
  declare mode: bigint;

  constructor(entry: Entry) {
    super();
    const stats = new Stats(entry);
    for (const [name, value] of Object.entries(stats)) Reflect.set(this, name, BigInt(Math.trunc(value as number)));
    for (const time of TIMES) {
      Reflect.set(this, `${time}Ns`, BigInt(Math.trunc(stats[`${time}Ms`] * 1e6)));
      Object.defineProperty(this, time, { value: stats[time], writable: true, enumerable: false, configurable: true });
    }
  }
}

export function statsOf(entry: Entry, options: { readonly bigint?: unknown } = {}): Stats | BigIntStats {
  return options.bigint ? new BigIntStats(entry) : new Stats(entry);
}

export class Dirent extends Kinds {
  name: string | Buffer;
  parentPath: string;
  declare mode: number;

  constructor(name: string | Buffer, parentPath: string, { mode }: Entry) {
    super();
    this.name = name;
    this.parentPath = parentPath;
    Object.defineProperty(this, "mode", { value: mode, enumerable: false });
  }

  get path(): string {
    return this.parentPath;
  }
}
