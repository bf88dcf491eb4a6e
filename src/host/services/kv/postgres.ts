/**
 * Trusted side: the PostgreSQL database that hosts share for `api.kv`. The only file that imports the client, and only when an operator
 * has asked for it. Nothing waits for it longer than `LIMITS.kv.sharedMs`: a connection that does not answer is dropped with all that it
 * was asked, so that no write is done later behind the caller's back.
 */
import type postgres from "postgres";
import type { Sql, TransactionSql } from "postgres";
import { CreelError } from "../../../protocol/errors.ts";
import { LIMITS } from "../../../protocol/limits.ts";

const SHARED_KV_VERSION = 1;

/** `expires` is in milliseconds since 1970, by the database's clock. Keys and values are UTF-8, whatever the encoding of the database is. */
const SCHEMA = `
CREATE TABLE IF NOT EXISTS creel_kv_version (version integer NOT NULL);
CREATE TABLE IF NOT EXISTS creel_kv_entry (
  plugin text COLLATE "C" NOT NULL, key bytea NOT NULL, value bytea NOT NULL, version text NOT NULL, expires double precision,
  PRIMARY KEY (plugin, key)
);
CREATE INDEX IF NOT EXISTS creel_kv_expires ON creel_kv_entry (plugin, expires) WHERE expires IS NOT NULL;
CREATE TABLE IF NOT EXISTS creel_kv_used (plugin text COLLATE "C" PRIMARY KEY, bytes bigint NOT NULL, keys bigint NOT NULL);
INSERT INTO creel_kv_version SELECT ${SHARED_KV_VERSION} WHERE NOT EXISTS (SELECT FROM creel_kv_version)`;

/** Any number: it keeps two hosts from making the tables at the same time. */
const SCHEMA_LOCK = 7_235_417_001;

export type Transaction = TransactionSql;
export type SqlClient = Sql | Transaction;

export interface SharedDatabaseOptions {
  readonly url: string;
  /** The operator is told; a plugin sees a fixed text. */
  readonly onFailure: (error: unknown) => void;
  /** What is longer counts as away. Default: `LIMITS.kv.sharedMs`. */
  readonly timeoutMs?: number;
}

/** Loads the client. Throws when it is not installed. */
async function loadClient(): Promise<typeof postgres> {
  try {
    // oxlint-disable-next-line no-restricted-imports -- the one place.
    return (await import("postgres")).default;
  } catch (error) {
    throw new CreelError("ERR_KV_CLIENT", { detail: (error as Error).message });
  }
}

export class SharedDatabase {
  readonly #options: SharedDatabaseOptions;
  readonly #connect: typeof postgres;
  readonly #timeoutMs: number;
  #client: Sql | undefined;
  #prepared: Promise<void> | undefined;
  #awayUntilMs = 0;
  #isClosed = false;

  /** Connects on first use: a host starts although its database is away. Throws when the client is missing or the URL is not valid. */
  static async open(options: SharedDatabaseOptions): Promise<SharedDatabase> {
    return new SharedDatabase(options, await loadClient());
  }

  private constructor(options: SharedDatabaseOptions, connect: typeof postgres) {
    this.#options = options;
    this.#connect = connect;
    this.#timeoutMs = options.timeoutMs ?? LIMITS.kv.sharedMs;
  }

  /** Rejects only with a CreelError. */
  async do<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    if (this.#isClosed) throw new CreelError("ERR_HOST_CLOSED");
    if (performance.now() < this.#awayUntilMs) throw new CreelError("ERR_STORE_FAILED", { detail: AWAY });
    const client = (this.#client ??= this.#connected());
    const doing = (async () => {
      await (this.#prepared ??= prepare(client));
      return work(client);
    })();
    // It may settle after its time is over.
    doing.catch(() => {});
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(new Error("it did not answer in time")), this.#timeoutMs);
    try {
      return await Promise.race([doing, late.promise]);
    } catch (error) {
      throw this.#failed(error, client);
    } finally {
      clearTimeout(timer);
    }
  }

  transact<T>(work: (sql: TransactionSql) => Promise<T>): Promise<T> {
    return this.do((sql) => sql.begin(work) as Promise<T>);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#client?.end({ timeout: this.#timeoutMs / 1000 });
    this.#client = undefined;
  }

  #connected(): Sql {
    const timeoutMs = this.#timeoutMs;
    return this.#connect(this.#options.url, {
      max: LIMITS.kv.sharedConnections,
      connect_timeout: timeoutMs / 1000,
      idle_timeout: LIMITS.kv.sharedIdleMs / 1000,
      onnotice: () => {},
      connection: {
        application_name: "creel",
        statement_timeout: timeoutMs,
        lock_timeout: timeoutMs,
        idle_in_transaction_session_timeout: timeoutMs,
      },
    });
  }

  #failed(error: unknown, client: Sql): CreelError {
    // The rules of the store refused it.
    if (error instanceof CreelError) return error;
    this.#options.onFailure(error);
    const code = (error as { code?: unknown }).code;
    const isAnswer = typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) && !ENDINGS.test(code);
    if (isAnswer) return new CreelError("ERR_STORE_FAILED", { detail: "the shared database refused the request" });
    if (this.#client === client) {
      this.#client = undefined;
      this.#prepared = undefined;
      this.#awayUntilMs = performance.now() + LIMITS.kv.sharedAwayMs;
      void client.end({ timeout: 0 });
    }
    return new CreelError("ERR_STORE_FAILED", { detail: AWAY });
  }
}

const AWAY = "the shared database cannot be reached, or does not answer";

/** SQLSTATE: connection exceptions, and a server that shuts down or starts. */
const ENDINGS = /^(?:08|57P0)/;

/** Makes the tables unless they exist. A role without the right to make tables can use what another role has made. */
async function prepare(sql: Sql): Promise<void> {
  const version = async (): Promise<number | undefined> => {
    const [found] = await sql<{ is: boolean }[]>`SELECT to_regclass('creel_kv_version') IS NOT NULL AS is`;
    if (!found!.is) return undefined;
    return (await sql<{ version: number }[]>`SELECT version FROM creel_kv_version`)[0]?.version;
  };
  if ((await version()) === undefined)
    await sql.begin(async (transaction) => {
      await transaction`SELECT pg_advisory_xact_lock(${SCHEMA_LOCK})`;
      // Not asked again whether they exist: a connection may still remember that they do not.
      await transaction.unsafe(SCHEMA);
    });
  const found = await version();
  if (found !== SHARED_KV_VERSION)
    throw new CreelError("ERR_STORE_FAILED", { detail: `its tables have version ${found}, this Creel supports ${SHARED_KV_VERSION}` });
}
