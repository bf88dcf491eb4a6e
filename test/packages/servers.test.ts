/**
 * Clients of databases and brokers, unmodified, against real servers on loopback under a connect grant. A server that
 * this machine does not have is skipped with a sentence; see test/support/services.ts.
 */
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Host } from "creel";
import { open } from "../support/host.ts";
import { startMariadb, startNats, startPostgres, startRedis } from "../support/services.ts";
import type { Service } from "../support/services.ts";
import { around, missingPackages } from "./packages.ts";

const missing = missingPackages();

interface Client {
  readonly start: () => Promise<Service | undefined>;
  readonly code: string;
  readonly gives: unknown;
}

const PASSWORD = JSON.stringify("creel secret");

const CLIENTS: Readonly<Record<string, Client>> = {
  pg: {
    start: startPostgres,
    code: `import pg from "pg";
      let pool;
      export default async ({ port }) => {
        const options = { host: "127.0.0.1", port, user: "postgres", password: ${PASSWORD}, database: "postgres" };
        const client = new pg.Client(options);
        await client.connect();
        await client.query("create table t (id int, name text, data bytea)");
        await client.query("insert into t values ($1, $2, $3), (2, 'b', null)", [1, "ü", Buffer.from([0, 255])]);
        const { rows } = await client.query("select *, length(data) as n from t order by id");
        const failed = await client.query("select * from absent").catch((error) => error.code);
        await client.end();
        pool ??= new pg.Pool({ ...options, max: 3 });
        const many = await Promise.all([1, 2, 3, 4, 5].map((n) => pool.query("select $1::int * 2 as n", [n])));
        const long = await pool.query("select repeat('x', 1000000) as long");
        await pool.end();
        const wrong = await new pg.Client({ ...options, password: "wrong" }).connect().catch((error) => error.code);
        const tls = await new pg.Client({ ...options, ssl: { rejectUnauthorized: false } }).connect().catch((error) => error.message);
        return [rows.map(({ name, n }) => [name, n]), failed, many.map(({ rows: [{ n }] }) => n), long.rows[0].long.length, wrong, tls];
      };`,
    gives: [
      [
        ["ü", 2],
        ["b", null],
      ],
      "42P01",
      [2, 4, 6, 8, 10],
      1_000_000,
      "28P01",
      "The server does not support SSL connections",
    ],
  },
  mysql2: {
    start: startMariadb,
    code: `import mysql from "mysql2/promise";
      export default async ({ port }) => {
        const db = await mysql.createConnection({ host: "127.0.0.1", port, user: "creel", password: ${PASSWORD}, database: "test" });
        await db.query("create table t (id int, name varchar(20))");
        await db.execute("insert into t values (?, ?), (2, 'b')", [1, "ü"]);
        const [rows] = await db.execute("select id, name from t where id >= ? order by id", [1]);
        const failed = await db.query("select * from absent").catch((error) => error.code);
        await db.end();
        return [rows, failed];
      };`,
    gives: [
      [
        { id: 1, name: "ü" },
        { id: 2, name: "b" },
      ],
      "ER_NO_SUCH_TABLE",
    ],
  },
  ioredis: {
    start: startRedis,
    code: `import Redis from "ioredis";
      export default async ({ port }) => {
        const redis = new Redis({ host: "127.0.0.1", port });
        await redis.set("a", "1");
        const piped = await redis.pipeline().incr("a").get("a").hset("h", { x: 1, y: "ü" }).hgetall("h").exec();
        const sub = new Redis({ host: "127.0.0.1", port });
        await sub.subscribe("news");
        const heard = new Promise((resolve) => sub.on("message", (channel, message) => resolve([channel, message])));
        await redis.publish("news", "hello");
        const message = await heard;
        await Promise.all([redis.quit(), sub.quit()]);
        return [piped, message];
      };`,
    gives: [
      [
        [null, 2],
        [null, "2"],
        [null, 2],
        [null, { x: "1", y: "ü" }],
      ],
      ["news", "hello"],
    ],
  },
  nats: {
    start: startNats,
    code: `import { connect, StringCodec } from "nats";
      export default async ({ port }) => {
        const nc = await connect({ servers: "127.0.0.1:" + port });
        const text = StringCodec();
        const answers = nc.subscribe("ask", { callback: (_, message) => message.respond(text.encode("answer to " + text.decode(message.data))) });
        const news = nc.subscribe("news", { max: 2 });
        nc.publish("news", text.encode("one"));
        nc.publish("news", text.encode("two"));
        const heard = [];
        for await (const message of news) heard.push(text.decode(message.data));
        const reply = await nc.request("ask", text.encode("me"), { timeout: 5_000 });
        await nc.drain();
        return [heard, text.decode(reply.data), answers.getProcessed()];
      };`,
    gives: [["one", "two"], "answer to me", 1],
  },
};

describe.skipIf(missing !== undefined)("clients against real servers", () => {
  const services = new Map<string, Service>();
  let host: Host;

  beforeAll(async () => {
    const started = await Promise.all(Object.entries(CLIENTS).map(async ([name, { start }]) => [name, await start()] as const));
    for (const [name, service] of started) if (service) services.set(name, service);
    host = await open("process", {
      plugins: Object.entries(CLIENTS).flatMap(([name, { code }]) => {
        const port = services.get(name)?.port ?? 1;
        return [
          around(name, code, { grants: { connect: [`127.0.0.1:${port}`] } }),
          around(`${name}-ungranted`, code, { hooks: { budgets: { tool: { timeoutMs: 1_500, cpuMs: 5_000 } } } }),
        ];
      }),
    });
  }, 300_000);
  afterAll(async () => {
    await host?.close();
    await Promise.all(Array.from(services.values(), (service) => service.stop()));
  });

  it.for(Object.keys(CLIENTS))("%s works under a grant", { timeout: 60_000 }, async (name, { skip }) => {
    const service = services.get(name);
    if (!service) skip(`this machine has no server for ${name}`);
    const { value, error } = await host.call({ tool: name }, { port: service!.port });
    expect(error).toBeUndefined();
    expect(value).toEqual({ value: CLIENTS[name]!.gives });
  });

  it("without a grant none of them reaches a server, although it would answer", async () => {
    let reached = 0;
    const server = createServer(() => (reached += 1)).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const answers = await Promise.all(Object.keys(CLIENTS).map((name) => host.call({ tool: `${name}-ungranted` }, { port })));
    expect(answers.map(({ status }) => status)).not.toContain("ok");
    expect(reached).toBe(0);
    server.close();
  }, 60_000);
});
