/** Secrets: the host sends them along, the cell never sees them, and an operator sees what became of them. The servers are real, on loopback. */
import { inspect } from "node:util";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openHost } from "creel";
import type { Host, OpenOptions, PluginSpec } from "creel";
import { actor } from "../support/actors.ts";
import { does } from "../support/cell.ts";
import { folder } from "../support/files.ts";
import { contract, open, recorder } from "../support/host.ts";
import { echo, serve } from "../support/server.ts";
import type { Answerer, TestServer } from "../support/server.ts";

const KEY = `k3y-"of/the'api&+=`;
const TOKEN = "t0ken-in-the-query/+ ?&%";
const OTHER = "another-plugins-secret";

type FetchGrants = NonNullable<NonNullable<PluginSpec["grants"]>["fetch"]>;
const client = (id: string, fetch: FetchGrants): PluginSpec => ({ ...actor(id), grants: { fetch } });

const site: Answerer = (asked, response, request) => {
  const { pathname, searchParams } = new URL(asked.url, "http://site");
  const key = String(asked.headers.authorization ?? asked.headers["x-key"] ?? "").replace(/^Bearer /, "");
  switch (pathname) {
    case "/redirect":
      return response.writeHead(Number(searchParams.get("status") ?? 302), { location: searchParams.get("to")! }).end();
    case "/redirect-query":
      return response.writeHead(302, { location: `${searchParams.get("to")!}?${asked.url.split("?")[1]}` }).end();
    case "/forms":
      return response
        .writeHead(200, `fine ${key}`, {
          "x-plain": key,
          "x-url": encodeURIComponent(key),
          [`x-${Buffer.from(key).toString("hex")}`]: "1",
          "set-cookie": [`a=${encodeURIComponent(key)}`, "b=2"],
        })
        .end(
          JSON.stringify({
            key,
            url: encodeURIComponent(key),
            hex: Buffer.from(key).toString("hex"),
            base64: Buffer.from(`x:${key}`).toString("base64"),
          }),
        );
    case "/gzip": {
      const packed = gzipSync(`key=${key}&guess=${searchParams.get("guess")}`);
      return response.writeHead(200, { "content-encoding": "gzip", "content-length": packed.length }).end(packed);
    }
    case "/packed":
      return response.writeHead(200, { "content-encoding": "zstd" }).end(zstdCompressSync(key));
    case "/binary":
      return response.writeHead(200).end(Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(key), Buffer.from([0x80])]));
    case "/slowly": {
      // Each byte of the secret in a write of its own, among more than fits into one answer.
      response.writeHead(200).write("x".repeat(100_000));
      const rest = key.split("");
      const more = (): void =>
        void (rest.length > 0 ? response.write(rest.shift(), () => setImmediate(more)) : response.end("y".repeat(100_000)));
      return more();
    }
    default:
      return echo(asked, response, request);
  }
};

