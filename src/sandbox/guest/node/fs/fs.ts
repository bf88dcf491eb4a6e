/**
 * Inside the isolate: `fs`, on files that are all in the cell's memory (fs-tree.ts). Synchronous functions return when
 * the cell's copy has changed. The others settle when the host has stored the change.
 */
import { part } from "../../boot/library.ts";
import { checkFunction } from "../errors.ts";
import { constants } from "./fs-constants.ts";
import { Dir } from "./fs-dir.ts";
import { missing } from "./fs-missing.ts";
import promises from "./fs-promises.ts";
import { settled } from "./fs-tree.ts";
import { BigIntStats, Dirent, Stats } from "./fs-stats.ts";
import type * as Streams from "./fs-streams.ts";
import { sync } from "./fs-sync.ts";
import { exists } from "./fs-sync-entries.ts";

type Work = (...args: unknown[]) => unknown;

/** The last argument is the callback. */
function calledBack(work: Work, more?: (args: readonly unknown[]) => unknown): Work {
  return (...args) => {
    const callback = args.pop();
    checkFunction(callback, "cb");
    // oxlint-disable promise/no-callback-in-promise -- that is what they are given for
    settled(() => work(...args)).then(
      (value) => callback(null, value, more?.(args)),
      (error: unknown) => callback(error),
    );
    // oxlint-enable promise/no-callback-in-promise
  };
}

const fs: Record<string, unknown> = {};
for (const [name, work] of Object.entries(sync) as [string, Work][]) {
  fs[`${name}Sync`] = work;
  // The callbacks of these two also get the buffer.
  fs[name] = calledBack(work, name === "read" || name === "write" ? (args) => args[1] : undefined);
}

const realpathSync = Object.assign((path: unknown) => sync.realpath(path), { native: sync.realpath });
const realpath = Object.assign(calledBack(sync.realpath), { native: calledBack(sync.realpath) });

Object.assign(fs, {
  realpath,
  realpathSync,
  existsSync: exists,
  exists: (path: unknown, callback: unknown) => {
    checkFunction(callback, "cb");
    const found = exists(path);
    // oxlint-disable-next-line promise/no-callback-in-promise -- as above
    void Promise.resolve().then(() => callback(found));
  },
  opendirSync: (path: unknown) => new Dir(path),
  opendir: calledBack((path) => new Dir(path)),
  constants,
  F_OK: constants.F_OK,
  R_OK: constants.R_OK,
  W_OK: constants.W_OK,
  X_OK: constants.X_OK,
  Stats,
  BigIntStats,
  Dirent,
  Dir,
  promises,
  watch: missing("watch"),
  watchFile: missing("watchFile"),
  unwatchFile: () => {},
});

for (const name of ["createReadStream", "createWriteStream"] as const)
  fs[name] = (path: unknown, options: unknown): unknown => streams()[name](path, options);

for (const [name, kind] of Object.entries({
  ReadStream: "ReadStream",
  WriteStream: "WriteStream",
  FileReadStream: "ReadStream",
  FileWriteStream: "WriteStream",
} as const))
  Object.defineProperty(fs, name, {
    get: () => streams()[kind],
    // Packages put their own there.
    set: (value: unknown) => {
      Object.defineProperty(fs, name, { value, writable: true, enumerable: true, configurable: true });
    },
    enumerable: true,
    configurable: true,
  });

function streams(): typeof Streams {
  return part("node/fs/fs-streams") as typeof Streams;
}

export default fs;
