/** Inside the isolate: errors of the file system, as Node makes them from Linux's. */

/** Code → Linux's number and libuv's message. */
const CODES = {
  EPERM: [1, "operation not permitted"],
  ENOENT: [2, "no such file or directory"],
  EIO: [5, "i/o error"],
  EBADF: [9, "bad file descriptor"],
  EACCES: [13, "permission denied"],
  EEXIST: [17, "file already exists"],
  EXDEV: [18, "cross-device link not permitted"],
  ENOTDIR: [20, "not a directory"],
  EISDIR: [21, "illegal operation on a directory"],
  EINVAL: [22, "invalid argument"],
  EMFILE: [24, "too many open files"],
  EFBIG: [27, "file too large"],
  ENOSPC: [28, "no space left on device"],
  EROFS: [30, "read-only file system"],
  EBUSY: [16, "resource busy or locked"],
  ENAMETOOLONG: [36, "name too long"],
  ENOTEMPTY: [39, "directory not empty"],
  EDQUOT: [122, "disk quota exceeded"],
} as const;
export type FsCode = keyof typeof CODES;

export interface FsError extends Error {
  errno: number;
  code: string;
  syscall: string;
  path?: string;
  dest?: string;
}

/** What the tree throws. The system call and its arguments are added where it is caught. */
export class Fault {
  readonly code: FsCode;
  /** A sentence that explains the reason to the author. */
  readonly why: string | undefined;

  constructor(code: FsCode, why?: string) {
    this.code = code;
    this.why = why;
  }
}

export function fsError({ code, why }: Fault, syscall: string, path?: string, dest?: string): FsError {
  const [number, words] = CODES[code];
  const place = path === undefined ? "" : ` '${path}'${dest === undefined ? "" : ` -> '${dest}'`}`;
  const error = new Error(`${code}: ${words}, ${syscall}${place}${why === undefined ? "" : ` (${why})`}`) as FsError;
  error.errno = -number;
  error.code = code;
  error.syscall = syscall;
  if (path !== undefined) error.path = path;
  if (dest !== undefined) error.dest = dest;
  return error;
}

/** Runs the work. A fault becomes Node's error for that system call. */
export function calling<T>(syscall: string, path: string | undefined, work: () => T, dest?: string): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof Fault ? fsError(error, syscall, path, dest) : error;
  }
}