contract("secrets", (isolation) => {
  let server: TestServer;
  let other: TestServer;
  let host: Host;
  const { lines, logger } = recorder();

  beforeAll(async () => {
    server = await serve(site);
    other = await serve(site);
    const { origin } = server;
    host = await open(isolation, {
      logger,
      config: {
        secrets: {
          KEY: { origins: [origin], value: KEY, header: "Authorization", format: "Bearer {secret}" },
          TOKEN: { origins: [origin], value: TOKEN, query: "token" },
          OTHER: { origins: [other.origin], value: OTHER, header: "x-key" },
        },
      },
      plugins: [
        client("header", [{ origin, secret: "KEY" }, other.origin]),
        client("query", [{ origin, secret: "TOKEN" }, other.origin]),
        client("narrow", [{ origin, pathPrefix: "/v1", methods: ["GET"], secret: "KEY" }, origin]),
        client("plain", [origin, other.origin]),
        client("both", [
          { origin, secret: "KEY" },
          { origin: other.origin, secret: "OTHER" },
        ]),
      ],
    });
  });
  afterAll(async () => {
    await host.close();
    await server.close();
    await other.close();
  });

  const asked = () => server.asked.at(-1)!;

  it("the server gets it in the header, the plugin never does, and cannot put its own in its place", async () => {
    const found = await does(
      host,
      "header",
      `const own = await fetch("${server.origin}/x", { headers: { AUTHORIZATION: "mine", "x-other": "1" } }); return [own.url, await own.json()];`,
    );
    expect(asked().headers.authorization).toBe(`Bearer ${KEY}`);
    expect(found).toEqual([
      `${server.origin}/x`,
      expect.objectContaining({ headers: expect.objectContaining({ authorization: "Bearer [secret KEY]", "x-other": "1" }) as object }),
    ]);
  });

  it.each(["/x", "/x?a=1", "/x?token=mine", "/x?a=1&token=mine&b=2&tok%65n=too"])(
    "in the query of %s it replaces the plugin's own, and is not in the answer's url",
    async (path) => {
      const found = await does(host, "query", `const r = await fetch("${server.origin}${path}"); return [r.url, await r.text()];`);
      expect(new URL(asked().url, server.origin).searchParams.getAll("token")).toEqual([TOKEN]);
      expect(new URL(asked().url, server.origin).searchParams.get("a")).toBe(path.includes("a=1") ? "1" : null);
      expect((found as string[])[0]).toBe(`${server.origin}${path}`);
      expect((found as string[])[1]).toContain("token=[secret TOKEN]");
    },
  );

  it("a grant that names none sends none, nor does one that is narrower than the request", async () => {
    await does(host, "plain", `await fetch("${server.origin}/x");`);
    expect(asked().headers.authorization).toBeUndefined();
    await does(host, "narrow", `await fetch("${server.origin}/v2");`);
    expect(asked().headers.authorization).toBeUndefined();
    await does(host, "narrow", `await fetch("${server.origin}/v1", { method: "POST" });`);
    expect(asked().headers.authorization).toBeUndefined();
    await does(host, "narrow", `await fetch("${server.origin}/v1/x");`);
    expect(asked().headers.authorization).toBe(`Bearer ${KEY}`);
  });

  it("a redirect to another granted origin does not take it along; each hop has its own", async () => {
    const to = encodeURIComponent(`${other.origin}/there`);
    await does(host, "header", `await fetch("${server.origin}/redirect?to=${to}");`);
    expect(other.asked.at(-1)!.headers).not.toHaveProperty("authorization");
    await does(host, "both", `await fetch("${server.origin}/redirect?to=${to}");`);
    expect(other.asked.at(-1)!.headers).toMatchObject({ "x-key": OTHER });
    expect(other.asked.at(-1)!.headers).not.toHaveProperty("authorization");
    await does(host, "both", `await fetch("${server.origin}/redirect?to=/again");`);
    expect(asked().headers.authorization).toBe(`Bearer ${KEY}`);
  });

  it("a redirect whose address has the secret in it is followed to its own origin, without showing it, and to no other", async () => {
    const found = await does(
      host,
      "query",
      `const r = await fetch("${server.origin}/redirect-query?to=/there"); return [r.url, r.redirected];`,
    );
    expect(found).toEqual([`${server.origin}/there?to=/there`, true]);
    expect(new URL(asked().url, server.origin).searchParams.getAll("token")).toEqual([TOKEN]);
    const before = other.asked.length;
    expect(await does(host, "query", `await fetch("${server.origin}/redirect-query?to=${other.origin}/x");`)).toMatchObject({
      code: "ERR_FETCH_REDIRECT",
      message: expect.not.stringContaining("t0ken") as string,
    });
    expect(other.asked.length).toBe(before);
    const manual = `const r = await fetch("${server.origin}/redirect-query?to=${other.origin}/x", { redirect: "manual" }); return r.headers.get("location");`;
    expect(await does(host, "query", manual)).toBe(`${other.origin}/x?to=${other.origin}/x&token=[secret TOKEN]`);
  });

  it("whatever form an answer gives it back in, the cell sees its name", async () => {
    const found = (await does(
      host,
      "header",
      `const r = await fetch("${server.origin}/forms"); return { statusText: r.statusText, headers: Object.fromEntries(r.headers), cookies: r.headers.getSetCookie(), body: await r.json() };`,
    )) as { headers: Record<string, string>; body: Record<string, string> };
    expect(found).toMatchObject({
      statusText: "fine [secret KEY]",
      headers: { "x-plain": "[secret KEY]", "x-url": "[secret KEY]" },
      cookies: ["a=[secret KEY]", "b=2"],
      body: { key: "[secret KEY]", url: "[secret KEY]", hex: "[secret KEY]", base64: expect.stringContaining("[secret KEY]") as string },
    });
    expect(Object.keys(found.headers).filter((name) => name.includes(Buffer.from(KEY).toString("hex").slice(0, 8)))).toEqual([]);
  });

  it("in binary answers too, and where one comes in pieces", async () => {
    expect(await does(host, "header", `return [...await (await fetch("${server.origin}/binary")).bytes()];`)).toEqual([
      0xff,
      0xfe,
      ...Buffer.from("[secret KEY]"),
      0x80,
    ]);
    const parts = `const seen = []; for await (const chunk of (await fetch("${server.origin}/slowly")).body) seen.push(...chunk.filter((byte) => byte !== 120 && byte !== 121)); return String.fromCharCode(...seen);`;
    expect(await does(host, "header", parts)).toBe("[secret KEY]");
  });

  it("an answer is asked for as a whole, and in an encoding that can be searched", async () => {
    const ranged = `await fetch("${server.origin}/x", { headers: { Range: "bytes=0-3", "If-Range": "x" } });`;
    await does(host, "header", ranged);
    expect(asked().headers).not.toHaveProperty("range");
    expect(asked().headers).not.toHaveProperty("if-range");
    await does(host, "header", ranged.replace(server.origin, other.origin));
    expect(other.asked.at(-1)!.headers.range).toBe("bytes=0-3");
    expect(await does(host, "header", `await fetch("${server.origin}/packed");`)).toMatchObject({
      code: "ERR_FETCH_FAILED",
      message: expect.stringContaining("an encoding that was not requested") as string,
    });
  });

  it("how well a guess compresses together with it is not shown", async () => {
    const guess = (id: string) =>
      does(host, id, `const r = await fetch("${server.origin}/gzip?guess=k3y"); return [r.headers.get("content-length"), await r.text()];`);
    expect(await guess("header")).toEqual([null, "key=[secret KEY]&guess=k3y"]);
    expect(await does(host, "header", `return (await fetch("${other.origin}/gzip")).headers.get("content-length");`)).toBeNull();
    expect(await guess("plain")).toEqual([null, "key=&guess=k3y"]);
  });

  it("a plugin that was granted the origin without the secret does not get it from the server either", async () => {
    const told = `const r = await fetch("${server.origin}/x", { headers: { "x-told": ${JSON.stringify(KEY)} } }); return (await r.json()).headers["x-told"];`;
    expect(await does(host, "plain", told)).toBe("[secret KEY]");
  });

  it("uses and redactions are counted and logged by name; the value is nowhere", async () => {
    lines.length = 0;
    const before = host.inspect("header").secrets[0]!;
    await does(host, "header", `await (await fetch("${server.origin}/x")).text(); await (await fetch("${other.origin}/x")).text();`);
    const [report, ...more] = host.inspect("header").secrets;
    expect(more).toEqual([]);
    expect(report).toEqual({ name: "KEY", uses: before.uses + 1, lastUsed: expect.any(Date) as Date, redactions: before.redactions + 1 });
    expect(host.inspect("plain").secrets).toEqual([]);
    expect(lines.map(({ level, message, fields }) => [level, message, fields])).toEqual([
      ["debug", "a secret was sent", { plugin: "header", secret: "KEY", origin: server.origin }],
      ["warn", "a secret was taken out of an answer", { plugin: "header", secret: "KEY", origin: server.origin }],
    ]);
    const all = inspect([host, host.plugins(), lines], { depth: Infinity, showHidden: true });
    for (const secret of [KEY, TOKEN, OTHER]) expect(all).not.toContain(secret);
    expect(JSON.stringify(host.plugins())).not.toContain("k3y");
  });
});

