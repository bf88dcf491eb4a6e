/**
 * What a plugin asks of its store, as it travels in an `ask`. A value is JSON text inside of the question's JSON: only the plugin itself reads it,
 * so nothing that is nested in it is ever built on the gateway's heap.
 */
import * as z from "zod";
import { LIMITS } from "./limits.ts";

const isWhole = (text: string): boolean => text.isWellFormed();
const bytesIn = (text: string): number => Buffer.byteLength(text);

// SECURITY: half a surrogate pair has no bytes of its own: two keys would become one. test/contract/kv.test.ts
const text = z.string().max(LIMITS.kvKeyBytes).refine(isWhole, "it is not well-formed Unicode");
const key = text.min(1).refine((it) => bytesIn(it) <= LIMITS.kvKeyBytes, `a key may have ${LIMITS.kvKeyBytes} bytes of UTF-8`);
const value = z
  .string()
  .max(LIMITS.kvValueBytes, `a value may have ${LIMITS.kvValueBytes} bytes of JSON`)
  .refine((it) => bytesIn(it) <= LIMITS.kvValueBytes, `a value may have ${LIMITS.kvValueBytes} bytes of JSON`);
const ttlMs = z.number().positive().max(LIMITS.kvTtlMs).optional();

/** Guest → host: not trusted. */
export const kvQuestion = {
  get: z.strictObject({ keys: z.array(key).min(1).max(LIMITS.kvKeys) }),
  set: z.strictObject({ key, value, ttlMs }),
  /** Without a version: only if there is no such entry. Without a lifetime: that of the entry that is there. */
  swap: z.strictObject({ key, version: z.string().max(64).optional(), value, ttlMs }),
  increment: z.strictObject({ key, by: z.number(), ttlMs }),
  delete: z.strictObject({ key }),
  list: z.strictObject({
    prefix: text.optional(),
    after: text.optional(),
    limit: z.int().min(1).max(LIMITS.kvPage).optional(),
    values: z.boolean().optional(),
  }),
};

/** Host → guest. */
export interface KvEntry {
  readonly text: string;
  readonly version: string;
}

export interface KvAnswers {
  "kv.get": readonly (KvEntry | null)[];
  "kv.set": null;
  /** `null`, or what is there instead. */
  "kv.swap": null | { readonly found: KvEntry | null };
  "kv.increment": number;
  "kv.delete": boolean;
  "kv.list": { readonly entries: readonly { readonly key: string; readonly text?: string }[]; readonly next?: string };
}
