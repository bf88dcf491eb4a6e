/** Gateway: errors of the operating system that an operator can resolve, as sentences with a path and a remedy. */
import { statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { CreelError } from "../protocol/errors.ts";
import type { ErrorCode } from "../protocol/errors.ts";

const KNOWN: Readonly<Record<string, ErrorCode>> = {
  ENOSPC: "ERR_DISK_FULL",
  EDQUOT: "ERR_DISK_FULL",
  EROFS: "ERR_DISK_READ_ONLY",
  EACCES: "ERR_FILE_ACCESS",
  EPERM: "ERR_FILE_ACCESS",
  EMFILE: "ERR_FILE_DESCRIPTORS",
  ENFILE: "ERR_FILE_DESCRIPTORS",
};

/** Undefined: it is another error. A write to an open file names no path, so `where` says what was being written to. */
export function systemError(error: unknown, where: () => string): CreelError | undefined {
  const { code = "", syscall, path, dest } = error as NodeJS.ErrnoException & { dest?: string };
  const known = syscall === undefined || !Object.hasOwn(KNOWN, code) ? undefined : KNOWN[code];
  return known && new CreelError(known, { path: dest ?? path ?? where() }, { cause: error });
}

/** Of the working folder and the folder for temporary files: the one with less free space. */
export function fullestFolder(): string {
  const [here, temporary] = [process.cwd(), tmpdir()];
  return freeBytes(temporary) < freeBytes(here) ? temporary : here;
}

function freeBytes(path: string): number {
  try {
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize;
  } catch {
    return Infinity;
  }
}
