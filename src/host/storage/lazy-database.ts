/**
 * Trusted side: a database that is opened on first use, works in order, and is replaced by an empty one when its file
 * turns out to be broken. The operator sees errors in full; a plugin sees fixed texts.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { CreelError } from "../../protocol/errors.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { checkpoints } from "./checkpoints.ts";
import { isCorrupt, openDatabase, setAside, wordsFor } from "./database.ts";
import type { DatabaseSpec } from "./database.ts";
import { WriteQueue } from "./write-queue.ts";

export interface LazyDatabaseSpec<Statements> extends DatabaseSpec {
  readonly prepare: (database: DatabaseSync) => Statements;
  /** SQLite or the file system failed. */
  readonly onFailure: (error: unknown) => void;
  /** Does the work and charges the time to the plugin that requested it. */
  readonly measure?: (<T>(work: () => T) => T) | undefined;
}

/** Called with the result as soon as the work is done, before any other work begins. */
export type Done<T> = (result: T) => void;

interface Opened<Statements> {
  readonly database: DatabaseSync;
  readonly sql: Statements;
  readonly begin: StatementSync;
  readonly commit: StatementSync;
}

/** A row, its two indexes and a sum: four pages, whatever their content. */
const TRANSACTION_BYTES = 4 * 4_096;

function plainly<T>(work: () => T): T {
  return work();
}

export class LazyDatabase<Statements> {
  readonly #spec: LazyDatabaseSpec<Statements>;
  readonly #queue = new WriteQueue();
  #opened: Opened<Statements> | undefined;
  /** Roughly what was written since the last checkpoint was requested. */
  #logBytes = 0;
  #isClosed = false;

  constructor(spec: LazyDatabaseSpec<Statements>) {
    this.#spec = spec;
  }

  /** Rejects only with a CreelError. */
  async do<T>(work: (sql: Statements) => T, done?: Done<T>): Promise<T> {
    try {
      const { measure = plainly } = this.#spec;
      return await this.#queue.run(() =>
        measure(() => {
          const result = this.#mended(work);
          done?.(result);
          return result;
        }),
      );
    } catch (error) {
      if (error instanceof CreelError) throw error;
      this.#spec.onFailure(error);
      throw new CreelError("ERR_STORE_FAILED", { detail: wordsFor(error) });
    }
  }

  /**
   * Like `do`, in one transaction that holds the write lock from the start, so that what it reads is still true when it
   * writes. `bytes`: about how much it writes.
   */
  transact<T>(work: (sql: Statements) => T, done?: Done<T>, bytes = 0): Promise<T> {
    return this.do(() => {
      const { database, sql, begin, commit } = this.#open();
      begin.run();
      try {
        const result = work(sql);
        commit.run();
        this.#wrote(bytes);
        return result;
      } catch (error) {
        if (database.isTransaction) database.exec("ROLLBACK");
        throw error;
      }
    }, done);
  }

  /** At once or not at all: throws SQLite's errors, also when another process holds the lock. */
  peek<T>(work: (sql: Statements) => T): T {
    return work(this.#open().sql);
  }

  async close(): Promise<void> {
    await this.#queue.idle();
    this.#isClosed = true;
    this.#opened?.database.close();
    this.#opened = undefined;
  }

  #wrote(bytes: number): void {
    const { path } = this.#spec;
    this.#logBytes += bytes + TRANSACTION_BYTES;
    if (path === undefined || this.#logBytes < LIMITS.storage.logBytes) return;
    this.#logBytes = 0;
    checkpoints.request(path);
  }

  #open(): Opened<Statements> {
    if (this.#isClosed) throw new CreelError("ERR_HOST_CLOSED");
    if (!this.#opened) {
      const database = openDatabase(this.#spec);
      this.#opened = {
        database,
        sql: this.#spec.prepare(database),
        begin: database.prepare("BEGIN IMMEDIATE"),
        commit: database.prepare("COMMIT"),
      };
    }
    return this.#opened;
  }

  #mended<T>(work: (sql: Statements) => T): T {
    try {
      return work(this.#open().sql);
    } catch (error) {
      if (!isCorrupt(error) || !this.#opened || this.#spec.path === undefined) throw error;
      this.#opened.database.close();
      this.#opened = undefined;
      setAside(this.#spec, error);
      return work(this.#open().sql);
    }
  }
}
