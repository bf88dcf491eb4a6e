/**
 * A plugin's store as a file: what holds between processes, across kills and restarts, and when the file is broken. The clock is
 * the test's; processes and kills are real.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readdirSync, readFileSync, statSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate as tick } from "node:timers/promises";
import { expect, it } from "vitest";
import type { CreelError } from "../../src/protocol/errors.ts";
import { LIMITS } from "../../src/protocol/limits.ts";
import { KvStore } from "../../src/host/services/kv-store.ts";
import type { KvStoreOptions } from "../../src/host/services/kv-store.ts";
import { Kv, storeName } from "../../src/host/services/kv.ts";
import { Causes } from "../../src/host/causes.ts";
import type { Plugin } from "../../src/host/plugin.ts";
import { thrownBy } from "../support/errors.ts";
import { silent } from "../support/host.ts";
import { folder } from "../support/files.ts";

function stage(options: Partial<KvStoreOptions> = {}) {
  const path = "path" in options ? options.path : join(folder({}), "kv", "one.sqlite");
  const clock = { ms: 1_000_000 };
  const aside: string[] = [];
  const failures: unknown[] = [];
  const open = () =>
    new KvStore({
      maxBytes: LIMITS.kvBytes,
      now: () => clock.ms,
      onSetAside: (file) => aside.push(file),
      onFailure: (error) => failures.push(error),
      ...options,
      path,
    });
  return { path: path!, clock, aside, failures, open, store: open() };
}

const errorOf = (work: Promise<unknown>): Promise<CreelError> =>
  work.then(
    () => Promise.reject(new Error("it was not refused")),
    (error: unknown) => error as CreelError,
  );
const keysOf = ({ entries }: { entries: readonly { key: string }[] }) => entries.map(({ key }) => key);
const page = { prefix: "", after: undefined, limit: 100, hasValues: true };

/** A process that works on a store. */
function worker(path: string, ...args: string[]) {
  const child = spawn(process.execPath, ["-C", "source", join(import.meta.dirname, "fixtures/kv-worker.ts"), path, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  return child;
}

it("what was written is there after a restart, in a file that only its owner may read", async () => {
  const { path, store, open } = stage();
  await store.set("a", '{"deep":[1]}', undefined);
  await store.increment("n", 2.5, undefined);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(`${path}-wal`).mode & 0o777).toBe(0o600);
  expect(statSync(join(path, "..")).mode & 0o777).toBe(0o700);
  await store.close();
  const again = open();
  expect((await again.read(["a", "n", "none"])).map((entry) => entry?.text)).toEqual(['{"deep":[1]}', "2.5", undefined]);
  expect(again.use()).toEqual({ bytes: "a".length + '{"deep":[1]}'.length + "n2.5".length, keys: 2 });
  await again.close();
});

it("an entry is gone from the instant it runs out, for every question, and is deleted by later writes", async () => {
  const { store, clock } = stage({ path: undefined });
  await store.set("brief", "1", 1_000);
  await store.set("long", "1", undefined);
  clock.ms += 999;
  expect(keysOf(await store.list(page))).toEqual(["brief", "long"]);
  clock.ms += 1;
  expect(await store.read(["brief"])).toEqual([undefined]);
  expect(keysOf(await store.list(page))).toEqual(["long"]);
  expect(await store.delete("brief")).toBe(false);
  await store.set("brief", "1", 1_000);
  clock.ms += 1_000;
  // As if it had never been: a swap for "none" succeeds, an increment begins at 0.
  expect(await store.swap("brief", undefined, "2", undefined)).toBeUndefined();
  await store.set("count", "5", 10);
  clock.ms += 10;
  expect(await store.increment("count", 1, 50)).toBe(1);
  clock.ms += 49;
  expect(await store.increment("count", 1, 50)).toBe(2);
  clock.ms += 1;
  // The first increment said how long.
  expect(await store.increment("count", 1, undefined)).toBe(1);
  for (let i = 0; i < 20; i++) await store.set(`t${i}`, "1", 5);
  clock.ms += 5;
  expect(store.use().keys).toBe(23);
  await store.set("long", "2", undefined);
  await store.set("long", "3", undefined);
  await store.set("long", "4", undefined);
  expect(store.use().keys).toBe(3);
});

it("an update keeps the lifetime unless it says another; a set does not", async () => {
  const { store, clock } = stage({ path: undefined });
  await store.set("k", "1", 1_000);
  const [entry] = await store.read(["k"]);
  await store.swap("k", entry!.version, "2", "keep");
  await store.set("other", "1", 1_000);
  await store.set("other", "2", undefined);
  clock.ms += 1_000;
  expect((await store.read(["k", "other"])).map((found) => found?.text)).toEqual([undefined, "2"]);
});

it("a version that was deleted and written again does not pass for the old one", async () => {
  const { store } = stage({ path: undefined });
  await store.set("k", "1", undefined);
  const [before] = await store.read(["k"]);
  await store.delete("k");
  await store.set("k", "1", undefined);
  const found = await store.swap("k", before!.version, "2", undefined);
  expect(found).toMatchObject({ text: "1" });
  expect(await store.swap("none", before!.version, "2", undefined)).toBeNull();
});

it("lists by code point, not by UTF-16, in pages of bounded length and work", async () => {
  const { store, clock } = stage({ path: undefined });
  const keys = ["", "a", "a\0", "a\0b", "ab", "z", "é", "\uE000", "\uFFFF", "🦞", "\u{10FFFF}"].slice(1);
  for (const key of keys.toReversed()) await store.set(key, JSON.stringify(key), undefined);
  expect(keysOf(await store.list(page))).toEqual(keys);
  expect(await store.list({ ...page, prefix: "a", hasValues: false })).toEqual({
    entries: [{ key: "a" }, { key: "a\0" }, { key: "a\0b" }, { key: "ab" }],
  });
  const first = await store.list({ ...page, limit: 4 });
  expect(first.next).toBe("ab");
  expect(keysOf(await store.list({ ...page, limit: 4, after: first.next }))).toEqual(["z", "é", "\uE000", "\uFFFF"]);
  expect(keysOf(await store.list({ ...page, prefix: "🦞", after: "a" }))).toEqual(["🦞"]);
  expect(await store.list({ ...page, prefix: "a", after: "b" })).toEqual({ entries: [] });
  // What has run out is looked at, and counts.
  for (const key of ["a", "a\0", "a\0b", "ab"]) await store.set(key, "1", 10);
  clock.ms += 10;
  expect(await store.list({ ...page, limit: 4 })).toEqual({ entries: [], next: "ab" });
  const big = JSON.stringify("x".repeat(LIMITS.kvValueBytes - 2));
  for (let i = 0; i < 8; i++) await store.set(`big${i}`, big, undefined);
  const { entries, next } = await store.list({ ...page, prefix: "big" });
  expect([entries.length, next]).toEqual([4, "big3"]);
  expect(keysOf(await store.list({ ...page, prefix: "big", after: next }))).toEqual(["big4", "big5", "big6", "big7"]);
  expect((await errorOf(store.read(Array.from({ length: 8 }, (_, i) => `big${i}`)))).code).toBe("ERR_SERVICE_SIZE");
});

it("past the quota nothing is written; what has run out makes room; a lowered quota lets a store shrink", async () => {
  const { path, clock, store } = stage({ maxBytes: 1_000 });
  await store.set("a", "1".repeat(499), undefined);
  await store.set("b", "1".repeat(499), 100);
  const refused = await errorOf(store.set("c", "1", undefined));
  expect(refused).toMatchObject({ code: "ERR_KV_QUOTA", params: { limit: 1_000, count: 1_002 } });
  expect((await store.read(["c"]))[0]).toBeUndefined();
  expect((await errorOf(store.increment("a", 1, undefined))).code).toBe("ERR_KV_NUMBER");
  expect(store.use()).toEqual({ bytes: 1_000, keys: 2 });
  clock.ms += 100;
  await store.set("c", "1", undefined);
  expect(store.use()).toEqual({ bytes: 502, keys: 2 });
  await store.close();
  const smaller = stage({ path, maxBytes: 100 }).store;
  expect((await errorOf(smaller.set("d", "1", undefined))).code).toBe("ERR_KV_QUOTA");
  await smaller.set("a", "1".repeat(400), undefined);
  await smaller.delete("a");
  await smaller.set("d", "1", undefined);
  // Entries cost more than their bytes.
  const crumbs = Array.from({ length: 2 }, (_, i) => smaller.set(String(i), "1", undefined));
  expect((await Promise.allSettled(crumbs)).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(smaller.use()).toEqual({ bytes: 4, keys: 2 });
  await smaller.close();
});

it("two processes that update the same entries lose none of each other's updates", async () => {
  const { path, open } = stage();
  const each = 300;
  const workers = [worker(path, "hammer", String(each)), worker(path, "hammer", String(each))];
  const codes = await Promise.all(workers.map(async (child) => ((await once(child, "exit")) as [number])[0]));
  expect(codes).toEqual([0, 0]);
  const store = open();
  const [counted, updated] = await store.read(["counted", "updated"]);
  expect(counted!.text).toBe(String(2 * each));
  expect(updated!.text).toBe(String(2 * each));
  await store.close();
}, 20_000);

it("while another process holds the lock the caller's thread is free, order is kept, and past the patience it fails in words of ours", async () => {
  const { path, store, open, failures } = stage();
  await store.set("k", "0", undefined);
  const other = new DatabaseSync(path, { timeout: 0 });
  other.exec("BEGIN IMMEDIATE");
  const startedMs = performance.now();
  const first = store.set("k", "1", undefined);
  const second = store.set("k", "2", undefined);
  expect(performance.now() - startedMs).toBeLessThan(LIMITS.storeBusyMs / 10);
  // Readers need no lock.
  expect((await open().read(["k"]))[0]?.text).toBe("0");
  let turns = 0;
  while (turns < 100) {
    await tick();
    turns += 1;
  }
  other.exec("COMMIT");
  await first;
  await second;
  expect((await store.read(["k"]))[0]?.text).toBe("2");
  expect(failures).toEqual([]);
  other.exec("BEGIN IMMEDIATE");
  const stuck = await errorOf(store.set("k", "3", undefined));
  expect(stuck).toMatchObject({ code: "ERR_STORE_FAILED", params: { detail: "another process keeps it locked" } });
  expect(stuck.message).not.toContain(path);
  expect(failures).toHaveLength(1);
  other.exec("COMMIT");
  other.close();
  await store.set("k", "4", undefined);
  await store.close();
}, 10_000);

it("kill -9 in the middle of writes leaves a store that is whole", async () => {
  const { path, open, aside } = stage();
  for (let round = 0; round < 3; round++) {
    const child = worker(path, "write");
    // It says how far it is; what it has said was written.
    let said = "";
    child.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()));
    while (said.split("\n").length < 20) await once(child.stdout, "data");
    child.kill("SIGKILL");
    await once(child, "exit");
    const acknowledged = Number(said.trim().split("\n").at(-1));
    const store = open();
    const [left, right] = await store.read(["left", "right"]);
    expect(Number(left!.text)).toBeGreaterThanOrEqual(acknowledged);
    expect(Math.abs(Number(left!.text) - Number(right!.text))).toBeLessThanOrEqual(1);
    const { entries } = await store.list(page);
    expect(store.use()).toEqual({
      keys: entries.length,
      bytes: entries.reduce((sum, { key, text }) => sum + key.length + text!.length, 0),
    });
    await store.close();
  }
  expect(aside).toEqual([]);
}, 20_000);

