/** Trusted side: the table of jobs, of all plugins, and its statements. */
import type { DatabaseSync, StatementSync } from "node:sqlite";

export const SCHEDULE_SCHEMA_VERSION = 1;

/**
 * `stamp` tells jobs of the same id apart. `holder` is the lease of the process that has begun it, which lapses at
 * `until`. `chain` is JSON: the causal chain that scheduled it, at the time `made`.
 */
export const SCHEDULE_SCHEMA = `
CREATE TABLE job (
  plugin TEXT NOT NULL, id TEXT NOT NULL, stamp TEXT NOT NULL, name TEXT NOT NULL, data TEXT NOT NULL,
  pattern TEXT, timezone TEXT, due INTEGER NOT NULL, made INTEGER NOT NULL, chain TEXT,
  attempt INTEGER NOT NULL, holder TEXT, until INTEGER,
  PRIMARY KEY (plugin, id)
) STRICT;
CREATE INDEX job_due ON job (plugin, due)`;

export interface JobRow {
  readonly plugin: string;
  readonly id: string;
  readonly stamp: string;
  readonly name: string;
  readonly data: string;
  readonly pattern: string | null;
  readonly timezone: string | null;
  readonly due: number;
  readonly made: number;
  readonly chain: string | null;
  readonly attempt: number;
  readonly holder: string | null;
  readonly until: number | null;
}

export type ScheduleStatements = Readonly<
  Record<
    "get" | "count" | "put" | "keep" | "cancel" | "list" | "due" | "isDue" | "next" | "begin" | "delete" | "again" | "release",
    StatementSync
  >
>;

export function scheduleStatements(database: DatabaseSync): ScheduleStatements {
  return {
    get: database.prepare("SELECT * FROM job WHERE plugin = ? AND id = ?"),
    count: database.prepare("SELECT count(*) AS jobs FROM job WHERE plugin = ?"),
    put: database.prepare(
      `INSERT OR REPLACE INTO job (plugin, id, stamp, name, data, pattern, timezone, due, made, chain, attempt)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)`,
    ),
    keep: database.prepare("UPDATE job SET name = ?, data = ? WHERE plugin = ? AND id = ?"),
    cancel: database.prepare("DELETE FROM job WHERE plugin = ? AND id = ?"),
    // Without their data: a thousand of them would be long.
    list: database.prepare("SELECT id, name, due, pattern, timezone FROM job WHERE plugin = ? ORDER BY due, id"),
    // Without their data: most of them may not begin yet.
    due: database.prepare("SELECT id, name, pattern, holder, until FROM job WHERE plugin = ? AND due <= ? ORDER BY due, id"),
    isDue: database.prepare("SELECT 1 FROM job WHERE plugin = ? AND due <= ? LIMIT 1"),
    next: database.prepare("SELECT min(due) AS due FROM job WHERE plugin = ? AND due > ?"),
    begin: database.prepare("UPDATE job SET holder = ?, until = ?, attempt = attempt + 1 WHERE plugin = ? AND id = ?"),
    delete: database.prepare("DELETE FROM job WHERE plugin = ? AND id = ? AND stamp = ? AND due = ?"),
    again: database.prepare(
      "UPDATE job SET due = ?, attempt = 0, holder = NULL, until = NULL WHERE plugin = ? AND id = ? AND stamp = ? AND due = ?",
    ),
    release: database.prepare(
      "UPDATE job SET holder = NULL, until = NULL, attempt = max(0, attempt - ?) WHERE plugin = ? AND id = ? AND stamp = ? AND holder = ?",
    ),
  };
}
