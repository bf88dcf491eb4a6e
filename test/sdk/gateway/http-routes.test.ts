/** Routes of plugins on a server of the gateway's. The host is a stand-in: test/contract/routes.test.ts has the real one. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { serveRoutes } from "../../../src/sdk/gateway/http-routes.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";

let server: Server;
let origin: string;
let answer: unknown;
let status = "ok";
const asked: { target: unknown; argument: Record<string, unknown> }[] = [];

const route = (name: string, auth: "gateway" | "plugin", match: "exact" | "prefix") => ({
  plugin: "p",
  kind: "route" as const,
  name,
  about: { auth, match },
});

beforeAll(async () => {
  const serve = serveRoutes(
    {
      routes: () => [route("/open", "plugin", "prefix"), route("/open/exact", "plugin", "exact"), route("/kept", "gateway", "exact")],
      call: async (target, argument) => {
        asked.push({ target, argument: argument as Record<string, unknown> });
        return { status, value: typeof answer === "function" ? answer(target) : answer } as never;
      },
    },
    { isAuthorized: ({ headers }) => headers.authorization === "Bearer gateway" },
  );
  server = createServer((request, response) => {
    void serve(request, response).then((isServed) => isServed || response.writeHead(404).end("the gateway's own"));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

const ok = (more: object = {}): object => ({ handled: true, status: 200, headers: {}, body: "x", ...more });
async function ask(path: string, init: RequestInit = {}): Promise<Response> {
  asked.length = 0;
  return fetch(origin + path, init);
}

it("a request goes to the route of its path, the longest first, and to the gateway if there is none or the plugin leaves it", async () => {
  answer = ok();
  await ask("/open/exact?a=1");
  expect(asked[0]).toMatchObject({ target: { route: "/open/exact", plugin: "p" }, argument: { method: "GET", url: "/open/exact?a=1" } });
  await ask("/open/below");
  expect(asked[0]!.target).toMatchObject({ route: "/open" });
  expect((await ask("/openly")).status).toBe(404);
  expect(asked).toEqual([]);
  answer = (target: { route: string }) => (target.route === "/open" ? ok({ body: "second" }) : { handled: false });
  expect(await (await ask("/open/exact", { method: "POST", body: "ü" })).text()).toBe("second");
  expect(asked.map(({ argument }) => argument.body)).toEqual(["ü", "ü"]);
  answer = { handled: false };
  expect(await (await ask("/open/exact")).text()).toBe("the gateway's own");
});

it("the gateway's credentials open a route and are not handed to the plugin, whoever checks the request", async () => {
  answer = ok();
  expect((await ask("/kept")).status).toBe(401);
  expect(asked).toEqual([]);
  const headers = { authorization: "Bearer gateway", cookie: "s=1", "x-own": "1" };
  expect((await ask("/kept", { headers })).status).toBe(200);
  expect(asked[0]!.argument.headers).toMatchObject({ "x-own": "1" });
  const isBare = (): void => {
    const names = Object.keys(asked[0]!.argument.headers as object);
    for (const name of ["authorization", "cookie", "referer"]) expect(names).not.toContain(name);
  };
  isBare();
  await ask("/open", { headers: { ...headers, referer: "http://gateway/?token=gateway" } });
  isBare();
  expect(asked[0]!.argument.headers).toMatchObject({ "x-own": "1" });
  await ask("/open?token=a&b=1&access%5Ftoken=c&b=%20");
  expect(asked[0]!.argument.url).toBe("/open?b=1&b=%20");
  await ask("/open?token=a");
  expect(asked[0]!.argument.url).toBe("/open");
});

it("a gateway that names its secrets leaves a plugin's own token in the address, and its own in no parameter and no header", async () => {
  const secret = "gateway-token-123";
  const given: { url: string; headers: Record<string, string> }[] = [];
  const serve = serveRoutes(
    {
      routes: () => [route("/open", "plugin", "exact"), route("/kept", "gateway", "exact")],
      call: async (_, argument) => {
        given.push(argument as (typeof given)[number]);
        return { status: "ok", value: ok() } as never;
      },
    },
    { isAuthorized: () => true, secrets: () => [secret, ""] },
  );
  const own = createServer((request, response) => void serve(request, response)).listen(0, "127.0.0.1");
  await once(own, "listening");
  try {
    const at = `http://127.0.0.1:${(own.address() as AddressInfo).port}`;
    const basic = Buffer.from(`user:${secret}`).toString("base64");
    const headers = { "x-token": secret, "x-basic": `Basic ${basic}`, "x-own": "1" };
    await fetch(`${at}/open?token=plugin&t=${secret}&u=${encodeURIComponent(secret).replace("-", "%2D")}&v=1`, { headers });
    expect(given[0]!.url).toBe("/open?token=plugin&v=1");
    expect(given[0]!.headers).toMatchObject({ "x-own": "1" });
    expect(JSON.stringify(given[0])).not.toContain(secret);
    expect(JSON.stringify(given[0])).not.toContain(basic);
    await fetch(`${at}/kept?token=plugin&v=1`);
    expect(given[1]!.url).toBe("/kept?v=1");
  } finally {
    own.close();
  }
});

it("a page of a plugin is in no origin of the gateway's, whatever the plugin says, and the connection is the gateway's", async () => {
  answer = ok({
    headers: { "Content-Security-Policy": "none", "content-type": "text/html", "Transfer-Encoding": "chunked", "set-cookie": ["a=1"] },
  });
  const response = await ask("/open");
  expect(response.headers.get("content-security-policy")).toMatch(/^sandbox (?!.*allow-same-origin)/);
  expect(response.headers.get("content-type")).toBe("text/html");
  expect(response.headers.getSetCookie()).toEqual(["a=1"]);
  expect(await response.text()).toBe("x");
});

it("bytes travel both ways", async () => {
  answer = ok({ body: "AP8B", encoding: "base64" });
  const response = await ask("/open", { method: "PUT", body: new Uint8Array([255, 0]) });
  expect([...new Uint8Array(await response.arrayBuffer())]).toEqual([0, 255, 1]);
  expect(asked[0]!.argument).toMatchObject({ body: "/wA=", encoding: "base64" });
});

it.each([
  ["a status that is none", { status: 99 }],
  ["a header that would be two", { headers: { a: "b\r\nc: d" } }],
  ["a header without a name", { headers: { "a b": "c" } }],
  ["no body", { body: undefined }],
])("an answer with %s is not sent", async (_, wrong) => {
  answer = ok(wrong);
  expect((await ask("/open")).status).toBe(502);
});

it("a plugin that fails, takes too long or gets too much is said in a status", async () => {
  answer = ok();
  status = "failed";
  expect((await ask("/open")).status).toBe(502);
  status = "timeout";
  expect((await ask("/open")).status).toBe(504);
  status = "ok";
  const body = new Uint8Array(LIMITS.fetch.responseBytes + 1);
  expect((await ask("/open", { method: "POST", body }).catch(() => ({ status: 413 }))).status).toBe(413);
  expect(asked).toEqual([]);
});
