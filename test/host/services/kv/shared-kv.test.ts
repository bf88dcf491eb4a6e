/** `api.kv` in a PostgreSQL that hosts share: the contract of every backend, and what only a server can do: be away, hang, refuse. */
import { randomBytes } from "node:crypto";
// oxlint-disable-next-line no-restricted-imports -- the test changes roles and tables.
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openHost } from "creel";
import { LIMITS } from "../../../../src/protocol/limits.ts";
import { PostgresKv } from "../../../../src/host/services/kv/postgres-kv.ts";
import { SharedDatabase } from "../../../../src/host/services/kv/postgres.ts";
import { plugin, silent } from "../../../support/host.ts";
import { Postgres, postgresBin } from "../../../support/postgres.ts";
import { errorOf, kvContract } from "./kv-contract.ts";

const name = () => randomBytes(6).toString("hex");
const counter = (id: string) =>
  plugin(id, `api.on("message_sending", async () => ({ metadata: { ${id}: await api.kv.increment("n") } }));`, {
    grants: { kv: true },
  });

if (postgresBin === undefined) console.warn("skipped: there is no PostgreSQL here; install Debian's postgresql, or set CREEL_POSTGRES_BIN");

describe.skipIf(postgresBin === undefined)("kv in PostgreSQL", () => {
  let server: Postgres;
  let database: SharedDatabase;
  const failures: unknown[] = [];
  const openDatabase = (url = server.url) => SharedDatabase.open({ url, onFailure: (error) => failures.push(error) });
  const storeOf = (id: string, of = database) => new PostgresKv({ database: of, plugin: id, maxBytes: LIMITS.kv.bytes });

  beforeAll(async () => {
    server = await Postgres.start();
    database = await openDatabase();
  }, 60_000);
  afterAll(async () => {
    await database?.close();
    await server?.[Symbol.asyncDispose]();
  });

  describe("the contract of every backend", () => {
    kvContract(() => {
      const clock = { ms: 1_000_000 };
      const id = name();
      return { clock, open: (maxBytes = LIMITS.kv.bytes) => new PostgresKv({ database, plugin: id, maxBytes, now: () => clock.ms }) };
    });
  });

  it("hosts that start together make the tables once, and lose no update", { timeout: 30_000 }, async () => {
    const sql = postgres(server.url, { max: 1, onnotice: () => {} });
    await sql`DROP TABLE creel_kv_version, creel_kv_entry, creel_kv_used`;
    const hosts = await Promise.all([openDatabase(), openDatabase(), openDatabase()]);
    await Promise.all(hosts.map((host) => storeOf("p", host).increment("n", 1, undefined)));
    expect((await storeOf("p").read(["n"]))[0]?.text).toBe("3");
    await sql`UPDATE creel_kv_version SET version = 99`;
    const newer = await openDatabase();
    expect(await errorOf(storeOf("p", newer).read(["n"]))).toMatchObject({
      code: "ERR_STORE_FAILED",
      params: { detail: expect.stringContaining("99") as string },
    });
    await sql`UPDATE creel_kv_version SET version = 1`;
    for (const one of [...hosts, newer]) await one.close();
    await sql.end();
  });

  it("time is the database's, and plugins do not see each other's entries", async () => {
    const [one, other] = [storeOf(name()), storeOf(name())];
    await one.set("k", "1", 60_000);
    await one.set("gone", "1", 1);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect((await one.read(["k", "gone"])).map((entry) => entry?.text)).toEqual(["1", undefined]);
    expect(await other.read(["k"])).toEqual([undefined]);
    expect(await other.list({ prefix: "", after: undefined, limit: 10, hasValues: true })).toEqual({ entries: [] });
  });

  it("a role that may not write is told so in a fixed text, and the operator why", async () => {
    const sql = postgres(server.url, { max: 1 });
    await sql.unsafe(`CREATE ROLE reader LOGIN PASSWORD 'reader'; GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader`);
    await sql.end();
    const reader = await openDatabase(server.urlOf("reader", "reader"));
    const store = storeOf("p", reader);
    expect((await store.read(["none"]))[0]).toBeUndefined();
    const refused = await errorOf(store.set("k", "1", undefined));
    expect(refused).toMatchObject({ code: "ERR_STORE_FAILED", params: { detail: "the shared database refused the request" } });
    expect(String(failures.at(-1))).toContain("permission denied");
    await reader.close();
  });

  it(
    "a server that hangs fails requests in time, and does none of them later; one that is killed fails them at once",
    { timeout: 60_000 },
    async () => {
      const store = storeOf(name());
      await store.set("k", "1", undefined);
      server.signal("SIGSTOP");
      const hung = await errorOf(store.set("k", "2", undefined));
      expect(hung).toMatchObject({ code: "ERR_STORE_FAILED", params: { detail: expect.stringContaining("does not answer") as string } });
      // For a moment it is not asked again.
      expect(await errorOf(store.read(["k"]))).toMatchObject({ code: "ERR_STORE_FAILED" });
      server.signal("SIGCONT");
      await expect
        .poll(
          () =>
            store.read(["k"]).then(
              ([entry]) => entry?.text,
              () => "away",
            ),
          { timeout: 20_000 },
        )
        .toBe("1");
      await server.kill();
      expect(await errorOf(store.set("k", "3", undefined))).toMatchObject({ code: "ERR_STORE_FAILED" });
      await server.restart();
      await expect.poll(() => store.increment("k", 1, undefined).catch(() => "away"), { timeout: 20_000 }).toBe(2);
    },
  );

  it("two hosts share the stores of the plugins that are named, and no plugin may see the address", { timeout: 60_000 }, async () => {
    process.env.CREEL_TEST_PG = server.url;
    const config = {
      kv: { postgres: { env: "CREEL_TEST_PG" }, shared: ["common"] },
      sandbox: { spare: false, walls: "none" as const },
    };
    const open = (more = {}) =>
      openHost({
        isolation: "thread",
        lanes: 1,
        plugins: [counter("common"), counter("own")],
        logger: silent,
        config: { ...config, ...more },
      });
    await using first = await open();
    await using second = await open();
    const count = async (host: typeof first, id: string) =>
      (await host.run("message_sending", { to: "u", content: "" }, { channelId: "c" }, { plugin: id })).result?.metadata?.[id];
    expect([await count(first, "common"), await count(second, "common"), await count(first, "common")]).toEqual([1, 2, 3]);
    expect([await count(first, "own"), await count(second, "own"), await count(first, "own")]).toEqual([1, 1, 2]);
    expect(first.inspect("common").kv).toMatchObject({ scope: "shared", isPersistent: true, keys: 1 });
    expect(first.inspect("own").kv).toMatchObject({ scope: "host", isPersistent: false, keys: 1 });
    const spy = { ...counter("spy"), grants: { env: ["CREEL_TEST_PG"] } };
    await expect(openHost({ plugins: [spy], logger: silent, config })).rejects.toThrow("address of the shared database");
    process.env.CREEL_TEST_PG = "mysql://nobody:secret@nowhere";
    const wrong = await errorOf(open());
    expect(wrong.message).toContain("kv.postgres.env");
    expect(wrong.message).not.toContain("secret");
    delete process.env.CREEL_TEST_PG;
  });
});
