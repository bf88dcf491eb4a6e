/**
 * Trusted side: a database that is opened when it is first needed, worked on in turn, and replaced by an empty one when its file turns out to be
 * broken. What goes wrong is the operator's to know in full, and a plugin's in words of ours.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { CreelError } from "../../protocol/errors.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { checkpoints } from "./checkpoints.ts";
import { isCorrupt, openDatabase, setAside, wordsFor } from "./database.ts";
import type { DatabaseSpec } from "./database.ts";
import { Turns } from "./turns.ts";

export interface StoreSpec<Statements> extends DatabaseSpec {
  readonly prepare: (database: DatabaseSync) => Statements;
  /** SQLite or the file system failed. */
  readonly onFailure: (error: unknown) => void;
}

/** Told the result in the very moment that the work is done, before any other is begun. */
export type Done<T> = (result: T) => void;

interface Opened<Statements> {
  readonly database: DatabaseSync;
  readonly sql: Statements;
  readonly begin: StatementSync;
  readonly commit: StatementSync;
}

/** A row, its two indexes and a sum: four pages, whatever is in them. */
const TRANSACTION_BYTES = 4 * 4_096;

export class Store<Statements> {
  readonly #spec: StoreSpec<Statements>;
  readonly #turns = new Turns();
  #opened: Opened<Statements> | undefined;
  /** About as much as has been written since the log was last to be moved into the file. */
  #logBytes = 0;
  #isClosed = false;

  constructor(spec: StoreSpec<Statements>) {
    this.#spec = spec;
  }

  /** Rejects with nothing but a CreelError. */
  async do<T>(work: (sql: Statements) => T, done?: Done<T>): Promise<T> {
    try {
      return await this.#turns.run(() => {
        const result = this.#mended(work);
        done?.(result);
        return result;
      });
    } catch (error) {
      if (error instanceof CreelError) throw error;
      this.#spec.onFailure(error);
      throw new CreelError("ERR_STORE_FAILED", { detail: wordsFor(error) });
    }
  }

  /** As `do`, in one transaction, with the write lock from the start: what is read in it must still be so when it is written. It writes about so many bytes. */
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

  /** At once or not at all: throws what SQLite throws, also when another process holds the lock. */
  peek<T>(work: (sql: Statements) => T): T {
    return work(this.#open().sql);
  }

  async close(): Promise<void> {
    await this.#turns.idle();
    this.#isClosed = true;
    this.#opened?.database.close();
    this.#opened = undefined;
  }

  #wrote(bytes: number): void {
    const { path } = this.#spec;
    this.#logBytes += bytes + TRANSACTION_BYTES;
    if (path === undefined || this.#logBytes < LIMITS.storeLogBytes) return;
    this.#logBytes = 0;
    checkpoints.ask(path);
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
