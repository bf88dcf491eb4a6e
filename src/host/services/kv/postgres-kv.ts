/**
 * Trusted side: one plugin's entries in a database that several hosts share. The same rules as kv-database.ts. A write locks the plugin's
 * row of `creel_kv_used` first, so writes of one plugin come one after the other on all hosts, and its size is counted in the same
 * transaction. Expiry goes by the database's clock: hosts' clocks differ.
 */
import { randomBytes } from "node:crypto";
import { CreelError } from "../../../protocol/errors.ts";
import { LIMITS } from "../../../protocol/limits.ts";
import type { Done } from "../../storage/lazy-database.ts";
import { bytesOf, checkAnswer, checkQuota, endOf, incremented, startOf } from "./kv-backend.ts";
import type { Entry, KvBackend, KvUse, Lifetime, Page, PageRequest } from "./kv-backend.ts";
import type { SharedDatabase, SqlClient, Transaction } from "./postgres.ts";

export interface PostgresKvOptions {
  readonly database: SharedDatabase;
  readonly plugin: string;
  readonly maxBytes: number;
  /** For tests. Default: the database's clock. */
  readonly now?: (() => number) | undefined;
}

interface Row {
  readonly key: Buffer;
  readonly value: Buffer;
  readonly version: string;
  readonly expires: number | null;
}

/** What to do with an entry, and what to answer. */
interface Change<T> {
  readonly answer: T;
  readonly put?: { readonly text: string; readonly lifetime: Lifetime };
  readonly deletes?: true;
}

