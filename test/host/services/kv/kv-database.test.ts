/**
 * A plugin's database as a file: between processes, across kills and restarts, and when the file is broken. The test
 * has its own clock; processes and kills are real.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readdirSync, readFileSync, statSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate as tick } from "node:timers/promises";
import { expect, it } from "vitest";
import type { CreelError } from "../../../../src/protocol/errors.ts";
import { LIMITS } from "../../../../src/protocol/limits.ts";
import { GatewayTime } from "../../../../src/host/services/gateway-time.ts";
import { KvDatabase } from "../../../../src/host/services/kv/kv-database.ts";
import type { KvDatabaseOptions } from "../../../../src/host/services/kv/kv-database.ts";
import { Kv, databaseName } from "../../../../src/host/services/kv/kv.ts";
import { Causes } from "../../../../src/host/causality/causes.ts";
import type { Plugin } from "../../../../src/host/plugins/plugin.ts";
import { thrownBy } from "../../../support/errors.ts";
import { silent } from "../../../support/host.ts";
import { folder } from "../../../support/files.ts";

function stage(options: Partial<KvDatabaseOptions> = {}) {
  const path = "path" in options ? options.path : join(folder({}), "kv", "one.sqlite");
  const clock = { ms: 1_000_000 };
  const aside: string[] = [];
  const failures: unknown[] = [];
  const open = () =>
    new KvDatabase({
      maxBytes: LIMITS.kv.bytes,
      now: () => clock.ms,
      onSetAside: (file) => aside.push(file),
      onFailure: (error) => failures.push(error),
      ...options,
      path,
    });
  return { path: path!, clock, aside, failures, open, database: open() };
}

const errorOf = (work: Promise<unknown>): Promise<CreelError> =>
  work.then(
    () => Promise.reject(new Error("it was not refused")),
    (error: unknown) => error as CreelError,
  );
const keysOf = ({ entries }: { entries: readonly { key: string }[] }) => entries.map(({ key }) => key);
const page = { prefix: "", after: undefined, limit: 100, hasValues: true };

/** A process that works on a database. */
function worker(path: string, ...args: string[]) {
  const child = spawn(process.execPath, ["-C", "source", join(import.meta.dirname, "fixtures/kv-worker.ts"), path, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  return child;
}

it("what was written is there after a restart, in a file that only its owner may read", async () => {
  const { path, database, open } = stage();
  await database.set("a", '{"deep":[1]}', undefined);
  await database.increment("n", 2.5, undefined);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(`${path}-wal`).mode & 0o777).toBe(0o600);
  expect(statSync(join(path, "..")).mode & 0o777).toBe(0o700);
  await database.close();
  const again = open();
  expect((await again.read(["a", "n", "none"])).map((entry) => entry?.text)).toEqual(['{"deep":[1]}', "2.5", undefined]);
  expect(again.use()).toEqual({ bytes: "a".length + '{"deep":[1]}'.length + "n2.5".length, keys: 2 });
  await again.close();
});

it("an entry is gone from the instant it expires, for every request, and is deleted by later writes", async () => {
  const { database, clock } = stage({ path: undefined });
  await database.set("brief", "1", 1_000);
  await database.set("long", "1", undefined);
  clock.ms += 999;
  expect(keysOf(await database.list(page))).toEqual(["brief", "long"]);
  clock.ms += 1;
  expect(await database.read(["brief"])).toEqual([undefined]);
  expect(keysOf(await database.list(page))).toEqual(["long"]);
  expect(await database.delete("brief")).toBe(false);
  await database.set("brief", "1", 1_000);
  clock.ms += 1_000;
  // As if it had never existed: a swap for "none" succeeds, an increment begins at 0.
  expect(await database.swap("brief", undefined, "2", undefined)).toBeUndefined();
  await database.set("count", "5", 10);
  clock.ms += 10;
  expect(await database.increment("count", 1, 50)).toBe(1);
  clock.ms += 49;
  expect(await database.increment("count", 1, 50)).toBe(2);
  clock.ms += 1;
  // The first increment decides the lifetime.
  expect(await database.increment("count", 1, undefined)).toBe(1);
  for (let i = 0; i < 20; i++) await database.set(`t${i}`, "1", 5);
  clock.ms += 5;
  expect(database.use().keys).toBe(23);
  await database.set("long", "2", undefined);
  await database.set("long", "3", undefined);
  await database.set("long", "4", undefined);
  expect(database.use().keys).toBe(3);
});

it("an update keeps the lifetime unless it says another; a set does not", async () => {
  const { database, clock } = stage({ path: undefined });
  await database.set("k", "1", 1_000);
  const [entry] = await database.read(["k"]);
  await database.swap("k", entry!.version, "2", "keep");
  await database.set("other", "1", 1_000);
  await database.set("other", "2", undefined);
  clock.ms += 1_000;
  expect((await database.read(["k", "other"])).map((found) => found?.text)).toEqual([undefined, "2"]);
});

it("a version that was deleted and written again does not pass for the old one", async () => {
  const { database } = stage({ path: undefined });
  await database.set("k", "1", undefined);
  const [before] = await database.read(["k"]);
  await database.delete("k");
  await database.set("k", "1", undefined);
  const found = await database.swap("k", before!.version, "2", undefined);
  expect(found).toMatchObject({ text: "1" });
  expect(await database.swap("none", before!.version, "2", undefined)).toBeNull();
});

it("lists by code point, not by UTF-16, in pages of bounded length and work", async () => {
  const { database, clock } = stage({ path: undefined });
  const keys = ["", "a", "a\0", "a\0b", "ab", "z", "é", "\uE000", "\uFFFF", "🦞", "\u{10FFFF}"].slice(1);
  for (const key of keys.toReversed()) await database.set(key, JSON.stringify(key), undefined);
  expect(keysOf(await database.list(page))).toEqual(keys);
  expect(await database.list({ ...page, prefix: "a", hasValues: false })).toEqual({
    entries: [{ key: "a" }, { key: "a\0" }, { key: "a\0b" }, { key: "ab" }],
  });
  const first = await database.list({ ...page, limit: 4 });
  expect(first.next).toBe("ab");
  expect(keysOf(await database.list({ ...page, limit: 4, after: first.next }))).toEqual(["z", "é", "\uE000", "\uFFFF"]);
  expect(keysOf(await database.list({ ...page, prefix: "🦞", after: "a" }))).toEqual(["🦞"]);
  expect(await database.list({ ...page, prefix: "a", after: "b" })).toEqual({ entries: [] });
  // Expired entries are visited and count.
  for (const key of ["a", "a\0", "a\0b", "ab"]) await database.set(key, "1", 10);
  clock.ms += 10;
  expect(await database.list({ ...page, limit: 4 })).toEqual({ entries: [], next: "ab" });
  const big = JSON.stringify("x".repeat(LIMITS.kv.valueBytes - 2));
  for (let i = 0; i < 8; i++) await database.set(`big${i}`, big, undefined);
  const { entries, next } = await database.list({ ...page, prefix: "big" });
  expect([entries.length, next]).toEqual([4, "big3"]);
  expect(keysOf(await database.list({ ...page, prefix: "big", after: next }))).toEqual(["big4", "big5", "big6", "big7"]);
  expect((await errorOf(database.read(Array.from({ length: 8 }, (_, i) => `big${i}`)))).code).toBe("ERR_SERVICE_SIZE");
});

it("past the quota nothing is written; expired entries make room; a lowered quota lets a database shrink", async () => {
  const { path, clock, database } = stage({ maxBytes: 1_000 });
  await database.set("a", "1".repeat(499), undefined);
  await database.set("b", "1".repeat(499), 100);
  const refused = await errorOf(database.set("c", "1", undefined));
  expect(refused).toMatchObject({ code: "ERR_KV_QUOTA", params: { limit: 1_000, count: 1_002 } });
  expect((await database.read(["c"]))[0]).toBeUndefined();
  expect((await errorOf(database.increment("a", 1, undefined))).code).toBe("ERR_KV_NUMBER");
  expect(database.use()).toEqual({ bytes: 1_000, keys: 2 });
  clock.ms += 100;
  await database.set("c", "1", undefined);
  expect(database.use()).toEqual({ bytes: 502, keys: 2 });
  await database.close();
  const smaller = stage({ path, maxBytes: 100 }).database;
  expect((await errorOf(smaller.set("d", "1", undefined))).code).toBe("ERR_KV_QUOTA");
  await smaller.set("a", "1".repeat(400), undefined);
  await smaller.delete("a");
  await smaller.set("d", "1", undefined);
  // An entry costs more than its bytes.
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
  const database = open();
  const [counted, updated] = await database.read(["counted", "updated"]);
  expect(counted!.text).toBe(String(2 * each));
  expect(updated!.text).toBe(String(2 * each));
  await database.close();
}, 20_000);

it("while another process holds the lock the caller's thread is free, order is kept, and after a time limit it fails with a fixed text", async () => {
  const { path, database, open, failures } = stage();
  await database.set("k", "0", undefined);
  const other = new DatabaseSync(path, { timeout: 0 });
  other.exec("BEGIN IMMEDIATE");
  const startedMs = performance.now();
  const first = database.set("k", "1", undefined);
  const second = database.set("k", "2", undefined);
  expect(performance.now() - startedMs).toBeLessThan(LIMITS.storage.busyMs / 10);
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
  expect((await database.read(["k"]))[0]?.text).toBe("2");
  expect(failures).toEqual([]);
  other.exec("BEGIN IMMEDIATE");
  const stuck = await errorOf(database.set("k", "3", undefined));
  expect(stuck).toMatchObject({ code: "ERR_STORE_FAILED", params: { detail: "another process keeps it locked" } });
  expect(stuck.message).not.toContain(path);
  expect(failures).toHaveLength(1);
  other.exec("COMMIT");
  other.close();
  await database.set("k", "4", undefined);
  await database.close();
}, 10_000);

it("kill -9 in the middle of writes leaves a database that is whole", async () => {
  const { path, open, aside } = stage();
  for (let round = 0; round < 3; round++) {
    const child = worker(path, "write");
    // It prints its progress; what it has printed was written.
    let said = "";
    child.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()));
    while (said.split("\n").length < 20) await once(child.stdout, "data");
    child.kill("SIGKILL");
    await once(child, "exit");
    const acknowledged = Number(said.trim().split("\n").at(-1));
    const database = open();
    const [left, right] = await database.read(["left", "right"]);
    expect(Number(left!.text)).toBeGreaterThanOrEqual(acknowledged);
    expect(Math.abs(Number(left!.text) - Number(right!.text))).toBeLessThanOrEqual(1);
    const { entries } = await database.list(page);
    expect(database.use()).toEqual({
      keys: entries.length,
      bytes: entries.reduce((sum, { key, text }) => sum + key.length + text!.length, 0),
    });
    await database.close();
  }
  expect(aside).toEqual([]);
}, 20_000);

