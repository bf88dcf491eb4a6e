/**
 * Trusted side: one plugin's volume, the authoritative copy. The host checks every change that a cell reports, whatever
 * the cell checked, and writes it whole or not at all. A change that is impossible here means that the cell's copy has
 * diverged.
 */
import type { DatabaseSync } from "node:sqlite";
import { CreelError } from "../../../protocol/errors.ts";
import { LIMITS } from "../../../protocol/limits.ts";
import { faultOfPath } from "../../../protocol/messages/files.ts";
import type { VolumeChange } from "../../../protocol/messages/files.ts";
import { sentFile, sentFolder } from "../../../bundler/sent-files.ts";
import { openDatabase } from "../../storage/database.ts";
import type { DatabaseSpec } from "../../storage/database.ts";
import { VOLUME_SCHEMA, VOLUME_SCHEMA_VERSION, volumeStatements } from "./volume-tables.ts";
import type { FileRow, VolumeStatements } from "./volume-tables.ts";

export interface VolumeUse {
  readonly bytes: number;
  readonly files: number;
  /** Characters of all paths. */
  readonly paths: number;
}

interface Opened {
  readonly database: DatabaseSync;
  readonly sql: VolumeStatements;
}

export interface VolumeOptions extends Pick<DatabaseSpec, "path" | "onSetAside"> {
  readonly maxBytes: number;
}

/** Work in slices: the caller may let others run in between. */
export type Slices<T> = Generator<void, T, void>;

const NOTHING = Buffer.alloc(0);

export class Volume {
  readonly #options: VolumeOptions;
  #opened: Opened | undefined;
  #use: VolumeUse | undefined;

  constructor(options: VolumeOptions) {
    this.#options = options;
  }

  /**
   * All of it as JSON, folders before their content. Yields between slices; the caller must start nothing else on the
   * volume meanwhile.
   */
  *contents(): Slices<string[]> {
    const rows = this.#open().sql.all.all() as unknown as FileRow[];
    this.#use = useOf(rows);
    const sent: string[] = [];
    for (const file of rows) {
      const { path, mtime } = file;
      sent.push(file.is_folder ? sentFolder(path, mtime) : sentFile(path, mtime, file.size === 0 ? NOTHING : this.#read(file)));
      if (sent.length % LIMITS.files.sliceRows === 0 || file.size > LIMITS.fetch.chunkBytes) yield;
    }
    return sent;
  }

  /** As of the last operation. */
  get lastUse(): VolumeUse | undefined {
    return this.#use;
  }

  use(): VolumeUse {
    return (this.#use ??= useOf(this.#open().sql.all.all() as unknown as FileRow[]));
  }

  /** Throws SQLite's errors, also when another process holds the lock. */
  begin(): void {
    this.use();
    this.#open().sql.begin.run();
  }

  /**
   * Applies all changes or none, in the transaction that was begun. Throws a CreelError when one is impossible or does
   * not fit. Calls `charge` before it moves or removes files along with their folder.
   */
  *apply(changes: readonly VolumeChange[], charge: (rows: number) => void): Slices<void> {
    const { database, sql } = this.#open();
    const before = this.use();
    let isDone = false;
    try {
      for (const change of changes) {
        yield* this.#change(change, charge);
        yield;
      }
      sql.commit.run();
      isDone = true;
    } finally {
      if (!isDone) {
        this.#use = before;
        if (database.isTransaction) sql.rollback.run();
      }
    }
  }

  close(): void {
    this.#opened?.database.close();
    this.#opened = undefined;
  }

  #open(): Opened {
    if (!this.#opened) {
      const { path, onSetAside } = this.#options;
      const database = openDatabase({ path, onSetAside, version: VOLUME_SCHEMA_VERSION, schema: VOLUME_SCHEMA });
      this.#opened = { database, sql: volumeStatements(database) };
    }
    return this.#opened;
  }

  *#change(change: VolumeChange, charge: (rows: number) => void): Slices<void> {
    switch (change[0]) {
      case "mkdir":
        this.#vacant(change[1]);
        this.#insert(change[1], true, Date.now());
        return;
      case "rm":
        yield* this.#remove(change[1], charge);
        return;
      case "mv":
        yield* this.#move(change[1], change[2], charge);
        return;
      case "put":
        this.#put(change);
    }
  }

  #put([, path, offset, mtimeMs, encoding, text]: Extract<VolumeChange, readonly ["put", ...unknown[]]>): void {
    const { sql } = this.#open();
    let file = this.#find(path);
    if (!file) {
      this.#vacant(path);
      file = this.#insert(path, false, mtimeMs);
    }
    if (file.is_folder || offset > file.size) throw refused(`${path} is not a file of ${offset} bytes or more`);
    const data = Buffer.from(text, encoding === "u" ? "utf8" : "base64");
    if (offset < file.size) this.#cut(file.id, offset);
    if (data.length > 0) sql.add.run(file.id, offset, data);
    const size = offset + data.length;
    sql.resize.run(size, mtimeMs, file.id);
    this.#grow({ bytes: size - file.size });
    const { pieces } = sql.count.get(file.id) as unknown as { pieces: number };
    if (pieces > LIMITS.files.pieces) this.#join(file.id);
  }

