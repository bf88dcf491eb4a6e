/** Inside the isolate: `fs/promises`. */
import { constants } from "./fs-constants.ts";
import { FileHandle } from "./fs-handle.ts";
import { settled } from "./fs-tree.ts";
import { sync } from "./fs-sync.ts";
import { Dir } from "./fs-dir.ts";
import { missing } from "./fs-missing.ts";

type Work = (...args: unknown[]) => unknown;

function waiting(work: Work): (...args: unknown[]) => Promise<unknown> {
  return (...args) => settled(() => work(...args.map(withoutHandle)));
}

/** Functions that take the path of a file also take an open FileHandle. */
function withoutHandle(argument: unknown): unknown {
  return argument instanceof FileHandle ? argument.fd : argument;
}

const NAMES = [
  "access",
  "appendFile",
  "chmod",
  "chown",
  "copyFile",
  "cp",
  "lchmod",
  "lchown",
  "link",
  "lstat",
  "lutimes",
  "mkdir",
  "mkdtemp",
  "readFile",
  "readdir",
  "readlink",
  "realpath",
  "rename",
  "rm",
  "rmdir",
  "stat",
  "symlink",
  "truncate",
  "unlink",
  "utimes",
  "writeFile",
] as const satisfies readonly (keyof typeof sync)[];

const promises = {
  ...(Object.fromEntries(NAMES.map((name) => [name, waiting(sync[name] as Work)])) as Record<
    (typeof NAMES)[number],
    (...args: unknown[]) => Promise<unknown>
  >),
  constants,
  open: (path: unknown, flags?: unknown, mode?: unknown) => settled(() => new FileHandle(sync.open(path, flags, mode))),
  opendir: (path: unknown) => settled(() => new Dir(path)),
  watch: missing("watch"),
};

export default promises;
