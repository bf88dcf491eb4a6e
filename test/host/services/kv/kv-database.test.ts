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
import { describe, expect, it } from "vitest";
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
import { errorOf, kvContract, page } from "./kv-contract.ts";

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

describe("the contract of every backend", () => {
  kvContract(() => {
    const { path, clock } = stage();
    return { clock, open: (maxBytes = LIMITS.kv.bytes) => stage({ path, maxBytes, now: () => clock.ms }).database };
  });
});

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
