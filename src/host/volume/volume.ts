/**
 * Trusted side: one plugin's volume, the only true copy. What a cell says happened to its own is checked here as if it had never been checked, and is written
 * down whole or not at all. A change that cannot have happened to a copy of this means that the cell's is not one any more.
 */
import type { DatabaseSync } from "node:sqlite";
import { CreelError } from "../../protocol/errors.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { faultOfPath } from "../../protocol/volume.ts";
import type { VolumeChange } from "../../protocol/volume.ts";
import { sentFile, sentFolder } from "../sent-files.ts";
import { openDatabase } from "../store/database.ts";
import type { DatabaseSpec } from "../store/database.ts";
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

export class Volume {
  readonly #options: VolumeOptions;
  #opened: Opened | undefined;
  #use: VolumeUse | undefined;

  constructor(options: VolumeOptions) {
    this.#options = options;
  }

  /** All of it, folders before what is in them, as JSON. */
  contents(): string[] {
    const { sql } = this.#open();
    const rows = sql.all.all() as unknown as FileRow[];
    this.#use = useOf(rows);
    const pieces = new Map<number, Uint8Array[]>();
    for (const { file, data } of sql.everything.iterate() as Iterable<unknown> as Iterable<{ file: number; data: Uint8Array }>) {
      const known = pieces.get(file);
      if (known) known.push(data);
      else pieces.set(file, [data]);
    }
    return rows.map(({ id, path, is_folder, mtime }) =>
      is_folder ? sentFolder(path, mtime) : sentFile(path, mtime, Buffer.concat(pieces.get(id) ?? [])),
    );
  }

  /** As far as it is known without looking. */
  get lastUse(): VolumeUse | undefined {
    return this.#use;
  }

  use(): VolumeUse {
    return (this.#use ??= useOf(this.#open().sql.all.all() as unknown as FileRow[]));
  }

  /** All of them or none. Throws a CreelError when they are not possible, or do not fit. */
  apply(changes: readonly VolumeChange[]): void {
    const { database, sql } = this.#open();
    const before = this.use();
    sql.begin.run();
    try {
      for (const change of changes) this.#change(change);
      sql.commit.run();
    } catch (error) {
      this.#use = before;
      if (database.isTransaction) sql.rollback.run();
      throw error;
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

  #change(change: VolumeChange): void {
    switch (change[0]) {
      case "mkdir":
        this.#vacant(change[1]);
        this.#insert(change[1], true, Date.now());
        return;
      case "rm":
        return this.#remove(change[1]);
      case "mv":
        return this.#move(change[1], change[2]);
      case "put":
        return this.#put(change);
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
    if (pieces > LIMITS.volumePieces) this.#join(file.id);
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

  #remove(path: string): void {
    const file = this.#existing(path);
    const gone = useOf([file, ...this.#below(file)]);
    this.#open().sql.remove.run({ path });
    this.#grow({ bytes: -gone.bytes, files: -gone.files, paths: -gone.paths });
  }

  #move(from: string, to: string): void {
    const file = this.#existing(from);
    this.#vacant(to);
    if (to.startsWith(`${from}/`)) throw refused(`${from} cannot be moved into itself`);
    for (const { id, path } of [file, ...this.#below(file)]) {
      const moved = to + path.slice(from.length);
      checkPath(moved);
      this.#open().sql.rename.run(moved, id);
      this.#grow({ paths: moved.length - path.length });
    }
  }

  #insert(path: string, isFolder: boolean, mtimeMs: number): FileRow {
    this.#open().sql.insert.run(path, isFolder ? 1 : 0, mtimeMs);
    this.#grow({ files: 1, paths: path.length });
    return this.#find(path)!;
  }

  /** There is nothing of that name, and a folder to put it into. */
  #vacant(path: string): void {
    checkPath(path);
    if (this.#find(path)) throw refused(`${path} exists already`);
    const end = path.lastIndexOf("/");
    if (end >= 0 && !this.#find(path.slice(0, end))?.is_folder) throw refused(`${path} is in no folder`);
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
    // SECURITY: what grows past the quota is refused, whatever the cell counted. test/host/volume.test.ts
    if (bytes > 0 && this.#use.bytes > maxBytes) throw refused(`it would have ${this.#use.bytes} bytes, and may have ${maxBytes}`);
    if (files > 0 && this.#use.files > LIMITS.volumeFiles) throw refused(`it may have ${LIMITS.volumeFiles} files and folders`);
    if (paths > 0 && this.#use.paths > LIMITS.volumePathsChars)
      throw refused(`its paths may have ${LIMITS.volumePathsChars} characters in all`);
  }
}

/** SECURITY: a name is one below the root, and says so. test/host/volume.test.ts */
function checkPath(path: string): void {
  const fault = faultOfPath(path);
  if (fault) throw refused(fault === "EINVAL" ? "a name is not one" : "a name is too long, or too deep");
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
