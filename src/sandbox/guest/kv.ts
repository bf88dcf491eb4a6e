/**
 * Inside the isolate: `api.kv`. Values are turned into JSON here, and back; the host keeps them as text. An update is a read, the author's
 * function, and a swap that fails if somebody else wrote in between: then it begins again with what is there now.
 */
import type { KvAnswers, KvEntry } from "../../protocol/kv-message.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { ask, coded } from "./asks.ts";
import { turn } from "./mailbox.ts";
import { bare, mapDelete, mapGet, mapSet, NativeMap, NativePromise, NativeTypeError, parse, random, stringify } from "./primordials.ts";
import { timerGlobals } from "./timers.ts";

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

/**
 * Updates of one key in one call come one after the other: at the same time they would only be in each other's way. Those of other calls must
 * not wait in line here: what follows from the end of another call's update would count as that call's doing.
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

/** Whoever asked for it is told that it failed; the next in line only that it is over. */
async function settled(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch {}
}

async function swap(key: string, change: (old: unknown) => unknown, options: unknown): Promise<unknown> {
  let entry = await read(key);
  for (let tries = 1; tries <= LIMITS.kvTries; tries++) {
    const value = await change(valueOf(entry));
    // Nothing to write: a function that forgot to return must not lose an entry.
    if (value === undefined) return valueOf(entry);
    const refused = await put("kv.swap", { key, version: entry?.version, value: jsonOf(value), ttlMs: lifetime(options) });
    if (!refused) return value;
    entry = tries < HASTY ? refused.found : await readLater(key, tries);
  }
  throw coded("ERR_KV_CONFLICT", `the entry was changed by others each of the ${LIMITS.kvTries} times it was to be updated`);
}

/** So many tries come at once; then the others are given way to, for longer each time. */
const HASTY = 3;
const LONGEST_MS = 64;

async function readLater(key: string, tries: number): Promise<KvEntry | null> {
  const mostMs = tries > 8 ? LONGEST_MS : 2 ** (tries - 2);
  await new NativePromise<void>((resolve) => void timerGlobals.setTimeout(resolve, 1 + random() * mostMs));
  return read(key);
}

async function read(key: string): Promise<KvEntry | null> {
  return (await put("kv.get", { keys: [key] }))[0] ?? null;
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

export const kv = {
  get: async (key: string): Promise<unknown> => (await getMany([key]))[0],
  getMany,
  set,
  update,
  increment: (key: string, by?: number, options?: unknown) => put("kv.increment", { key, by: by ?? 1, ttlMs: lifetime(options) }),
  delete: (key: string) => put("kv.delete", { key }),
  list,
};