it("a file that is no database, or is broken further in, is set aside whole, and the database begins empty", async () => {
  const { path, database, open, aside } = stage();
  await database.set("a", "1", undefined);
  await database.close();
  writeFileSync(path, "this is no database, whatever its name says".repeat(100));
  const after = open();
  expect(await after.read(["a"])).toEqual([undefined]);
  expect(aside).toHaveLength(1);
  expect(readFileSync(aside[0]!, "utf8")).toContain("this is no database");
  for (let i = 0; i < 200; i++) await after.set(`key${i}`, JSON.stringify("v".repeat(500)), undefined);
  await after.close();
  // Its first page is intact, the rest is not.
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

it("a file of a later version is left as it is, and the plugin gets an error", async () => {
  const { path, database, open, aside } = stage();
  await database.set("a", "1", undefined);
  await database.close();
  const newer = new DatabaseSync(path);
  newer.exec("PRAGMA user_version = 99");
  newer.close();
  expect(await errorOf(open().read(["a"]))).toMatchObject({ code: "ERR_STORE_FAILED" });
  expect(aside).toEqual([]);
});

it("a place that cannot be written is logged for the operator, and no path reaches the plugin", async () => {
  const root = folder({ kv: "a file where a folder should be" });
  const { database, failures } = stage({ path: join(root, "kv", "one.sqlite") });
  const error = await errorOf(database.set("a", "1", undefined));
  expect(error).toMatchObject({ code: "ERR_STORE_FAILED" });
  expect(error.message).not.toContain(root);
  expect(String(failures[0])).toContain(root);
});

it("a plugin that uses its database without end is refused for a while", () => {
  const kv = new Kv({ stateDir: undefined, causes: new Causes("h"), logger: silent });
  const plugin = { id: "flood", grants: { kv: true }, gatewayTime: new GatewayTime() } as unknown as Plugin;
  for (let i = 0; i < LIMITS.kv.opsPerWindow; i++) kv.database(plugin);
  expect(thrownBy(() => kv.database(plugin))).toMatchObject({ code: "ERR_KV_RATE" });
  expect(kv.database({ ...plugin, id: "other" })).toBeDefined();
});

it("a thread moves the log into the file while the database is in use", async () => {
  const { path, database } = stage();
  await database.set("first", "1", undefined);
  const emptyBytes = statSync(path).size;
  const value = JSON.stringify("v".repeat(100_000));
  for (let i = 0; i * value.length < 2 * LIMITS.storage.logBytes; i++) await database.set(`k${i % 20}`, value, undefined);
  await expect.poll(() => statSync(path).size, { timeout: 10_000 }).toBeGreaterThan(emptyBytes + 10 * value.length);
  await database.set("still", "here", undefined);
  await database.close();
}, 15_000);

it("ids that differ in case only, or have a slash, have separate files", () => {
  const ids = ["plugin", "Plugin", "@scope/plugin", "scope+plugin", "a".repeat(128), `${"a".repeat(127)}b`];
  const names = ids.map((id) => databaseName(id).toLowerCase());
  expect(new Set(names).size).toBe(ids.length);
  for (const name of names) expect(name).toMatch(/^[a-z0-9@+._-]{1,100}$/);
});