  #cut(id: number, offset: number): void {
    const { sql } = this.#open();
    sql.cut.run(id, offset);
    const last = sql.last.get(id) as unknown as { at: number; data: Uint8Array } | undefined;
    if (!last || last.at + last.data.length <= offset) return;
    sql.cut.run(id, last.at);
    sql.add.run(id, last.at, last.data.subarray(0, offset - last.at));
  }

  #join(id: number): void {
    const { sql } = this.#open();
    const data = this.#read({ id });
    sql.cut.run(id, 0);
    sql.add.run(id, 0, data);
  }

  #read({ id }: Pick<FileRow, "id">): Buffer {
    return Buffer.concat((this.#open().sql.pieces.all(id) as unknown as { data: Uint8Array }[]).map(({ data }) => data));
  }

  *#remove(path: string, charge: (rows: number) => void): Slices<void> {
    const file = this.#existing(path);
    const below = this.#below(file);
    charge(below.length);
    const gone = useOf([file, ...below]);
    for (const [at, { id }] of [file, ...below].entries()) {
      this.#open().sql.remove.run(id);
      if (at % LIMITS.files.sliceRows === 0) yield;
    }
    this.#grow({ bytes: -gone.bytes, files: -gone.files, paths: -gone.paths });
  }

  *#move(from: string, to: string, charge: (rows: number) => void): Slices<void> {
    const file = this.#existing(from);
    this.#vacant(to);
    if (to.startsWith(`${from}/`)) throw refused(`${from} cannot be moved into itself`);
    const below = this.#below(file);
    charge(below.length);
    for (const [at, { id, path }] of [file, ...below].entries()) {
      const moved = to + path.slice(from.length);
      checkPath(moved);
      this.#open().sql.rename.run(moved, id);
      this.#grow({ paths: moved.length - path.length });
      if (at % LIMITS.files.sliceRows === 0) yield;
    }
  }

  #insert(path: string, isFolder: boolean, mtimeMs: number): FileRow {
    this.#open().sql.insert.run(path, isFolder ? 1 : 0, mtimeMs);
    this.#grow({ files: 1, paths: path.length });
    return this.#find(path)!;
  }

  /** Throws unless the name is free and its parent is a folder. */
  #vacant(path: string): void {
    checkPath(path);
    if (this.#find(path)) throw refused(`${path} exists already`);
    const end = path.lastIndexOf("/");
    if (end >= 0 && !this.#find(path.slice(0, end))?.is_folder) throw refused(`${path} has no parent folder`);
  }

  #existing(path: string): FileRow {
    const file = this.#find(path);
    if (!file) throw refused(`there is no ${path}`);
    return file;
  }

  #find(path: string): FileRow | undefined {
    return this.#open().sql.find.get(path) as unknown as FileRow | undefined;
  }

  #below({ path, is_folder }: FileRow): FileRow[] {
    return is_folder ? (this.#open().sql.below.all({ path }) as unknown as FileRow[]) : [];
  }

  #grow({ bytes = 0, files = 0, paths = 0 }: Partial<VolumeUse>): void {
    const use = this.use();
    this.#use = { bytes: use.bytes + bytes, files: use.files + files, paths: use.paths + paths };
    const { maxBytes } = this.#options;
    // SECURITY: enforces the quota, whatever the cell counted. test/host/services/files/volume.test.ts
    if (bytes > 0 && this.#use.bytes > maxBytes) throw refused(`it would have ${this.#use.bytes} bytes, the limit is ${maxBytes}`);
    if (files > 0 && this.#use.files > LIMITS.files.files) throw refused(`it may have ${LIMITS.files.files} files and folders`);
    if (paths > 0 && this.#use.paths > LIMITS.files.pathsChars)
      throw refused(`its paths may have ${LIMITS.files.pathsChars} characters in all`);
  }
}

/** SECURITY: a name must stay below the root. test/host/services/files/volume.test.ts */
function checkPath(path: string): void {
  const fault = faultOfPath(path);
  if (fault) throw refused(fault === "EINVAL" ? "a name is not valid" : "a name is too long or nests too deep");
}

function refused(detail: string): CreelError {
  return new CreelError("ERR_VOLUME_REFUSED", { detail });
}

function useOf(rows: readonly FileRow[]): VolumeUse {
  return {
    bytes: rows.reduce((sum, { size }) => sum + size, 0),
    files: rows.length,
    paths: rows.reduce((sum, { path }) => sum + path.length, 0),
  };
}
