/**
 * Trusted side: a log on disk of whole lines and bounded size. Several processes may write to it at once: each appends
 * in one write, which the kernel does not interleave with others, and none keeps the file open, so that the first to
 * find it full may rename it. Readers skip lines that they cannot parse. A killed writer or a full disk loses one line,
 * since every write begins with a line break.
 */
import { closeSync, constants, fstatSync, mkdirSync, openSync, readdirSync, renameSync, rmSync, statSync, writeSync } from "node:fs";
import { mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { randomBytes } from "node:crypto";

export const AUDIT_FOLDER = "audit";
/** `runs` or `state`. Full files have the time in their name. */
const FULL = /^-\d{13}-\d+-[0-9a-f]{8}\.jsonl$/;
const FLAGS = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0);

export class AuditFile {
  readonly #folder: string;
  readonly #name: string;
  readonly #path: string;
  readonly #maxBytes: number;
  readonly #partBytes: number;

  /** All files of that name together have at most `maxBytes` plus one write. */
  constructor(stateDir: string, name: string, maxBytes: number, files: number) {
    this.#folder = join(stateDir, AUDIT_FOLDER);
    this.#name = name;
    this.#path = join(this.#folder, `${name}.jsonl`);
    this.#maxBytes = maxBytes;
    this.#partBytes = Math.floor(maxBytes / files);
  }

  /** `text` is whole lines. */
  async append(text: string): Promise<void> {
    const bytes = Buffer.from(`\n${text}`);
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const file = await open(this.#path, FLAGS, 0o600);
    let size: number;
    try {
      const { bytesWritten } = await file.write(bytes);
      if (bytesWritten < bytes.length) throw new Error("the disk accepted only part of the write");
      ({ size } = await file.stat());
    } finally {
      await file.close();
    }
    if (size >= this.#partBytes) await this.#rotate();
  }

  /** The same for a process that is about to end. */
  appendNow(text: string): void {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const file = openSync(this.#path, FLAGS, 0o600);
    try {
      writeSync(file, Buffer.from(`\n${text}`));
      if (fstatSync(file).size < this.#partBytes) return;
    } finally {
      closeSync(file);
    }
    renameSync(this.#path, this.#fullPath());
    for (const path of this.#surplus(readdirSync(this.#folder), (file_) => statSync(file_, { throwIfNoEntry: false })?.size))
      rmSync(path, { force: true });
  }

  /**
   * Another process may do so at the same moment. Then one of them renames a file that has just begun, which is
   * harmless.
   */
  async #rotate(): Promise<void> {
    await rename(this.#path, this.#fullPath()).catch(ignoreMissing);
    const sizes = new Map<string, number>();
    const names = await readdir(this.#folder);
    for (const name of names) {
      const path = join(this.#folder, name);
      const found = await stat(path).catch(ignoreMissing);
      if (found) sizes.set(path, found.size);
    }
    for (const path of this.#surplus(names, (file) => sizes.get(file))) await rm(path, { force: true });
  }

  #fullPath(): string {
    return join(this.#folder, `${this.#name}-${nextMs()}-${process.pid}-${randomBytes(4).toString("hex")}.jsonl`);
  }

  /** The oldest files that must go so that another part fits. */
  #surplus(names: readonly string[], sizeOf: (path: string) => number | undefined): string[] {
    const full = fullFiles(names, this.#name).map((name) => join(this.#folder, name));
    let room = this.#maxBytes - this.#partBytes;
    const kept = new Set<string>();
    for (const path of full.toReversed()) {
      room -= sizeOf(path) ?? 0;
      if (room < 0) break;
      kept.add(path);
    }
    return full.filter((path) => !kept.has(path));
  }
}

let latestMs = 0;

/** The time for a name, later than that of any name before: names of one millisecond would be in no order, and the oldest go first. */
function nextMs(): number {
  latestMs = Math.max(Date.now(), latestMs + 1);
  return latestMs;
}

/** The full files among all names in the folder, the oldest first. */
function fullFiles(names: readonly string[], name: string): string[] {
  return names.filter((file) => file.startsWith(name) && FULL.test(file.slice(name.length))).toSorted();
}

/** The files of one log, the oldest first. The last one is being written. */
export function auditFiles(names: readonly string[], name: string): string[] {
  return [...fullFiles(names, name), ...names.filter((file) => file === `${name}.jsonl`)];
}

function ignoreMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
}
