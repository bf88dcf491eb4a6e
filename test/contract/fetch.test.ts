/** `fetch` inside a cell: what the operator granted, and no way around it. The servers are real, on loopback. */
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo, Server } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Host, PluginSpec } from "creel";
import { LIMITS } from "../../src/protocol/limits.ts";
import { actor, sending } from "../support/actors.ts";
import { does } from "../support/cell.ts";
import { contract, next, open, statuses } from "../support/host.ts";
import { echo, serve } from "../support/server.ts";
import type { Answerer, TestServer } from "../support/server.ts";

type FetchGrants = NonNullable<NonNullable<PluginSpec["grants"]>["fetch"]>;

const client = (id: string, fetch: FetchGrants | undefined): PluginSpec => ({ ...actor(id), grants: fetch ? { fetch } : {} });

const failed = (origin: string, detail: string) => ({ code: "ERR_FETCH_FAILED", message: `the request to ${origin} failed: ${detail}` });

const BINARY = Buffer.from(Array.from({ length: 1024 }, (_, index) => index % 256));

const site: Answerer = (asked, response, request) => {
  const { pathname, searchParams } = new URL(asked.url, "http://site");
  switch (pathname) {
    case "/redirect":
      return response.writeHead(Number(searchParams.get("status") ?? 302), { location: searchParams.get("to")! }).end("moved");
    case "/round":
      return response.writeHead(302, { location: "/round" }).end();
    case "/binary":
      return response.writeHead(200, { "content-type": "application/octet-stream" }).end(BINARY);
    case "/return":
      return response.writeHead(200).end(asked.body);
    case "/long":
      return response.writeHead(200).end("x".repeat(LIMITS.fetch.responseBytes + 1));
    case "/longest":
      return response.writeHead(200).end("\u0001".repeat(LIMITS.fetch.responseBytes));
    case "/unannounced": {
      response.writeHead(200);
      const more = (): void => void (response.destroyed || response.write("x".repeat(65_536), more));
      return more();
    }
    case "/bomb":
      return response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(Buffer.alloc(LIMITS.fetch.responseBytes + 1)));
    case "/gzip":
      return response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync("unpacked"));
    case "/not-gzip":
      return response.writeHead(200, { "content-encoding": "gzip" }).end("not packed at all");
    case "/cookies":
      return response.writeHead(201, "Made", { "set-cookie": ["a=1", "b=2"], "x-twice": ["1", "2"], "creel-cause": "x" }).end();
    case "/cut":
      response.writeHead(200, { "content-length": 10 }).write("abc");
      return setImmediate(() => request.socket.destroy());
    case "/hold":
      return undefined;
    default:
      return echo(asked, response, request);
  }
};