export class PostgresKv implements KvBackend {
  readonly #options: PostgresKvOptions;
  readonly #writer = randomBytes(9).toString("base64url");
  #writes = 0;
  #use: KvUse | undefined;
  /** The plugin has its row in `creel_kv_used`. */
  #isCounted = false;
  /** The last request: the next one waits for it, so that they are done in order. Never rejects. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: PostgresKvOptions) {
    this.#options = options;
  }

  read(keys: readonly string[], done?: Done<unknown>): Promise<(Entry | undefined)[]> {
    return this.#inOrder(done, () =>
      this.#options.database.do(async (sql) => {
        // The client cannot write an array of bytes.
        const hex = keys.map((key) => bytesOf(key).toString("hex")).join(",");
        const rows = await sql<(Row & { total: number })[]>`
          SELECT key, version, total, CASE WHEN total <= ${LIMITS.kv.pageBytes} THEN value END AS value FROM (
            SELECT key, value, version, (sum(octet_length(value)) OVER ())::float8 AS total FROM creel_kv_entry
            WHERE plugin = ${this.#plugin} AND key IN (SELECT decode(hex, 'hex') FROM unnest(string_to_array(${hex}, ',')) hex) AND (expires IS NULL OR expires > ${this.#now(sql)})
          ) found`;
        const found = new Map(rows.map((row) => [row.key.toString(), row]));
        let bytes = 0;
        return keys.map((key) => {
          const row = found.get(key);
          if (!row) return undefined;
          checkAnswer(row.total);
          bytes += row.value.length;
          checkAnswer(bytes);
          return entryOf(row);
        });
      }),
    );
  }

  set(key: string, text: string, lifetime: Lifetime, done?: Done<unknown>): Promise<void> {
    return this.#change(key, () => ({ answer: undefined, put: { text, lifetime } }), done);
  }

  swap(
    key: string,
    version: string | undefined,
    text: string,
    lifetime: Lifetime,
    done?: Done<Entry | null | undefined>,
  ): Promise<Entry | null | undefined> {
    return this.#change<Entry | null | undefined>(
      key,
      (row) => (row?.version === version ? { answer: undefined, put: { text, lifetime } } : { answer: row ? entryOf(row) : null }),
      done,
    );
  }

  increment(key: string, by: number, ttlMs: number | undefined, done?: Done<unknown>): Promise<number> {
    return this.#change(
      key,
      (row) => {
        const sum = incremented(row?.value.toString(), by);
        return { answer: sum, put: { text: JSON.stringify(sum), lifetime: row ? "keep" : ttlMs } };
      },
      done,
    );
  }

  delete(key: string, done?: Done<unknown>): Promise<boolean> {
    return this.#change(key, (row) => ({ answer: row !== undefined, deletes: true }), done);
  }

  /** The database stops adding values where the page is full, so that no more than a page travels. */
  list({ prefix, after, limit, hasValues }: PageRequest, done?: Done<Page>): Promise<Page> {
    return this.#inOrder(done, () =>
      this.#options.database.do(async (sql) => {
        const rows = await sql<{ key: Buffer; value: Buffer | null; live: boolean; before: number }[]>`
          SELECT key, live, before, CASE WHEN live AND ${hasValues} AND before <= ${LIMITS.kv.pageBytes} THEN value END AS value FROM (
            SELECT key, value, live, (sum(bytes) OVER (ORDER BY key) - bytes)::float8 AS before FROM (
              SELECT key, value, live,
                CASE WHEN NOT live THEN 0 WHEN ${hasValues} THEN octet_length(key) + octet_length(value) ELSE octet_length(key) END AS bytes
              FROM (
                SELECT key, value, (expires IS NULL OR expires > ${this.#now(sql)}) AS live FROM creel_kv_entry
                WHERE plugin = ${this.#plugin} AND key >= ${startOf({ prefix, after })} AND key < ${endOf(bytesOf(prefix))}
                ORDER BY key LIMIT ${limit + 1}
              ) found
            ) sized
          ) summed ORDER BY key`;
        const entries: { key: string; text?: string }[] = [];
        for (const [at, { key, value, live, before }] of rows.entries()) {
          if (at === limit || before > LIMITS.kv.pageBytes) return { entries, next: rows[at - 1]!.key.toString() };
          if (live) entries.push(hasValues ? { key: key.toString(), text: value!.toString() } : { key: key.toString() });
        }
        return { entries };
      }),
    );
  }

  use(): KvUse | undefined {
    return this.#use;
  }

  /** The database is the host's, and closed with it. */
  async close(): Promise<void> {
    await this.#last;
  }

  get #plugin(): string {
    return this.#options.plugin;
  }

  // oxlint-disable-next-line typescript/explicit-function-return-type
  #now(sql: SqlClient) {
    const now = this.#options.now?.();
    return now === undefined ? sql`extract(epoch from clock_timestamp()) * 1000` : sql`${now}::float8`;
  }

  #inOrder<T>(done: Done<T> | undefined, work: () => Promise<T>): Promise<T> {
    const result = this.#after(this.#last, done, work);
    this.#last = result.catch(() => {});
    return result;
  }

  async #after<T>(last: Promise<unknown>, done: Done<T> | undefined, work: () => Promise<T>): Promise<T> {
    await last;
    const answer = await work();
    done?.(answer);
    return answer;
  }

  #change<T>(key: string, decide: (row: Row | undefined) => Change<T>, done: Done<T> | undefined): Promise<T> {
    return this.#inOrder(done, async () => {
      try {
        return await this.#attempt(key, decide);
      } catch (error) {
        if (!(error instanceof CreelError) || error.code !== "ERR_KV_QUOTA" || !(await this.#sweepAll())) throw error;
        return await this.#attempt(key, decide);
      }
    });
  }

  /** In one transaction, within the quota. */
  async #attempt<T>(key: string, decide: (row: Row | undefined) => Change<T>): Promise<T> {
    const { database, maxBytes } = this.#options;
    const [answer, use] = await database.transact(async (sql) => {
      const locked = this.#locked(sql);
      // Sent along, and done once the lock is held: what it reads is still true when this writes.
      const reading = sql<(Row & { now: number })[]>`
        SELECT key, value, version, expires, clock.now FROM (SELECT (${this.#now(sql)})::float8 AS now) clock
        LEFT JOIN creel_kv_entry ON plugin = ${this.#plugin} AND key = ${bytesOf(key)}`.execute();
      const [before, [found]] = await Promise.all([locked, reading]);
      const { now } = found!;
      const old = found!.version === null ? undefined : found!;
      const row = old && (old.expires === null || old.expires > now) ? old : undefined;
      const change = decide(row);
      const oldBytes = old ? old.key.length + old.value.length : 0;
      const value = change.put && Buffer.from(change.put.text);
      const isWritten = value !== undefined || change.deletes === true;
      const more = {
        bytes: isWritten ? (value ? bytesOf(key).length + value.length : 0) - oldBytes : 0,
        keys: isWritten ? Number(value !== undefined) - Number(old !== undefined) : 0,
      };
      checkQuota(before, { bytes: before.bytes + more.bytes, keys: before.keys + more.keys }, maxBytes);
      const writing = change.put
        ? sql`
          INSERT INTO creel_kv_entry (plugin, key, value, version, expires)
          VALUES (${this.#plugin}, ${bytesOf(key)}, ${value!}, ${`${this.#writer}.${++this.#writes}`}, ${expiryOf(change.put.lifetime, row, now)})
          ON CONFLICT (plugin, key) DO UPDATE SET value = excluded.value, version = excluded.version, expires = excluded.expires`
        : change.deletes && sql`DELETE FROM creel_kv_entry WHERE plugin = ${this.#plugin} AND key = ${bytesOf(key)}`;
      // First: an entry that has expired is replaced here, and not deleted again.
      const written = writing?.execute();
      const [after] = await Promise.all([this.#sweep(sql, LIMITS.kv.sweep, now, more), written]);
      return [change.answer, after] as const;
    });
    this.#use = use;
    return answer;
  }

  /**
   * Holds off every other writer of this plugin's entries. A query of this client is sent when it is executed or awaited: both are sent
   * before this returns, so that what the caller sends next comes after them.
   */
  async #locked(sql: Transaction): Promise<KvUse> {
    const counting = this.#isCounted
      ? undefined
      : sql`INSERT INTO creel_kv_used VALUES (${this.#plugin}, 0, 0) ON CONFLICT DO NOTHING`.execute();
    const locking = sql<KvUse[]>`
      SELECT bytes::float8 AS bytes, keys::float8 AS keys FROM creel_kv_used WHERE plugin = ${this.#plugin} FOR UPDATE`.execute();
    const [[use]] = await Promise.all([locking, counting]);
    this.#isCounted = use !== undefined;
    if (!use) throw new Error("the row of the plugin in creel_kv_used is gone");
    return use;
  }

  /** Deletes some expired entries, and counts what was written with them. Returns what is there now. */
  async #sweep(sql: Transaction, most: number, now: number, more: KvUse): Promise<KvUse> {
    const [use] = await sql<KvUse[]>`
      WITH swept AS (
        DELETE FROM creel_kv_entry WHERE plugin = ${this.#plugin} AND key IN (
          SELECT key FROM creel_kv_entry WHERE plugin = ${this.#plugin} AND expires <= ${now} ORDER BY expires LIMIT ${most}
        ) RETURNING octet_length(key) + octet_length(value) AS bytes
      )
      UPDATE creel_kv_used SET bytes = bytes + ${more.bytes} - (SELECT coalesce(sum(swept.bytes), 0) FROM swept),
        keys = keys + ${more.keys} - (SELECT count(*) FROM swept)
      WHERE plugin = ${this.#plugin} RETURNING bytes::float8 AS bytes, keys::float8 AS keys`;
    return use!;
  }

  /** True: there were expired entries, and room may be there now. */
  async #sweepAll(): Promise<boolean> {
    for (let isFirst = true; ; isFirst = false) {
      const [before, after] = await this.#options.database.transact(async (sql) => {
        const use = await this.#locked(sql);
        const [clock] = await sql<{ now: number }[]>`SELECT (${this.#now(sql)})::float8 AS now`;
        return [use, await this.#sweep(sql, LIMITS.kv.sweepMany, clock!.now, { bytes: 0, keys: 0 })] as const;
      });
      this.#use = after;
      const swept = before.keys - after.keys;
      if (swept < LIMITS.kv.sweepMany) return !isFirst || swept > 0;
    }
  }
}

function entryOf({ value, version }: Row): Entry {
  return { text: value.toString(), version };
}

function expiryOf(lifetime: Lifetime, row: Row | undefined, now: number): number | null {
  if (lifetime === "keep") return row?.expires ?? null;
  return lifetime === undefined ? null : Math.ceil(now + lifetime);
}
