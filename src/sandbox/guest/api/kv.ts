/**
 * Inside the isolate: `api.kv`. Values become JSON here; the host stores them as text. An update reads the entry, calls
 * the author's function, and swaps. If another writer came first, the swap fails and the update starts again from the
 * new value.
 */
import type { KvResponses, KvEntry } from "../../../protocol/messages/kv.ts";
import { LIMITS } from "../../../protocol/limits.ts";
import { requestHost, serviceError } from "../turn/requests.ts";
import { turn } from "../turn/mailbox.ts";
import {
  bare,
  isArray,
  mapDelete,
  mapGet,
  mapSet,
  NativeMap,
  NativePromise,
  NativeTypeError,
  parse,
  random,
  stringify,
} from "../boot/primordials.ts";
import { timerGlobals } from "../turn/timers.ts";
import { world } from "../boot/world.ts";

/**
 * The longest request that the host takes, see services/kv/kv.ts: a list of the longest keys, each character written in
 * six.
 */
const LIMIT = LIMITS.kv.keys * (6 * LIMITS.kv.keyBytes + 3);

function put<S extends keyof KvResponses>(service: S, args: object): Promise<KvResponses[S]> {
  return requestHost(service, bare(args), LIMIT) as Promise<KvResponses[S]>;
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

/** The host refuses such lists too. Refused here, they are not even written as JSON, which takes tens of milliseconds of the lane. */
function checkKeys(keys: readonly string[]): void {
  if (!isArray(keys)) return;
  if (keys.length > LIMITS.kv.keys) throw badKeys("keys", `it has ${keys.length} keys, the limit is ${LIMITS.kv.keys}`);
  for (let i = 0; i < keys.length; i++) {
    const key: unknown = keys[i];
    if (typeof key === "string" && key.length > LIMITS.kv.keyBytes)
      throw badKeys(`keys.${i}`, `a key may have ${LIMITS.kv.keyBytes} bytes of UTF-8`);
  }
}

function badKeys(field: string, detail: string): Error {
  return serviceError("ERR_SERVICE_ARGUMENT", `the argument of kv.get is not valid at "${field}": ${detail}`);
}

async function getMany(keys: readonly string[]): Promise<unknown[]> {
  checkKeys(keys);
  const entries = await put("kv.get", { keys });
  const values: unknown[] = [];
  for (let i = 0; i < entries.length; i++) values[i] = valueOf(entries[i]);
  return values;
}

async function set(key: string, value: unknown, options?: unknown): Promise<void> {
  await put("kv.set", { key, value: jsonOf(value), ttlMs: lifetime(options) });
}

/**
 * Updates of one key by one call run one after the other, since at the same time they would only conflict. Updates of
 * other calls must not queue behind them: what follows from the end of an update would be charged to the wrong call.
 */
const lines = new NativeMap<string, Promise<void>>();

async function update(key: string, change: (old: unknown) => unknown, options?: unknown): Promise<unknown> {
  if (typeof change !== "function") throw new NativeTypeError("kv.update needs a function that makes the new value of the old one");
  const line = `${turn.call} ${key}`;
  const before = mapGet(lines, line);
  const work = swapAfter(before, key, change, options);
  const end = settled(work);
  mapSet(lines, line, end);
  try {
    return await work;
  } finally {
    if (mapGet(lines, line) === end) mapDelete(lines, line);
  }
}

async function swapAfter(
  before: Promise<void> | undefined,
  key: string,
  change: (old: unknown) => unknown,
  options: unknown,
): Promise<unknown> {
  await before;
  return swap(key, change, options);
}

/** The caller learns that its update failed. The next one in the queue only learns that it is over. */
async function settled(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch {}
}

async function swap(key: string, change: (old: unknown) => unknown, options: unknown): Promise<unknown> {
  let entry = await read(key);
  for (let tries = 1; tries <= LIMITS.kv.tries; tries++) {
    const value = await change(valueOf(entry));
    // Nothing to write: a function that forgot to return must not lose an entry.
    if (value === undefined) return valueOf(entry);
    const refused = await put("kv.swap", { key, version: entry?.version, value: jsonOf(value), ttlMs: lifetime(options) });
    if (!refused) return value;
    entry = tries < HASTY ? refused.found : await readLater(key, tries);
  }
  throw serviceError("ERR_KV_CONFLICT", `other calls changed the entry during each of the ${LIMITS.kv.tries} attempts to update it`);
}

/** The first tries follow each other at once. Then each waits longer than the last, to let other writers finish. */
const HASTY = 3;
const LONGEST_MS = 64;

async function readLater(key: string, tries: number): Promise<KvEntry | null> {
  const mostMs = tries > 8 ? LONGEST_MS : 2 ** (tries - 2);
  const waitMs = 1 + random() * mostMs;
  await new NativePromise<void>((resolve) => {
    const done = (): void => resolve();
    // Where time stands still, the next try must not wait for it.
    if (world.date === undefined) timerGlobals.setTimeout(done, waitMs);
    else timerGlobals.setImmediate(done);
  });
  return read(key);
}

async function read(key: string): Promise<KvEntry | null> {
  return (await put("kv.get", { keys: [key] }))[0] ?? null;
}

async function list(options?: { prefix?: string; after?: string; limit?: number; values?: boolean }): Promise<unknown> {
  const { prefix, after, limit, values } = options ?? {};
  const page = await put("kv.list", { prefix, after, limit, values });
  const entries: { key: string; value?: unknown }[] = [];
  for (let i = 0; i < page.entries.length; i++) {
    const { key, text } = page.entries[i]!;
    entries[i] = text === undefined ? { key } : { key, value: parse(text) as unknown };
  }
  return page.next === undefined ? { entries } : { entries, next: page.next };
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
