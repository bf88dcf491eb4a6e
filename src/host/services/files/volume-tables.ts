/**
 * Trusted side: the tables of a plugin's volume. File names are values in them, so a plugin cannot name a file of the
 * machine.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";

export const VOLUME_SCHEMA_VERSION = 1;

/**
 * The content of a file is in pieces, each at its offset, so that appending a line to a log writes one row and not the
 * whole log.
 */
export const VOLUME_SCHEMA = `
CREATE TABLE file (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, is_folder INTEGER NOT NULL, size INTEGER NOT NULL, mtime REAL NOT NULL) STRICT;
CREATE TABLE piece (file INTEGER NOT NULL REFERENCES file (id) ON DELETE CASCADE, at INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (file, at)) STRICT`;

export interface FileRow {
  readonly id: number;
  readonly path: string;
  readonly is_folder: 0 | 1;
  readonly size: number;
  readonly mtime: number;
}

const NAMES = [
  "begin",
  "commit",
  "rollback",
  "find",
  "all",
  "below",
  "insert",
  "resize",
  "rename",
  "remove",
  "pieces",
  "count",
  "cut",
  "last",
  "add",
] as const;
export type VolumeStatements = Readonly<Record<(typeof NAMES)[number], StatementSync>>;

export function volumeStatements(database: DatabaseSync): VolumeStatements {
  const COLUMNS = "id, path, is_folder, size, mtime";
  // Everything after `a/` and before `a0` is below `a`: the character after a slash is a zero.
  const BELOW = "path >= :path || '/' AND path < :path || '0'";
  return {
    begin: database.prepare("BEGIN IMMEDIATE"),
    commit: database.prepare("COMMIT"),
    rollback: database.prepare("ROLLBACK"),
    find: database.prepare(`SELECT ${COLUMNS} FROM file WHERE path = ?`),
    all: database.prepare(`SELECT ${COLUMNS} FROM file ORDER BY path`),
    below: database.prepare(`SELECT ${COLUMNS} FROM file WHERE ${BELOW}`),
    insert: database.prepare("INSERT INTO file (path, is_folder, size, mtime) VALUES (?, ?, 0, ?)"),
    resize: database.prepare("UPDATE file SET size = ?, mtime = ? WHERE id = ?"),
    rename: database.prepare("UPDATE file SET path = ? WHERE id = ?"),
    remove: database.prepare("DELETE FROM file WHERE id = ?"),
    pieces: database.prepare("SELECT data FROM piece WHERE file = ? ORDER BY at"),
    count: database.prepare("SELECT count(*) AS pieces FROM piece WHERE file = ?"),
    cut: database.prepare("DELETE FROM piece WHERE file = ? AND at >= ?"),
    last: database.prepare("SELECT at, data FROM piece WHERE file = ? ORDER BY at DESC LIMIT 1"),
    add: database.prepare("INSERT INTO piece (file, at, data) VALUES (?, ?, ?)"),
  };
}
