/**
 * Trusted side: where one plugin's entries are. `KvDatabase` keeps them in a file of this machine, `PostgresKv` in a database that several
 * hosts share. Both pass the same contract suite (test/host/services/kv/kv-contract.ts), and share the rules below.
 */
import { CreelError } from "../../../protocol/errors.ts";
import { LIMITS } from "../../../protocol/limits.ts";
import type { Done } from "../../storage/lazy-database.ts";

export interface Entry {
  readonly text: string;
  readonly version: string;
}

export interface KvUse {
  readonly bytes: number;
  readonly keys: number;
}

export interface Page {
  readonly entries: readonly { readonly key: string; readonly text?: string }[];
  /** Where the next page begins, if there may be one. */
  readonly next?: string;
}

export interface PageRequest {
  readonly prefix: string;
  readonly after: string | undefined;
  readonly limit: number;
  readonly hasValues: boolean;
}

/** `keep`: the lifetime of the existing entry. */
export type Lifetime = number | "keep" | undefined;

/** Requests of one host are done in the order in which they were made. Every promise rejects with a CreelError. */
export interface KvBackend {
  /** In the order of the keys. */
  read(keys: readonly string[], done?: Done<unknown>): Promise<(Entry | undefined)[]>;
  set(key: string, text: string, lifetime: Lifetime, done?: Done<unknown>): Promise<void>;
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
  ): Promise<Entry | null | undefined>;
  /** Returns the sum. A missing entry counts as 0. `ttlMs` applies only when this call creates the entry. */
  increment(key: string, by: number, ttlMs: number | undefined, done?: Done<unknown>): Promise<number>;
  /** True: the entry existed. */
  delete(key: string, done?: Done<unknown>): Promise<boolean>;
  /**
   * In byte order of the keys. A page may be short or empty and still have a next one, because expired entries count
   * towards its limit.
   */
  list(request: PageRequest, done?: Done<Page>): Promise<Page>;
  /** As it is, or as this host saw it last; undefined: it is not known now. */
  use(): KvUse | undefined;
  close(): Promise<void>;
}

/** A store over its quota, because the operator has lowered it, may shrink. */
export function checkQuota(before: KvUse, after: KvUse, maxBytes: number): void {
  const maxKeys = Math.ceil(maxBytes / LIMITS.kv.bytesPerEntry);
  if (after.bytes > maxBytes && after.bytes > before.bytes)
    throw new CreelError("ERR_KV_QUOTA", { limit: maxBytes, what: "bytes", count: after.bytes });
  if (after.keys > maxKeys && after.keys > before.keys)
    throw new CreelError("ERR_KV_QUOTA", { limit: maxKeys, what: "entries", count: after.keys });
}

/** The sum of a stored number and another. `text`: undefined if there is no entry. */
export function incremented(text: string | undefined, by: number): number {
  const sum = numberIn(text ?? "0") + by;
  if (!Number.isFinite(sum) || (Number.isInteger(sum) && !Number.isSafeInteger(sum)))
    throw new CreelError("ERR_KV_NUMBER", { detail: "the sum is too large" });
  return sum;
}

function numberIn(text: string): number {
  const value = /^-?\d/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isFinite(value)) throw new CreelError("ERR_KV_NUMBER", { detail: "the stored value is not a number" });
  return value;
}

/** The schema only admits well-formed keys, so this loses nothing. */
export function bytesOf(key: string): Buffer {
  return Buffer.from(key);
}

const END = Buffer.from([255]);

/** The first bytes after everything that begins with these. UTF-8 has no byte 255. */
export function endOf(prefix: Buffer): Buffer {
  if (prefix.length === 0) return END;
  const end = Buffer.from(prefix);
  end[end.length - 1]! += 1;
  return end;
}

const ZERO = Buffer.from([0]);

/** The first bytes of a page. */
export function startOf({ prefix, after }: Pick<PageRequest, "prefix" | "after">): Buffer {
  const start = bytesOf(prefix);
  return after === undefined || Buffer.compare(bytesOf(after), start) < 0 ? start : Buffer.concat([bytesOf(after), ZERO]);
}

/** Counts what the answer to a read holds. Throws when it is too large. */
export function checkAnswer(bytes: number): void {
  if (bytes > LIMITS.kv.pageBytes)
    throw new CreelError("ERR_SERVICE_SIZE", { what: "answer", service: "kv.get", bytes: "more", limit: LIMITS.kv.pageBytes });
}
