/**
 * Trusted side: one plugin's entries. Keys are bytes (UTF-8, in byte order). Values are JSON text that the host does
 * not parse. Each entry has a version that is never reused: an update swaps one version for another in one transaction,
 * so it is atomic between processes, too. The database counts its size itself, in the same transaction.
 */
import { randomBytes } from "node:crypto";
import { setImmediate as breath } from "node:timers/promises";
import { CreelError } from "../../../protocol/errors.ts";
import { LIMITS } from "../../../protocol/limits.ts";
import { LazyDatabase } from "../../storage/lazy-database.ts";
import type { Done, LazyDatabaseSpec } from "../../storage/lazy-database.ts";
import { bytesOf, checkAnswer, checkQuota, endOf, incremented, startOf } from "./kv-backend.ts";
import type { Entry, KvBackend, KvUse, Lifetime, Page, PageRequest } from "./kv-backend.ts";
import { KV_SCHEMA, KV_SCHEMA_VERSION, kvStatements } from "./kv-tables.ts";
import type { EntryRow, KvStatements } from "./kv-tables.ts";

export interface KvDatabaseOptions extends Pick<LazyDatabaseSpec<unknown>, "path" | "onSetAside" | "onFailure" | "measure"> {
  readonly maxBytes: number;
  /** Milliseconds since 1970, so that it stays valid after a restart. */
  readonly now?: () => number;
}

export class KvDatabase implements KvBackend {
  readonly #maxBytes: number;
  readonly #now: () => number;
  readonly #database: LazyDatabase<KvStatements>;
  readonly #writer = randomBytes(9).toString("base64url");
  #writes = 0;

  constructor({ maxBytes, now, ...place }: KvDatabaseOptions) {
    this.#maxBytes = maxBytes;
    this.#now = now ?? Date.now;
    this.#database = new LazyDatabase({ ...place, version: KV_SCHEMA_VERSION, schema: KV_SCHEMA, prepare: kvStatements });
  }

  /** In the order of the keys. */
  read(keys: readonly string[], done?: Done<unknown>): Promise<(Entry | undefined)[]> {
    return this.#database.do((sql) => {
      let bytes = 0;
      return keys.map((key) => {
        const row = this.#find(sql, key);
        if (!row) return undefined;
        bytes += row.value.length;
        checkAnswer(bytes);
        return { text: row.value, version: row.version };
      });
    }, done);
  }

  set(key: string, text: string, lifetime: Lifetime, done?: Done<unknown>): Promise<void> {
    return this.#write((sql) => this.#put(sql, key, text, lifetime, undefined), done, text.length);
  }

  /**
   * Writes if the entry still has that version; undefined: if there is no entry. Returns undefined when it wrote, else
   * the current entry, `null` if there is none.
   */
  swap(
    key: string,
    version: string | undefined,
    text: string,
    lifetime: Lifetime,
    done?: Done<Entry | null | undefined>,
  ): Promise<Entry | null | undefined> {
    return this.#write(
      (sql) => {
        const row = this.#find(sql, key);
        if (row?.version !== version) return row ? { text: row.value, version: row.version } : null;
        this.#put(sql, key, text, lifetime, row);
        return undefined;
      },
      done,
      text.length,
    );
  }

  /** Returns the sum. A missing entry counts as 0. `ttlMs` applies only when this call creates the entry. */
  increment(key: string, by: number, ttlMs: number | undefined, done?: Done<unknown>): Promise<number> {
    return this.#write((sql) => {
      const row = this.#find(sql, key);
      const sum = incremented(row?.value, by);
      this.#put(sql, key, JSON.stringify(sum), row ? "keep" : ttlMs, row);
      return sum;
    }, done);
  }

  /** True: the entry existed. */
  delete(key: string, done?: Done<unknown>): Promise<boolean> {
    return this.#write((sql) => {
      const isThere = this.#find(sql, key) !== undefined;
      sql.delete.run(bytesOf(key));
      return isThere;
    }, done);
  }

  /**
   * In byte order of the keys. A page may be short or empty and still have a next one, because expired entries count
   * towards its limit.
   */
  list({ prefix, after, limit, hasValues }: PageRequest, done?: Done<Page>): Promise<Page> {
    return this.#database.do((sql) => {
      const from = startOf({ prefix, after });
      const entries: { key: string; text?: string }[] = [];
      const nowMs = this.#now();
      let bytes = 0;
      let looked = 0;
      let last: string | undefined;
      const rows = (hasValues ? sql.page : sql.pageOfKeys).iterate(from, endOf(bytesOf(prefix)), limit + 1) as Iterable<EntryRow>;
      for (const row of rows) {
        if (looked === limit || bytes > LIMITS.kv.pageBytes) return { entries, next: last! };
        looked += 1;
        last = Buffer.from(row.key).toString();
        if (!isUnexpired(row, nowMs)) continue;
        bytes += row.key.length + (hasValues ? row.value.length : 0);
        entries.push(hasValues ? { key: last, text: row.value } : { key: last });
      }
      return { entries };
    }, done);
  }

  use(): KvUse | undefined {
    try {
      const { bytes, keys } = this.#database.peek(useIn);
      return { bytes, keys };
    } catch {
      // Also when another process holds the lock.
      return undefined;
    }
  }

  close(): Promise<void> {
    return this.#database.close();
  }

  /** An entry is gone from the instant it expires. */
  #find(sql: KvStatements, key: string): EntryRow | undefined {
    const row = sql.get.get(bytesOf(key)) as EntryRow | undefined;
    return row && isUnexpired(row, this.#now()) ? row : undefined;
  }

  #put(sql: KvStatements, key: string, text: string, lifetime: Lifetime, old: EntryRow | undefined): void {
    const expires = lifetime === "keep" ? (old?.expires ?? null) : lifetime === undefined ? null : Math.ceil(this.#now() + lifetime);
    sql.put.run(bytesOf(key), text, `${this.#writer}.${++this.#writes}`, expires);
  }

  /** In one transaction, within the quota. Without room, deletes expired entries and tries again. */
  async #write<T>(work: (sql: KvStatements) => T, done: Done<T> | undefined, bytes = 0): Promise<T> {
    const attempt = (): Promise<T> =>
      this.#database.transact(
        (sql) => {
          const before = useIn(sql);
          const result = work(sql);
          checkQuota(before, useIn(sql), this.#maxBytes);
          sql.sweep.run(this.#now(), LIMITS.kv.sweep);
          return result;
        },
        done,
        bytes,
      );
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof CreelError) || error.code !== "ERR_KV_QUOTA" || !(await this.#sweepAll())) throw error;
      return attempt();
    }
  }

  /** Deletes all expired entries in batches, so that the gateway's thread is free in between. True: there were some. */
  async #sweepAll(): Promise<boolean> {
    for (let total = 0; ;) {
      const swept = await this.#database.do((sql) => Number(sql.sweep.run(this.#now(), LIMITS.kv.sweepMany).changes));
      total += swept;
      if (swept < LIMITS.kv.sweepMany) return total > 0;
      await breath();
    }
  }
}

function useIn(sql: KvStatements): KvUse {
  return sql.used.get() as unknown as KvUse;
}

function isUnexpired({ expires }: EntryRow, nowMs: number): boolean {
  return expires === null || expires > nowMs;
}
