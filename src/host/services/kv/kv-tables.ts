/** Trusted side: the tables of a plugin's key-value database, and its statements. */
import type { DatabaseSync, StatementSync } from "node:sqlite";

export const KV_SCHEMA_VERSION = 1;

export const KV_SCHEMA = `
CREATE TABLE entry (key BLOB NOT NULL PRIMARY KEY, value TEXT NOT NULL, version TEXT NOT NULL, expires INTEGER) STRICT;
CREATE INDEX entry_expires ON entry (expires) WHERE expires IS NOT NULL;
CREATE TABLE used (bytes INTEGER NOT NULL, keys INTEGER NOT NULL) STRICT;
INSERT INTO used VALUES (0, 0);
CREATE TRIGGER entry_made AFTER INSERT ON entry BEGIN
  UPDATE used SET bytes = bytes + octet_length(new.key) + octet_length(new.value), keys = keys + 1;
END;
CREATE TRIGGER entry_changed AFTER UPDATE OF value ON entry BEGIN
  UPDATE used SET bytes = bytes + octet_length(new.value) - octet_length(old.value);
END;
CREATE TRIGGER entry_gone AFTER DELETE ON entry BEGIN
  UPDATE used SET bytes = bytes - octet_length(old.key) - octet_length(old.value), keys = keys - 1;
END`;

export interface EntryRow {
  readonly key: Uint8Array;
  readonly value: string;
  readonly version: string;
  readonly expires: number | null;
}

export type KvStatements = Readonly<Record<"get" | "put" | "delete" | "used" | "sweep" | "page" | "pageOfKeys", StatementSync>>;

export function kvStatements(database: DatabaseSync): KvStatements {
  const page = (columns: string) => database.prepare(`SELECT ${columns} FROM entry WHERE key >= ? AND key < ? ORDER BY key LIMIT ?`);
  return {
    get: database.prepare("SELECT key, value, version, expires FROM entry WHERE key = ?"),
    put: database.prepare(
      `INSERT INTO entry VALUES (?, ?, ?, ?)
       ON CONFLICT (key) DO UPDATE SET value = excluded.value, version = excluded.version, expires = excluded.expires`,
    ),
    delete: database.prepare("DELETE FROM entry WHERE key = ?"),
    used: database.prepare("SELECT bytes, keys FROM used"),
    sweep: database.prepare(
      "DELETE FROM entry WHERE key IN (SELECT key FROM entry WHERE expires IS NOT NULL AND expires <= ? ORDER BY expires LIMIT ?)",
    ),
    page: page("key, value, version, expires"),
    pageOfKeys: page("key, expires"),
  };
}