const origin = "https://api.example.com";

const opened = (config: object, grants: NonNullable<PluginSpec["grants"]> = {}) =>
  openHost({
    isolation: "thread",
    lanes: 1,
    logger: recorder().logger,
    config: config as NonNullable<OpenOptions["config"]>,
    plugins: [{ ...actor("p"), grants }],
  }).then(
    (host) => host.close(),
    (error: Error & { code: string }) => Promise.reject(new Error(`${error.code} ${error.message}`)),
  );

describe("the configuration of secrets", () => {
  const secret = { origins: [origin], value: "long-enough", header: "authorization" };

  it.each([
    [{ ...secret, origins: ["http://api.example.com"] }, /secrets\.S\.origins\.0.*https/],
    [{ ...secret, origins: [] }, /secrets\.S\.origins/],
    [{ ...secret, origins: ["https://api.example.com/"] }, /secrets\.S\.origins\.0.*write it as/],
    [{ ...secret, env: "X" }, /secrets\.S".*exactly one of env, file, value must be there, not env and value/],
    [{ origins: [origin], header: "a" }, /exactly one of env, file, value/],
    [{ ...secret, query: "key" }, /exactly one of header, query/],
    [{ origins: [origin], value: "long-enough" }, /exactly one of header, query/],
    [{ ...secret, header: "x y" }, /secrets\.S\.header/],
    [{ ...secret, header: "Host" }, /secrets\.S\.header.*the host's own/],
    [{ ...secret, format: "Bearer" }, /secrets\.S\.format.*\{secret\}/],
    [{ ...secret, header: undefined, query: "q", format: "x{secret}" }, /secrets\.S\.format/],
    [{ ...secret, typo: 1 }, /secrets\.S/],
    [{ ...secret, value: "short" }, /secrets\.S\.value.*fewer than 8/],
    [{ ...secret, value: "with\r\nline: breaks" }, /secrets\.S\.value.*printable/],
    [{ ...secret, value: undefined, env: "CREEL_TEST_NOT_SET" }, /secrets\.S\.env.*not set/],
    [{ ...secret, value: undefined, file: "no-such-file" }, /secrets\.S\.file.*ENOENT/],
  ])("%j is refused, by the key to mend and without the value", async (config, message) => {
    const refused = await opened({ secrets: { S: config } }).then(String, ({ message: text }: Error) => text);
    expect(refused).toMatch(message);
    expect(refused).toMatch(/^ERR_CONFIG_INVALID /);
    for (const value of ["short", "line: breaks"]) expect(refused).not.toContain(value);
  });

  it.each([
    [{ fetch: [origin, { origin, secret: "T" }] }, /plugins\.entries\.p\.grants\.fetch\.1\.secret.*there is no secret "T"/],
    [{ fetch: [{ origin: "https://other.example.com", secret: "S" }] }, /grants\.fetch\.0\.secret.*secrets\.S\.origins/],
  ])("the grants %j are refused", async (grants, message) => {
    await expect(opened({ secrets: { S: secret } }, grants)).rejects.toThrow(message);
  });

  it("a variable that is a secret's is not also granted to a plugin; a value may come from a variable or a file", async () => {
    process.env.CREEL_TEST_SECRET = "from-the-environment";
    const file = `${folder({ key: "from-a-file\n" })}/key`;
    const secrets = { E: { ...secret, value: undefined, env: "CREEL_TEST_SECRET" }, F: { ...secret, value: undefined, file } };
    await expect(opened({ secrets }, { env: ["HOME", "CREEL_TEST_SECRET"] })).rejects.toThrow(
      /plugins\.entries\.p\.grants\.env\.1.*no plugin may see/,
    );
    await using server = await serve(echo);
    const places = {
      E: { ...secrets.E, origins: [server.origin], header: "x-e" },
      F: { ...secrets.F, origins: [server.origin], header: "x-f" },
    };
    await using host = await open("thread", {
      config: { secrets: places },
      plugins: [
        client("p", [
          { origin: server.origin, secret: "E" },
          { origin: server.origin, secret: "F" },
        ]),
      ],
    });
    await does(host, "p", `await fetch("${server.origin}/x");`);
    expect(server.asked[0]!.headers).toMatchObject({ "x-e": "from-the-environment", "x-f": "from-a-file" });
    delete process.env.CREEL_TEST_SECRET;
  });
});
