/** Trusted side: the tables of the outbox, and their statements. */
import type { DatabaseSync, StatementSync } from "node:sqlite";

export const OUTBOX_SCHEMA_VERSION = 1;

/**
 * One row per event and plugin that listened when it was emitted. `seq` is the order. `holder` is the lease of the host that delivers it;
 * `host` lists the leases and when each was last seen. `fatal` counts attempts that took the sandbox or a budget with them. `dead` is JSON:
 * why it was given up.
 */
export const OUTBOX_SCHEMA = `
CREATE TABLE delivery (
  seq INTEGER PRIMARY KEY, id TEXT NOT NULL, plugin TEXT NOT NULL, hook TEXT NOT NULL, session TEXT NOT NULL,
  event TEXT NOT NULL, context TEXT NOT NULL, chain TEXT, made INTEGER NOT NULL, bytes INTEGER NOT NULL,
  attempt INTEGER NOT NULL, fatal INTEGER NOT NULL, holder TEXT, dead TEXT
) STRICT;
CREATE UNIQUE INDEX delivery_id ON delivery (id, plugin);
CREATE INDEX delivery_dead ON delivery (plugin, seq) WHERE dead IS NOT NULL;
CREATE INDEX delivery_holder ON delivery (holder) WHERE dead IS NULL;
CREATE TABLE host (name TEXT PRIMARY KEY, seen INTEGER NOT NULL) STRICT`;

export interface DeliveryRow {
  readonly seq: number;
  readonly id: string;
  readonly plugin: string;
  readonly hook: string;
  readonly session: string;
  readonly event: string;
  readonly context: string;
  readonly chain: string | null;
  readonly made: number;
  readonly bytes: number;
  readonly attempt: number;
  readonly fatal: number;
  readonly holder: string | null;
  readonly dead: string | null;
}

export type OutboxStatements = ReturnType<typeof outboxStatements>;

// oxlint-disable-next-line typescript/explicit-function-return-type
export function outboxStatements(database: DatabaseSync) {
  const sql = (text: string): StatementSync => database.prepare(text);
  return {
    add: sql(
      `INSERT OR IGNORE INTO delivery (id, plugin, hook, session, event, context, chain, made, bytes, attempt, fatal, holder)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, ?)`,
    ),
    get: sql("SELECT * FROM delivery WHERE seq = ? AND dead IS NULL"),
    begin: sql("UPDATE delivery SET attempt = attempt + 1 WHERE seq = ?"),
    settle: sql("UPDATE delivery SET attempt = attempt - ?, fatal = fatal + ? WHERE seq = ?"),
    die: sql("UPDATE delivery SET dead = ?, holder = NULL WHERE seq = ?"),
    delete: sql("DELETE FROM delivery WHERE seq = ?"),
    bytes: sql("SELECT total(bytes) AS bytes FROM delivery"),
    report: sql(
      `SELECT (SELECT count(*) FROM delivery WHERE dead IS NULL) AS waiting, (SELECT count(*) FROM delivery WHERE dead IS NOT NULL) AS dead,
       (SELECT total(bytes) FROM delivery) AS bytes`,
    ),
    seen: sql("INSERT OR REPLACE INTO host (name, seen) VALUES (?, ?)"),
    left: sql("DELETE FROM host WHERE name = ?"),
    holders: sql(
      `SELECT DISTINCT holder, (SELECT seen FROM host WHERE name = holder) AS seen FROM delivery
       WHERE dead IS NULL AND (holder IS NULL OR holder <> ?)`,
    ),
    adopt: sql("UPDATE delivery SET holder = ? WHERE dead IS NULL AND holder IS ?"),
    leave: sql("UPDATE delivery SET holder = NULL WHERE holder = ?"),
    mine: sql("SELECT seq, plugin, session, made FROM delivery WHERE dead IS NULL AND holder = ? AND seq > ? ORDER BY seq"),
    dead: sql("SELECT * FROM delivery WHERE dead IS NOT NULL ORDER BY seq"),
    replay: sql("UPDATE delivery SET dead = NULL, attempt = 0, fatal = 0, made = ?, holder = NULL WHERE seq = ? AND dead IS NOT NULL"),
    drop: sql("DELETE FROM delivery WHERE seq = ? AND dead IS NOT NULL"),
  };
}
