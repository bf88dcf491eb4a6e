/** What every backend of `api.kv` must do: run against SQLite's (kv-database.test.ts) and PostgreSQL's (postgres-kv.test.ts). */
import { expect, it } from "vitest";
import type { CreelError } from "../../../../src/protocol/errors.ts";
import { LIMITS } from "../../../../src/protocol/limits.ts";
import type { KvBackend } from "../../../../src/host/services/kv/kv-backend.ts";

/** An empty store with its own clock. Each `open` is another host's view of it. */
export interface KvStage {
  readonly clock: { ms: number };
  readonly open: (maxBytes?: number) => KvBackend;
}

export const errorOf = (work: Promise<unknown>): Promise<CreelError> =>
  work.then(
    () => Promise.reject(new Error("it was not refused")),
    (error: unknown) => error as CreelError,
  );
export const page = { prefix: "", after: undefined, limit: 100, hasValues: true };
const keysOf = ({ entries }: { entries: readonly { key: string }[] }) => entries.map(({ key }) => key);

export function kvContract(stage: () => KvStage): void {
  it("what was written is there for the next host, and counted in bytes", async () => {
    const { open } = stage();
    const first = open();
    await first.set("a", '{"deep":[1,"é"]}', undefined);
    await first.increment("n", 2.5, undefined);
    await first.close();
    const again = open();
    expect((await again.read(["a", "n", "none"])).map((entry) => entry?.text)).toEqual(['{"deep":[1,"é"]}', "2.5", undefined]);
    expect(await again.delete("none")).toBe(false);
    expect(again.use()).toEqual({ bytes: "a".length + Buffer.byteLength('{"deep":[1,"é"]}') + "n2.5".length, keys: 2 });
    await again.close();
  });

  it("an entry is gone from the instant it expires, for every request, and is deleted by later writes", async () => {
    const { open, clock } = stage();
    const database = open();
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
    expect(database.use()?.keys).toBe(23);
    await database.set("long", "2", undefined);
    await database.set("long", "3", undefined);
    await database.set("long", "4", undefined);
    expect(database.use()?.keys).toBe(3);
    await database.close();
  });

  it("an update keeps the lifetime unless it says another; a set does not", async () => {
    const { open, clock } = stage();
    const database = open();
    await database.set("k", "1", 1_000);
    const [entry] = await database.read(["k"]);
    await database.swap("k", entry!.version, "2", "keep");
    await database.set("other", "1", 1_000);
    await database.set("other", "2", undefined);
    clock.ms += 1_000;
    expect((await database.read(["k", "other"])).map((found) => found?.text)).toEqual([undefined, "2"]);
    await database.close();
  });

  it("a version that was deleted and written again does not pass for the old one", async () => {
    const database = stage().open();
    await database.set("k", "1", undefined);
    const [before] = await database.read(["k"]);
    await database.delete("k");
    await database.set("k", "1", undefined);
    const found = await database.swap("k", before!.version, "2", undefined);
    expect(found).toMatchObject({ text: "1" });
    expect(await database.swap("none", before!.version, "2", undefined)).toBeNull();
    await database.close();
  });

  it("lists by code point, not by UTF-16, in pages of bounded length and work", async () => {
    const { open, clock } = stage();
    const database = open();
    const keys = ["a", "a\0", "a\0b", "ab", "z", "é", "\uE000", "\uFFFF", "🦞", "\u{10FFFF}"];
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
    await database.close();
  });

  it("past the quota nothing is written; expired entries make room; a lowered quota lets a store shrink", async () => {
    const { open, clock } = stage();
    const database = open(1_000);
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
    const smaller = open(100);
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

  it("hosts that update the same entries at the same time lose none of each other's updates", { timeout: 30_000 }, async () => {
    const { open } = stage();
    const hosts = [open(), open(), open()];
    const each = 25;
    await Promise.all(
      hosts.map(async (host) => {
        for (let i = 0; i < each; i++) {
          await host.increment("counted", 1, undefined);
          let [entry] = await host.read(["updated"]);
          for (;;) {
            const found = await host.swap("updated", entry?.version, String(Number(entry?.text ?? 0) + 1), "keep");
            if (found === undefined) break;
            entry = found ?? undefined;
          }
        }
      }),
    );
    const sum = String(hosts.length * each);
    expect((await hosts[0]!.read(["counted", "updated"])).map((entry) => entry?.text)).toEqual([sum, sum]);
    for (const host of hosts) await host.close();
  });

  it("requests of one host are done in the order in which they were made, and their callbacks come in it", async () => {
    const database = stage().open();
    const done: string[] = [];
    const requests = [
      database.set("k", "1", undefined, () => done.push("set")),
      database.increment("k", 1, undefined, () => done.push("increment")),
      database.read(["k"], () => done.push("read")),
      database.delete("k", () => done.push("delete")),
      database.list(page, () => done.push("list")),
    ];
    expect(await Promise.all(requests)).toMatchObject([undefined, 2, [{ text: "2" }], true, { entries: [] }]);
    expect(done).toEqual(["set", "increment", "read", "delete", "list"]);
    await database.close();
  });
}
