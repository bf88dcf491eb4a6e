/**
 * Trusted side: a SQLite file in the state folder, or a database in memory. `node:sqlite` works on the caller's thread,
 * which is the gateway's: so nothing here ever waits for a lock (see write-queue.ts) or, as a rule, for the disk (see
 * checkpoints.ts).
 */
import { randomBytes } from "node:crypto";
import { closeSync, mkdirSync, openSync, renameSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { CreelError } from "../../protocol/errors.ts";
import { LIMITS } from "../../protocol/limits.ts";

export interface DatabaseSpec {
  /** Undefined: in memory. */
  readonly path: string | undefined;
  /** Of the schema. A file of a later version is left alone. */
  readonly version: number;
  /** The tables of an empty file. */
  readonly schema: string;
  /** A broken file was moved there. */
  readonly onSetAside: (aside: string, detail: string) => void;
}

/** Throws SQLite's errors. An unreadable file is set aside, never deleted, and an empty one replaces it. */
export function openDatabase(spec: DatabaseSpec): DatabaseSync {
  try {
    return open(spec);
  } catch (error) {
    if (!isCorrupt(error) || spec.path === undefined) throw error;
    setAside(spec, error);
    return open(spec);
  }
}

/**
 * The log and its index belong to the file: without them it would be an older state, with others it would be corrupt.
 */
export function setAside({ path, onSetAside }: DatabaseSpec, error: unknown): void {
  // A second one in the same millisecond must not replace the first.
  const aside = `${path!}.broken-${Date.now()}-${randomBytes(3).toString("hex")}`;
  for (const tail of ["-wal", "-shm", ""]) {
    try {
      renameSync(`${path!}${tail}`, `${aside}${tail}`);
    } catch (problem) {
      if ((problem as NodeJS.ErrnoException).code !== "ENOENT") throw problem;
    }
  }
  onSetAside(aside, (error as Error).message);
}

function open({ path, version, schema }: DatabaseSpec): DatabaseSync {
  if (path !== undefined) reserve(path);
  // Fail at once when another process holds the lock: waiting would block the gateway.
  // Not imported above: a gateway or a command without a store would load it.
  const sqlite = process.getBuiltinModule("node:sqlite");
  const database = new sqlite.DatabaseSync(path ?? ":memory:", { timeout: 0 });
  try {
    database.exec(
      `PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = ${LIMITS.storage.checkpointPages}; PRAGMA trusted_schema = OFF`,
    );
    prepareTables(database, version, schema);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function prepareTables(database: DatabaseSync, version: number, schema: string): void {
  if (versionOf(database) === 0) {
    database.exec("BEGIN IMMEDIATE");
    try {
      // Another process may have created them meanwhile.
      if (versionOf(database) === 0) database.exec(`${schema}; PRAGMA user_version = ${version}`);
      database.exec("COMMIT");
    } catch (error) {
      if (database.isTransaction) database.exec("ROLLBACK");
      throw error;
    }
  }
  const found = versionOf(database);
  if (found !== version)
    throw new CreelError("ERR_STORE_FAILED", { detail: `its file has version ${found}, this Creel supports ${version}` });
}

function versionOf(database: DatabaseSync): number {
  return (database.prepare("PRAGMA user_version").get() as { user_version: number }).user_version;
}

/** SQLite gives its other files the permissions of this one. */
function reserve(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  closeSync(openSync(path, "a", 0o600));
}

/** SQLite's primary result codes. */
const BUSY = 5;
const LOCKED = 6;
const CORRUPT = 11;
const FULL = 13;
const NOT_A_DATABASE = 26;

function codeOf(error: unknown): number | undefined {
  const { errcode } = error as { errcode?: unknown };
  return typeof errcode === "number" ? errcode & 0xff : undefined;
}

export function isBusy(error: unknown): boolean {
  const code = codeOf(error);
  return code === BUSY || code === LOCKED;
}

export function isCorrupt(error: unknown): boolean {
  const code = codeOf(error);
  return code === CORRUPT || code === NOT_A_DATABASE;
}

/**
 * SECURITY: errors of SQLite and the file system name paths; a plugin gets fixed texts instead.
 * test/host/services/kv/kv-database.test.ts
 */
export function wordsFor(error: unknown): string {
  if (codeOf(error) === FULL || (error as NodeJS.ErrnoException).code === "ENOSPC") return "the disk is full";
  return isBusy(error) ? "another process keeps it locked" : "it cannot be read or written";
}
