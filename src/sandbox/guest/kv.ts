/**
 * Inside the isolate: `api.kv`. Values are turned into JSON here, and back; the host keeps them as text. An update is a read, the author's
 * function, and a swap that fails if somebody else wrote in between: then it begins again with what is there now.
 */
import type { KvAnswers, KvEntry } from "../../protocol/kv-message.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { ask } from "./asks.ts";
import { bare, NativeError, NativeTypeError, parse, stringify } from "./primordials.ts";

/** A question may be longer than others: see services/kv.ts, which says how long. */
const LIMIT = LIMITS.eventBytes;

function put<S extends keyof KvAnswers>(service: S, args: object): Promise<KvAnswers[S]> {
  return ask(service, bare(args), LIMIT) as Promise<KvAnswers[S]>;
}

function jsonOf(value: unknown): string {
  const text = stringify(value) as string | undefined;
  if (text === undefined) throw new NativeTypeError(`a ${typeof value} is not data; to remove an entry, delete it`);
  return text;
}

function lifetime(options: unknown): number | undefined {
  return (options as { ttlMs?: number } | null | undefined)?.ttlMs;
}

function valueOf(entry: KvEntry | null | undefined): unknown {
  return entry ? (parse(entry.text) as unknown) : undefined;
}

async function getMany(keys: readonly string[]): Promise<unknown[]> {
  const entries = await put("kv.get", { keys });
  const values: unknown[] = [];
  for (let i = 0; i < entries.length; i++) values[i] = valueOf(entries[i]);
  return values;
}

async function set(key: string, value: unknown, options?: unknown): Promise<void> {
  await put("kv.set", { key, value: jsonOf(value), ttlMs: lifetime(options) });
}

async function update(key: string, change: (old: unknown) => unknown, options?: unknown): Promise<unknown> {
  if (typeof change !== "function") throw new NativeTypeError("kv.update needs a function that makes the new value of the old one");
  let entry = (await put("kv.get", { keys: [key] }))[0] ?? null;
  for (let tries = 0; tries < LIMITS.kvTries; tries++) {
    const value = await change(valueOf(entry));
    // Nothing to write: a function that forgot to return must not lose an entry.
    if (value === undefined) return valueOf(entry);
    const refused = await put("kv.swap", { key, version: entry?.version, value: jsonOf(value), ttlMs: lifetime(options) });
    if (!refused) return value;
    entry = refused.found;
  }
  const error = new NativeError(`the entry was changed by others each of the ${LIMITS.kvTries} times it was to be updated`);
  throw bareCode(error, "ERR_KV_CONFLICT");
}

async function list(question?: { prefix?: string; after?: string; limit?: number; values?: boolean }): Promise<unknown> {
  const { prefix, after, limit, values } = question ?? {};
  const page = await put("kv.list", { prefix, after, limit, values });
  const entries: { key: string; value?: unknown }[] = [];
  for (let i = 0; i < page.entries.length; i++) {
    const { key, text } = page.entries[i]!;
    entries[i] = text === undefined ? { key } : { key, value: parse(text) as unknown };
  }
  return page.next === undefined ? { entries } : { entries, next: page.next };
}

function bareCode(error: Error, code: string): Error {
  (error as Error & { code: string }).code = code;
  return error;
}

export const kv = {
  get: async (key: string): Promise<unknown> => (await getMany([key]))[0],
  getMany,
  set,
  update,
  increment: (key: string, by?: number, options?: unknown) => put("kv.increment", { key, by: by ?? 1, ttlMs: lifetime(options) }),
  delete: (key: string) => put("kv.delete", { key }),
  list,
};
