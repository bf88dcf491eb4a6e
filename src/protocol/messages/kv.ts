/**
 * Requests of a plugin to its store, and the host's responses. A value is JSON text inside of the request's JSON: only
 * the plugin reads it, so its nested data is never built on the gateway's heap.
 */
import * as z from "zod";
import { LIMITS } from "../limits.ts";

const isWhole = (text: string): boolean => text.isWellFormed();
const bytesIn = (text: string): number => Buffer.byteLength(text);

// SECURITY: half a surrogate pair has no bytes of its own: two keys would become one. test/contract/kv.test.ts
const text = z.string().max(LIMITS.kv.keyBytes).refine(isWhole, "it is not well-formed Unicode");
const key = text.min(1).refine((it) => bytesIn(it) <= LIMITS.kv.keyBytes, `a key may have ${LIMITS.kv.keyBytes} bytes of UTF-8`);
const value = z
  .string()
  .max(LIMITS.kv.valueBytes, `a value may have ${LIMITS.kv.valueBytes} bytes of JSON`)
  .refine((it) => bytesIn(it) <= LIMITS.kv.valueBytes, `a value may have ${LIMITS.kv.valueBytes} bytes of JSON`);
const ttlMs = z.number().positive().max(LIMITS.kv.ttlMs).optional();

/** Guest → host: not trusted. */
export const kvRequest = {
  get: z.strictObject({ keys: z.array(key).min(1).max(LIMITS.kv.keys) }),
  set: z.strictObject({ key, value, ttlMs }),
  /** Without a version: only if the entry does not exist. Without a lifetime: it keeps that of the entry. */
  swap: z.strictObject({ key, version: z.string().max(64).optional(), value, ttlMs }),
  increment: z.strictObject({ key, by: z.number(), ttlMs }),
  delete: z.strictObject({ key }),
  list: z.strictObject({
    prefix: text.optional(),
    after: text.optional(),
    limit: z.int().min(1).max(LIMITS.kv.page).optional(),
    values: z.boolean().optional(),
  }),
};

/** Host → guest. */
export interface KvEntry {
  readonly text: string;
  readonly version: string;
}

export interface KvResponses {
  "kv.get": readonly (KvEntry | null)[];
  "kv.set": null;
  /** `null`, or the entry that was found instead. */
  "kv.swap": null | { readonly found: KvEntry | null };
  "kv.increment": number;
  "kv.delete": boolean;
  "kv.list": { readonly entries: readonly { readonly key: string; readonly text?: string }[]; readonly next?: string };
}