it("a file that is none, or is broken further in, is set aside with all it held, and the store begins empty", async () => {
  const { path, store, open, aside } = stage();
  await store.set("a", "1", undefined);
  await store.close();
  writeFileSync(path, "this is no database, whatever its name says".repeat(100));
  const after = open();
  expect(await after.read(["a"])).toEqual([undefined]);
  expect(aside).toHaveLength(1);
  expect(readFileSync(aside[0]!, "utf8")).toContain("this is no database");
  for (let i = 0; i < 200; i++) await after.set(`key${i}`, JSON.stringify("v".repeat(500)), undefined);
  await after.close();
  // Its first page is fine, and the rest is not.
  const file = openSync(path, "r+");
  writeSync(file, Buffer.alloc(statSync(path).size - 4_096, 0xa5), 0, undefined, 4_096);
  closeSync(file);
  const later = open();
  await later.set("a", "1", undefined);
  expect((await later.read(["a", "key7"])).map((entry) => entry?.text)).toEqual(["1", undefined]);
  expect(aside).toHaveLength(2);
  expect(readdirSync(join(path, "..")).filter((name) => name.includes("broken"))).toHaveLength(2);
  await later.close();
});

it("a file of a later version is left as it is, and the plugin is told", async () => {
  const { path, store, open, aside } = stage();
  await store.set("a", "1", undefined);
  await store.close();
  const newer = new DatabaseSync(path);
  newer.exec("PRAGMA user_version = 99");
  newer.close();
  expect(await errorOf(open().read(["a"]))).toMatchObject({ code: "ERR_STORE_FAILED" });
  expect(aside).toEqual([]);
});

