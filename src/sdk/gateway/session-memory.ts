/**
 * Trusted side, the gateway's process: what is remembered about sessions until they end. The most recent ones are in memory; with a state
 * folder all of them are in a file as well, so that neither the ten-thousandth session nor a restart makes a session forget the workflow
 * that waits for it. Without a folder the least recently used sessions are forgotten.
 */
import { join } from "node:path";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { LIMITS } from "../../protocol/limits.ts";
import { BoundedMap } from "../../host/bounded-map.ts";
import { LazyDatabase } from "../../host/storage/lazy-database.ts";

const SCHEMA = `
CREATE TABLE session (id TEXT PRIMARY KEY, known TEXT NOT NULL, at INTEGER NOT NULL) STRICT;
CREATE INDEX session_at ON session (at)`;

type Statements = Readonly<Record<"get" | "put" | "delete" | "prune", StatementSync>>;

function prepare(database: DatabaseSync): Statements {
  return {
    get: database.prepare("SELECT known FROM session WHERE id = ?"),
    put: database.prepare("INSERT OR REPLACE INTO session (id, known, at) VALUES (?, ?, ?)"),
    delete: database.prepare("DELETE FROM session WHERE id = ?"),
    prune: database.prepare("DELETE FROM session WHERE at < ?"),
  };
}

export class SessionMemory<Known extends object> {
  readonly #recent: BoundedMap<Known>;
  readonly #kept: LazyDatabase<Statements> | undefined;

  /** `failed`: the file could not be read or written; the sessions in memory are still known. */
  constructor(maxRecent: number, stateDir: string | undefined, failed: (error: unknown) => void) {
    this.#recent = new BoundedMap(maxRecent);
    if (stateDir === undefined) return;
    this.#kept = new LazyDatabase({
      path: join(stateDir, "sessions.sqlite"),
      version: 1,
      schema: SCHEMA,
      prepare,
      onSetAside: (_, detail) => failed(new Error(detail)),
      onFailure: failed,
    });
    // A session that never ends is forgotten after a while.
    this.#write((sql) => sql.prune.run(Date.now() - LIMITS.outbox.sessionMs));
  }

  get(id: string): Known | undefined {
    const recent = this.#recent.get(id);
    if (recent || !this.#kept) return recent;
    try {
      const row = this.#kept.peek((sql) => sql.get.get(id)) as { known: string } | undefined;
      return row && (JSON.parse(row.known) as Known);
    } catch {
      return undefined;
    }
  }

  set(id: string, known: Known): void {
    this.#recent.set(id, known);
    this.#write((sql) => sql.put.run(id, JSON.stringify(known), Date.now()));
  }

  delete(id: string): void {
    this.#recent.delete(id);
    this.#write((sql) => sql.delete.run(id));
  }

  close(): Promise<void> {
    return this.#kept?.close() ?? Promise.resolve();
  }

  #write(work: (sql: Statements) => unknown): void {
    // `onFailure` has told of an error; what JSON cannot write is the caller's and stays in memory.
    this.#kept?.do(work).catch(() => {});
  }
}