contract("fetch", (isolation) => {
  let granted: TestServer;
  let other: TestServer;
  let silent: TestServer;
  let garbage: Server;
  let origins: { readonly closed: string; readonly rude: string; readonly secure: string };
  let host: Host;
  /** The silent server has lost a connection. */
  const left = Promise.withResolvers<void>();

  beforeAll(async () => {
    granted = await serve(site);
    other = await serve(site);
    silent = await serve((_, __, request) => void request.socket.on("close", left.resolve));
    const gone = await serve(echo);
    await gone.close();
    garbage = createServer((socket) => socket.end("SSH-2.0-nothing\r\n")).listen(0, "127.0.0.1");
    await once(garbage, "listening");
    origins = {
      closed: gone.origin,
      rude: `http://127.0.0.1:${(garbage.address() as AddressInfo).port}`,
      secure: granted.origin.replace("http:", "https:"),
    };
    const { origin, port } = granted;
    host = await open(isolation, {
      plugins: [
        client("all", [origin]),
        client("none", undefined),
        client("named", [`http://localhost:${port}`]),
        client("reader", [{ origin, methods: ["GET", "HEAD"] }]),
        client("below", [
          { origin, pathPrefix: "/v1" },
          { origin, pathPrefix: "/redirect" },
        ]),
        client("both", [origin, other.origin]),
        client("unlucky", [...Object.values(origins), origin]),
        { ...client("slow", [silent.origin]), hooks: { timeoutMs: 200, cpuMs: 2_000 } },
        client("busy", [silent.origin]),
        client("vandal", [origin]),
      ],
    });
  });
  afterAll(async () => {
    await host.close();
    await granted.close();
    await other.close();
    await silent.close();
    garbage.close();
  });

  it("asks a granted origin, and gives status, headers and body", async () => {
    const found = await does(
      host,
      "all",
      `const r = await fetch("${granted.origin}/x?y=1#z", { method: "post", headers: { "X-Own": "1" }, body: JSON.stringify({ ä: 1 }) });
       return { status: r.status, ok: r.ok, statusText: r.statusText, url: r.url, redirected: r.redirected, type: r.headers.get("Content-Type"), body: await r.json() };`,
    );
    expect(found).toMatchObject({
      status: 200,
      ok: true,
      statusText: "OK",
      url: `${granted.origin}/x?y=1`,
      redirected: false,
      type: "application/json",
      body: { method: "POST", url: "/x?y=1", headers: { "x-own": "1", "content-type": "text/plain;charset=UTF-8" } },
    });
    expect(granted.asked.at(-1)!.body.toString()).toBe('{"ä":1}');
  });

  it.each(["all", "none"])("what was not granted to %s is refused by name, and nothing is sent", async (id) => {
    const before = other.asked.length;
    expect(await does(host, id, `await fetch("${other.origin}/x");`)).toEqual({
      code: "ERR_GRANT_MISSING",
      message: `fetch from ${other.origin} is not granted to ${id}`,
    });
    expect(other.asked.length).toBe(before);
  });

  it("takes the methods of the grant, and no others", async () => {
    expect(
      await does(
        host,
        "reader",
        `const r = await fetch("${granted.origin}/x", { method: "head" }); return [r.status, r.body, await r.text()];`,
      ),
    ).toEqual([200, null, ""]);
    const before = granted.asked.length;
    expect(await does(host, "reader", `await fetch("${granted.origin}/x", { method: "POST", body: "b" });`)).toEqual({
      code: "ERR_FETCH_METHOD",
      message: `POST ${granted.origin} is not granted to reader`,
    });
    expect(await does(host, "all", `await fetch("${granted.origin}/x", { method: "CONNECT" });`)).toMatchObject({
      code: "ERR_SERVICE_ARGUMENT",
    });
    expect(granted.asked.length).toBe(before);
  });

  it.each(["/v1", "/v1/", "/v1/x", "/v1/..a/b..", "/v1/%C3%A4?x=/../", "/v2/../v1/x", "/v1/%20x"])(
    "%s is below the prefix",
    async (path) => {
      expect(await does(host, "below", `return (await fetch("${granted.origin}${path}")).status;`)).toBe(200);
    },
  );

  it.each([
    "/",
    "/v10",
    "/V1/x",
    "/v1/../v2",
    "/v1/%2e%2e/v2",
    "/v1/.%2E/v2",
    "/v1/..%2fv2",
    "/v1/%2e%2e%2fv2",
    "/v1/..%5cv2",
    "/v1/..\\\\v2",
    "/v1/%252e%252e/v2",
    "/v1/%252e%252e%252fv2",
    "/v1/%25252e%25252e%25252fv2",
    "/v1/..;/v2",
    "/v1/%2e%2e;a=b/v2",
    "/v1/%c0%ae%c0%ae/v2",
    "//v1/x",
    "/v1%2fx",
  ])("%s is not below the prefix", async (path) => {
    const before = granted.asked.length;
    expect(await does(host, "below", `await fetch("${granted.origin}${path}");`)).toEqual({
      code: "ERR_FETCH_PATH",
      message: `this path of ${granted.origin} is not granted to below`,
    });
    expect(granted.asked.length).toBe(before);
  });

  it("localhost can be granted by its name, and then only by its name", async () => {
    expect(await does(host, "named", `return (await fetch("http://localhost:${granted.port}/x")).status;`)).toBe(200);
  });

  it.each(["127.0.0.1", "2130706433", "0x7f.1", "017700000001", "127.1", "0.0.0.0", "[::1]", "[::ffff:127.0.0.1]", "localhost."])(
    "the gateway's own machine is not reached as %s unless that is granted",
    async (spelling) => {
      const before = granted.asked.length;
      expect(await does(host, "named", `await fetch("http://${spelling}:${granted.port}/x");`)).toMatchObject({
        code: "ERR_GRANT_MISSING",
      });
      expect(granted.asked.length).toBe(before);
    },
  );

  it.each([
    ["not a url", "it is not an absolute URL"],
    ["/relative", "it is not an absolute URL"],
    ["file:///etc/passwd", "its scheme is file"],
    ["data:text/plain,x", "its scheme is data"],
    ["http://user:secret@127.0.0.1/", "it contains a user name or password"],
  ])("%s cannot be asked for", async (url, detail) => {
    expect(await does(host, "all", `await fetch(${JSON.stringify(url)});`)).toEqual({
      code: "ERR_FETCH_URL",
      message: `fetch does not accept this URL: ${detail}`,
    });
  });

  it.each([
    [301, "POST", "GET", ""],
    [302, "POST", "GET", ""],
    [303, "PUT", "GET", ""],
    [307, "POST", "POST", "body"],
    [308, "PUT", "PUT", "body"],
  ])("a %i of a %s within the grant is followed as a %s", async (status, method, becomes, body) => {
    const found = await does(
      host,
      "all",
      `const r = await fetch("${granted.origin}/redirect?status=${status}&to=/there", { method: "${method}", body: "body", headers: { authorization: "Bearer t" } });
       return { url: r.url, redirected: r.redirected, body: await r.json() };`,
    );
    expect(found).toMatchObject({
      url: `${granted.origin}/there`,
      redirected: true,
      body: { method: becomes, url: "/there", body, headers: { authorization: "Bearer t" } },
    });
  });

  it.each(["http://localhost", "http://[::1]", "http://127.0.0.2", "//localhost", "https://127.0.0.1", "file:///etc/passwd"])(
    "a redirect to %s, which is not granted, is not followed",
    async (to) => {
      const before = other.asked.length;
      const target = to.startsWith("file") ? to : `${to}:${other.port}/x`;
      const found = (await does(host, "all", `await fetch("${granted.origin}/redirect?to=${encodeURIComponent(target)}");`)) as object;
      expect(found).toMatchObject({ code: "ERR_FETCH_REDIRECT", message: expect.stringMatching(/not granted|not an http/) });
      expect(other.asked.length).toBe(before);
    },
  );

  it("a redirect out of the granted path is not followed", async () => {
    const before = granted.asked.length;
    const away = (to: string) => `await fetch("${granted.origin}/redirect?to=${encodeURIComponent(to)}");`;
    expect(await does(host, "below", away("/v2"))).toMatchObject({ code: "ERR_FETCH_REDIRECT" });
    expect(await does(host, "below", away("/v1/..%2fv2"))).toMatchObject({ code: "ERR_FETCH_REDIRECT" });
    expect(granted.asked.length).toBe(before + 2);
  });

  it("redirects without an end are given up, and the author may choose to see them", async () => {
    const before = granted.asked.length;
    expect(await does(host, "all", `await fetch("${granted.origin}/round");`)).toMatchObject({ code: "ERR_FETCH_REDIRECT" });
    expect(granted.asked.length).toBe(before + 1 + LIMITS.fetch.redirects);
    expect(await does(host, "all", `await fetch("${granted.origin}/round", { redirect: "error" });`)).toMatchObject({
      code: "ERR_FETCH_REDIRECT",
    });
    expect(
      await does(
        host,
        "all",
        `const r = await fetch("${granted.origin}/round", { redirect: "manual" }); return [r.status, r.headers.get("location")];`,
      ),
    ).toEqual([302, "/round"]);
  });

  it("a redirect to another granted origin takes no secret along", async () => {
    const found = await does(
      host,
      "both",
      `const r = await fetch("${granted.origin}/redirect?status=307&to=${encodeURIComponent(`${other.origin}/x`)}", { method: "POST", body: "b", headers: { authorization: "Bearer t", cookie: "c=1", "x-api-key": "k", accept: "text/x", "content-type": "text/y" } });
       return (await r.json()).headers;`,
    );
    expect(Object.keys(found as object).toSorted()).toEqual([
      "accept",
      "accept-encoding",
      "connection",
      "content-length",
      "content-type",
      "creel-cause",
      "host",
      "user-agent",
    ]);
    expect(found).toMatchObject({ accept: "text/x", "content-type": "text/y", host: `127.0.0.1:${other.port}` });
  });

  it("headers about the connection, and the host's own, are not the plugin's to set", async () => {
    const found = (await does(
      host,
      "all",
      `const r = await fetch("${granted.origin}/x", { method: "POST", body: "four", headers: { Host: "evil", Connection: "upgrade", Upgrade: "h2c", "Content-Length": "999", "Transfer-Encoding": "chunked", TE: "trailers", "Proxy-Authorization": "p", "Creel-Cause": "forged", "Creel-Other": "x", Expect: "100-continue", "Accept-Encoding": "zstd", "X-Fine": "yes" } });
       return (await r.json()).headers;`,
    )) as Record<string, string>;
    expect(found).toEqual({
      accept: "*/*",
      "accept-encoding": "gzip, deflate, br",
      connection: "keep-alive",
      "content-length": "4",
      "content-type": "text/plain;charset=UTF-8",
      "creel-cause": expect.stringMatching(/^[\w-]{16}\.[\w-]{22}$/) as string,
      host: `127.0.0.1:${granted.port}`,
      "user-agent": "creel",
      "x-fine": "yes",
    });
  });

  it.each([
    [`{ "x-a": "1\\r\\nx-b: 2" }`, "TypeError", /value of x-a/],
    [`{ "x-a\\r\\nx-b": "1" }`, "TypeError", /invalid header name/],
    [`{ "x a": "1" }`, "TypeError", /invalid header name/],
    [`{ "x-a": "\\u0000" }`, "TypeError", /value of x-a/],
    [`{ "x-a": "\\u0001" }`, "ERR_FETCH_HEADER", /value of x-a/],
    [`{ "x-a": "\\u20ac" }`, "TypeError", /value of x-a/],
    [`{ "x-a": "y".repeat(9000) }`, "ERR_FETCH_HEADER", /more than 8192 bytes/],
  ])("the headers %s cannot be sent", async (headers, code, message) => {
    const before = granted.asked.length;
    expect(await does(host, "all", `await fetch("${granted.origin}/x", { headers: ${headers} });`)).toMatchObject({
      code,
      message: expect.stringMatching(message) as string,
    });
    expect(granted.asked.length).toBe(before);
  });

  it("bytes come and go as they are", async () => {
    const found = await does(
      host,
      "all",
      `const got = await (await fetch("${granted.origin}/binary")).bytes();
       const back = await (await fetch("${granted.origin}/return", { method: "PUT", body: got })).arrayBuffer();
       const part = await (await fetch("${granted.origin}/return", { method: "PUT", body: new DataView(got.buffer, 250, 12) })).bytes();
       return [got instanceof Uint8Array, [...got], [...new Uint8Array(back)], [...part]];`,
    );
    expect(found).toEqual([true, [...BINARY], [...BINARY], [...BINARY.subarray(250, 262)]]);
    expect(granted.asked.findLast(({ url, body }) => url === "/return" && body.length === BINARY.length)!.body.equals(BINARY)).toBe(true);
  });

  it("text is UTF-8, and what is not becomes the replacement character", async () => {
    const text = "aä€😀\u0000";
    const broken = Buffer.from("61ff62e282c3a4f09f98ede0a080eda080f4908080c2", "hex");
    const bom = Buffer.from("efbbbf7b7d", "hex");
    const send = (body: Buffer) =>
      `await fetch("${granted.origin}/return", { method: "POST", body: Uint8Array.from(${JSON.stringify([...body])}) })`;
    expect(
      await does(
        host,
        "all",
        `const plain = await fetch("${granted.origin}/return", { method: "POST", body: ${JSON.stringify(text)} + "\\ud800" });
         const copy = plain.clone();
         return [await plain.text(), [...await copy.bytes()], await (${send(broken)}).text(), await (${send(bom)}).text(), await (${send(bom)}).json()];`,
      ),
    ).toEqual([`${text}\ufffd`, [...Buffer.from(`${text}\ufffd`)], new TextDecoder().decode(broken), "{}", {}]);
  });

  it("a body is read once; an answer may be of any status and carry several cookies", async () => {
    expect(
      await does(
        host,
        "all",
        `const r = await fetch("${granted.origin}/cookies");
         const before = r.bodyUsed;
         const text = await r.text();
         return { status: r.status, statusText: r.statusText, cookies: r.headers.getSetCookie(), both: r.headers.get("set-cookie"), twice: r.headers.get("x-twice"), cause: r.headers.get("creel-cause"), before, after: r.bodyUsed, text, again: await r.json().catch((error) => error.name) };`,
      ),
    ).toEqual({
      status: 201,
      statusText: "Made",
      cookies: ["a=1", "b=2"],
      both: "a=1, b=2",
      twice: "1, 2",
      cause: null,
      before: false,
      after: true,
      text: "",
      again: "TypeError",
    });
  });

  it("compressed answers are unpacked, and those that are not what they say fail in words", async () => {
    expect(await does(host, "all", `return await (await fetch("${granted.origin}/gzip")).text();`)).toBe("unpacked");
    expect(await does(host, "all", `await (await fetch("${granted.origin}/not-gzip")).text();`)).toEqual(
      failed(granted.origin, "its answer is not encoded as it says"),
    );
  });

  it.each(["/long", "/unannounced", "/bomb"])("an answer that is too long is not read to its end: %s", async (path) => {
    expect(await does(host, "all", `await (await fetch("${granted.origin}${path}")).text();`)).toEqual({
      code: "ERR_FETCH_RESPONSE_SIZE",
      message: `the response of ${granted.origin} has more than ${LIMITS.fetch.responseBytes} bytes`,
    });
  });

  it("the longest body arrives in both directions, even if each of its characters takes six to write", async () => {
    const body = `"\\u0001".repeat(${LIMITS.fetch.requestBytes})`;
    expect(
      await does(
        host,
        "all",
        `const r = await fetch("${granted.origin}/longest"); const back = await fetch("${granted.origin}/return", { method: "POST", body: ${body} }); return [(await r.text()).length, (await back.text()).length];`,
      ),
    ).toEqual([LIMITS.fetch.responseBytes, LIMITS.fetch.requestBytes]);
    expect(await does(host, "all", `await fetch("${granted.origin}/return", { method: "POST", body: ${body} + "x" });`)).toMatchObject({
      code: "ERR_FETCH_REQUEST_SIZE",
    });
  });

  it("what goes wrong on the way is told in words of ours, without addresses", async () => {
    for (const [origin, words] of [
      [origins.closed, "the connection was refused"],
      [origins.rude, "it does not answer in HTTP"],
      [origins.secure, "no secure connection could be made"],
      [granted.origin, "the connection was cut"],
    ] as const)
      expect(await does(host, "unlucky", `await (await fetch("${origin}/cut")).text();`)).toEqual(failed(origin, words));
  });

  it("a server that does not answer costs the call its budget, and the request ends with it", async () => {
    const outcome = await host.run("message_sending", sending({ slow: `async await fetch("${silent.origin}/x");` }), { channelId: "chat" });
    expect(statuses(outcome)).toContain("slow:timeout");
    await left.promise;
  });

  it("a plugin may have so many requests pending, and the next one is told so", async () => {
    expect(
      await does(
        host,
        "busy",
        `for (let i = 0; i < ${LIMITS.fetch.pending}; i++) fetch("${silent.origin}/x").catch(() => {}); await fetch("${silent.origin}/x");`,
      ),
    ).toEqual({ code: "ERR_FETCH_BUSY", message: `the plugin already has ${LIMITS.fetch.pending} requests pending` });
  });

  it("works in a cell whose built-ins the plugin has spoilt, and leaves the host alone", async () => {
    const spoil = `JSON.stringify = JSON.parse = () => { throw new Error("JSON"); };
      const methods = [String.prototype, Array.prototype, Map.prototype, Uint8Array.prototype.__proto__].flatMap((proto) => Reflect.ownKeys(proto).filter((key) => key !== "constructor" && typeof Object.getOwnPropertyDescriptor(proto, key).value === "function").map((key) => ({ proto, key })));
      for (const key of ["url", "method", "headers", "text", "bytes", "status", "content-type", "get"]) Object.defineProperty(Object.prototype, key, { get() { return undefined; }, set() { throw new Error("setter"); }, configurable: true });
      for (let i = 0; i < methods.length; i++) methods[i].proto[methods[i].key] = () => { throw new Error("method"); };
      globalThis.String = globalThis.Uint8Array = globalThis.encodeURIComponent = null;`;
    const line = next(host, "log");
    void host.run(
      "message_sending",
      sending({
        vandal: `async const { fetch } = globalThis; const log = api.logger.info; ${spoil} const r = await fetch("${granted.origin}/x", { __proto__: null, method: "POST", body: "spoilt", headers: { __proto__: null, a: "1" } }); const text = await r.text(); log(r.status + " " + text.length);`,
      }),
      { channelId: "chat" },
    );
    expect((await line).text).toMatch(/^200 \d+$/);
    expect(granted.asked.at(-1)).toMatchObject({ method: "POST", headers: { a: "1" } });
    expect(granted.asked.at(-1)!.body.toString()).toBe("spoilt");
  });
});