it("a place that cannot be written is the operator's to know, and no path reaches the plugin", async () => {
  const root = folder({ kv: "a file where a folder should be" });
  const { store, failures } = stage({ path: join(root, "kv", "one.sqlite") });
  const error = await errorOf(store.set("a", "1", undefined));
  expect(error).toMatchObject({ code: "ERR_STORE_FAILED" });
  expect(error.message).not.toContain(root);
  expect(String(failures[0])).toContain(root);
});

it("a plugin that uses its store without end is refused for a while", () => {
  const kv = new Kv({ stateDir: undefined, causes: new Causes("h"), logger: silent });
  const plugin = { id: "flood", grants: { kv: true } } as unknown as Plugin;
  for (let i = 0; i < LIMITS.kvOpsPerWindow; i++) kv.store(plugin);
  expect(thrownBy(() => kv.store(plugin))).toMatchObject({ code: "ERR_KV_RATE" });
  expect(kv.store({ ...plugin, id: "other" })).toBeDefined();
});

it("a thread moves the log into the file while the store is in use", async () => {
  const { path, store } = stage();
  await store.set("first", "1", undefined);
  const emptyBytes = statSync(path).size;
  const value = JSON.stringify("v".repeat(100_000));
  for (let i = 0; i * value.length < 2 * LIMITS.storeLogBytes; i++) await store.set(`k${i % 20}`, value, undefined);
  await expect.poll(() => statSync(path).size, { timeout: 10_000 }).toBeGreaterThan(emptyBytes + 10 * value.length);
  await store.set("still", "here", undefined);
  await store.close();
}, 15_000);

it("ids that differ in case only, or have a slash, have files of their own", () => {
  const ids = ["plugin", "Plugin", "@scope/plugin", "scope+plugin", "a".repeat(128), `${"a".repeat(127)}b`];
  const names = ids.map((id) => storeName(id).toLowerCase());
  expect(new Set(names).size).toBe(ids.length);
  for (const name of names) expect(name).toMatch(/^[a-z0-9@+._-]{1,100}$/);
});
