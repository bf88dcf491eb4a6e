/**
 * Requests that try to reach a server which was not granted. Every trick is run inside a cell, against real servers: one that is
 * granted, and forbidden ones on other ports and addresses of this machine, which count connections, not requests. Names are
 * resolved by a table of the test's own, since the gateway's resolver is what an attacker controls.
 */
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo, Server } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { Host, PluginSpec } from "creel";
import { actor } from "../support/actors.ts";
import { does } from "../support/cell.ts";
import { ISOLATIONS, open } from "../support/host.ts";
import { echo, serve } from "../support/server.ts";
import type { Answerer, TestServer } from "../support/server.ts";

type Found = { address: string; ttl: number }[];

const dns = vi.hoisted(() => ({ answers: new Map<string, string[][]>(), asked: [] as string[] }));
vi.mock("node:dns/promises", async (original) => ({
  ...(await original<object>()),
  /** One for each look-up, which asks for both families. */
  Resolver: class {
    #found: string[] | undefined;

    resolve4(host: string): Promise<Found> {
      dns.asked.push(host);
      const left = dns.answers.get(host);
      // The last answer stays.
      this.#found = left && left.length > 1 ? left.shift() : left?.[0];
      return this.#family(false);
    }

    resolve6(): Promise<Found> {
      return this.#family(true);
    }

    #family(isSix: boolean): Promise<Found> {
      if (!this.#found) return Promise.reject(Object.assign(new Error("not found"), { code: "ENOTFOUND" }));
      return Promise.resolve(this.#found.filter((address) => address.includes(":") === isSix).map((address) => ({ address, ttl: 0 })));
    }
  },
}));

/** A server that must never be reached. On an address that this machine does not have it cannot be, either. */
interface Trap {
  readonly port: number;
  connections: number;
  close(): void;
}

async function trap(address: string, port = 0): Promise<Trap> {
  const server: Server = createServer((socket) => {
    made.connections += 1;
    socket.on("error", () => {});
    socket.end("HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\nreached");
  });
  server.listen(port, address);
  await once(server, "listening");
  const made = { port: (server.address() as AddressInfo).port, connections: 0, close: () => void server.close() };
  return made;
}

const site: Answerer = (asked, response, request) => {
  const { pathname, searchParams } = new URL(asked.url, "http://site");
  if (pathname === "/redirect")
    return response.writeHead(Number(searchParams.get("status") ?? 302), { location: searchParams.get("to")! }).end();
  if (pathname === "/raw") return request.socket.end(Buffer.from(searchParams.get("answer")!, "base64"));
  if (pathname === "/alt")
    return response
      .writeHead(200, {
        "alt-svc": searchParams.get("to")!,
        link: `<${searchParams.get("to")}>; rel=preload`,
        refresh: `0; url=${searchParams.get("to")}`,
        connection: "close",
      })
      .end("alt");
  return echo(asked, response, request);
};

const redirect = (granted: string, to: string, status = 302): string => `${granted}/redirect?status=${status}&to=${encodeURIComponent(to)}`;

interface Place {
  /** `http://127.0.0.1:<port>`. */
  readonly granted: string;
  readonly port: number;
  /** The forbidden server's port. */
  readonly trap: number;
}

/** Each gives the code to run, or an URL to fetch. `{port}` is the forbidden server's. */
type Trick = (place: Place) => string | { readonly run: string };

const urls = (...list: readonly string[]): Record<string, Trick> =>
  Object.fromEntries(list.map((url) => [JSON.stringify(url), ({ trap: port }: Place) => url.replaceAll("{port}", String(port))]));

const redirects = (...list: readonly (readonly [number, string])[]): Record<string, Trick> =>
  Object.fromEntries(
    list.map(([status, to]) => [
      `${status} to ${JSON.stringify(to)}`,
      ({ granted, trap: port }: Place) => redirect(granted, to.replaceAll("{port}", String(port)), status),
    ]),
  );

const headers = (...list: readonly string[]): Record<string, Trick> =>
  Object.fromEntries(
    list.map((init) => [
      init,
      ({ granted, trap: port }: Place) => ({
        run: `return await (await fetch("${granted}/x", ${init.replaceAll("{port}", String(port))})).text();`,
      }),
    ]),
  );

const TRICKS: Record<string, Record<string, Trick>> = {
  "other spellings of this machine": urls(
    "http://127.0.0.1:{port}/",
    "http://localhost:{port}/",
    "http://LOCALHOST:{port}/",
    "http://localhost.:{port}/",
    "http://localhost.localdomain:{port}/",
    "http://2130706433:{port}/",
    "http://017700000001:{port}/",
    "http://0177.0.0.1:{port}/",
    "http://0x7f000001:{port}/",
    "http://0x7f.0.0.1:{port}/",
    "http://0X7F.1:{port}/",
    "http://127.1:{port}/",
    "http://127.0.1:{port}/",
    "http://0:{port}/",
    "http://0.0.0.0:{port}/",
    "http://127.0.0.2:{port}/",
    "http://127.255.255.254:{port}/",
    "http://127.0.0.1.:{port}/",
    "http://00000177.0x0.0.1:{port}/",
    "http://[::1]:{port}/",
    "http://[::]:{port}/",
    "http://[0:0:0:0:0:0:0:1]:{port}/",
    "http://[::ffff:127.0.0.1]:{port}/",
    "http://[::ffff:7f00:1]:{port}/",
    "http://[::127.0.0.1]:{port}/",
    "http://[64:ff9b::7f00:1]:{port}/",
    "http://[64:ff9b:1::127.0.0.1]:{port}/",
    "http://[2002:7f00:1::]:{port}/",
    "http://[2001:0:7f00:1::]:{port}/",
    "http://[fe80::1]:{port}/",
    "http://[fe80::1%25lo]:{port}/",
    "http://[fd00:ec2::254]/latest/meta-data/",
    "http://169.254.169.254/latest/meta-data/",
    "http://169.254.169.254:{port}/",
    "http://2852039166/latest/meta-data/",
    "http://metadata.google.internal/computeMetadata/v1/",
  ),
  "unicode that becomes an address or a granted name": urls(
    "http://\uff11\uff12\uff17.\uff10.\uff10.\uff11:{port}/",
    "http://127\u30020\u30020\u30021:{port}/",
    "http://127\uff0e0\uff0e0\uff0e1:{port}/",
    "http://127\uff610\uff610\uff611:{port}/",
    "http://\u2460\u2461\u2466.\u24ea.\u24ea.\u2460:{port}/",
    "http://\u24db\u24de\u24d2\u24d0\u24db\u24d7\u24de\u24e2\u24e3:{port}/",
    "http://\uff4c\uff4f\uff43\uff41\uff4c\uff48\uff4f\uff53\uff54:{port}/",
    "http://loc\u00adalhost:{port}/",
    "http://loc\u200balhost:{port}/",
    "http://127.0.0.1\u3002:{port}/",
    "http://\u0131ocalhost:{port}/",
    "http://api.ex\u0430mple.com:{port}/",
    "http://xn--n3h.localhost:{port}/",
  ),
  "what parsers disagree about": {
    ...urls(
      "http:\\\\127.0.0.1:{port}\\",
      "http:127.0.0.1:{port}",
      "http:/127.0.0.1:{port}/",
      "http:////127.0.0.1:{port}/",
      "\u0000http://127.0.0.1:{port}/",
      " \thttp://127.0.0.1:{port}/ ",
      "ht\ntp://127.0.0.1:{port}/",
      "http://127.0.0.1\t:{port}/",
      "http://127.0.\r\n0.1:{port}/",
      "http://127.0.0.1:\t{port}/",
      "http://127.0.0.1:{port}#@api.example.com/",
      "http://127.0.0.1:{port}?@api.example.com/",
      "http://api.example.com@127.0.0.1:{port}/",
      "http://api.example.com:80@127.0.0.1:{port}/",
      "http://api.example.com%40127.0.0.1:{port}/",
      "http://api.example.com%2f@127.0.0.1:{port}/",
      "http://api.example.com\\@127.0.0.1:{port}/",
      "http://api.example.com#@127.0.0.1:{port}/",
      "http://api.example.com;@127.0.0.1:{port}/",
      "http://127.0.0.1%00.api.example.com:{port}/",
      "http://127.0.0.1%09:{port}/",
      "http://127.0.0.1%2e:{port}/",
      "http://127%2e0%2e0%2e1:{port}/",
      "//127.0.0.1:{port}/",
      "127.0.0.1:{port}",
      "https://127.0.0.1:{port}/",
      "HTTP://127.0.0.1:{port}/",
    ),
    "the granted origin as a user name": ({ port, trap: other }) => `http://127.0.0.1:${port}@127.0.0.1:${other}/`,
    "the granted port with more digits": ({ port }) => `http://127.0.0.1:0${port}0/`,
    "the granted port plus 65536": ({ port }) => `http://127.0.0.1:${port + 65_536}/`,
    "an object whose text changes": ({ granted, trap: port }) => ({
      run: `let n = 0; const url = { toString: () => (n++ === 0 ? "${granted}/x" : "http://127.0.0.1:${port}/"), href: "http://127.0.0.1:${port}/", [Symbol.toPrimitive]: undefined }; const r = await fetch(url); return await r.text();`,
    }),
    "a URL whose getters were replaced": ({ granted, trap: port }) => ({
      run: `const url = new URL("${granted}/x"); Object.defineProperty(url, "origin", { value: "${granted}" }); Object.defineProperty(url, "href", { value: "http://127.0.0.1:${port}/" }); url.toString = () => "http://127.0.0.1:${port}/"; await fetch(url);`,
    }),
    "a Request that was made for another": ({ granted, trap: port }) => ({
      run: `const request = new Request("${granted}/x"); Object.defineProperty(request, "url", { value: "http://127.0.0.1:${port}/" }); await fetch(request); await fetch(new Request(request, { url: "http://127.0.0.1:${port}/" })); await fetch("http://127.0.0.1:${port}/", request);`,
    }),
  },
  "other schemes": urls(
    "file:///etc/passwd",
    "file://127.0.0.1:{port}/x",
    "ftp://127.0.0.1:{port}/",
    "gopher://127.0.0.1:{port}/_GET%20/",
    "ws://127.0.0.1:{port}/",
    "wss://127.0.0.1:{port}/",
    "data:text/html,<meta http-equiv=refresh content='0;url=http://127.0.0.1:{port}/'>",
    "blob:http://127.0.0.1:{port}/0f0e",
    "javascript:fetch('http://127.0.0.1:{port}/')",
    "unix:///var/run/docker.sock",
    "http+unix://%2Fvar%2Frun%2Fdocker.sock/x",
    "view-source:http://127.0.0.1:{port}/",
    "jar:http://127.0.0.1:{port}/!/",
    "dict://127.0.0.1:{port}/x",
    "ldap://127.0.0.1:{port}/x",
    "about:blank",
  ),
  redirects: {
    ...redirects(
      [301, "http://127.0.0.1:{port}/"],
      [302, "http://127.0.0.1:{port}/"],
      [303, "http://127.0.0.1:{port}/"],
      [307, "http://127.0.0.1:{port}/"],
      [308, "http://127.0.0.1:{port}/"],
      [300, "http://127.0.0.1:{port}/"],
      [304, "http://127.0.0.1:{port}/"],
      [302, "//127.0.0.1:{port}/"],
      [302, "\\\\127.0.0.1:{port}\\"],
      [302, "/\\127.0.0.1:{port}/"],
      [302, "///127.0.0.1:{port}/"],
      [302, "http:127.0.0.1:{port}/"],
      [302, "https://127.0.0.1:{port}/"],
      [302, "http://localhost:{port}/"],
      [302, "http://[::1]:{port}/"],
      [302, "http://[::ffff:127.0.0.1]:{port}/"],
      [302, "http://2130706433:{port}/"],
      [302, "http://127.0.0.2:{port}/"],
      [302, "http://user:pass@127.0.0.1:{port}/"],
      [302, "http://169.254.169.254/latest/"],
      [302, "file:///etc/passwd"],
      [302, "data:text/plain,x"],
      [302, "ftp://127.0.0.1:{port}/"],
      [302, "gopher://127.0.0.1:{port}/"],
      [302, "javascript:1"],
      [302, " http://127.0.0.1:{port}/"],
    ),
    "to the granted origin as a user name": ({ granted, port, trap: other }) =>
      redirect(granted, `http://127.0.0.1:${port}@127.0.0.1:${other}/`),
    "through the granted server twice": ({ granted, trap: port }) => redirect(granted, redirect("", `http://127.0.0.1:${port}/`)),
    "of a POST whose body would be sent on": ({ granted, trap: port }) => ({
      run: `await fetch("${redirect(granted, `http://127.0.0.1:${port}/`, 307)}", { method: "POST", body: "b" });`,
    }),
    "two Location headers": ({ granted, trap: port }) =>
      raw(granted, `HTTP/1.1 302 Found\r\nLocation: /x\r\nLocation: http://127.0.0.1:${port}/\r\nContent-Length: 0\r\n\r\n`),
    "a Location that is split": ({ granted, trap: port }) =>
      raw(granted, `HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:\r\n ${port}/\r\nContent-Length: 0\r\n\r\n`),
    "a second answer behind the first": ({ granted, trap: port }) => ({
      run: `for (let i = 0; i < 3; i++) { try { await (await fetch("${raw(granted, `HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:${port}/\r\nContent-Length: 0\r\n\r\n`)}")).text(); } catch {} await (await fetch("${granted}/x")).text(); }`,
    }),
    "103 and 102 before the answer": ({ granted, trap: port }) =>
      raw(
        granted,
        `HTTP/1.1 103 Early Hints\r\nLink: <http://127.0.0.1:${port}/>; rel=preconnect\r\nLocation: http://127.0.0.1:${port}/\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n`,
      ),
    "101 and another protocol": ({ granted, trap: port }) =>
      raw(
        granted,
        `HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\nLocation: http://127.0.0.1:${port}/\r\n\r\n`,
      ),
    "305 use proxy": ({ granted, trap: port }) =>
      raw(granted, `HTTP/1.1 305 Use Proxy\r\nLocation: http://127.0.0.1:${port}/\r\nContent-Length: 0\r\n\r\n`),
    "Alt-Svc, Link and Refresh": ({ granted, trap: port }) => ({
      run: `for (let i = 0; i < 3; i++) await (await fetch("${granted}/alt?to=${encodeURIComponent(`h2=":${port}"; ma=3600`)}")).text(); await (await fetch("${granted}/alt?to=${encodeURIComponent(`http://127.0.0.1:${port}/`)}")).text();`,
    }),
    "407 and a proxy": ({ granted }) =>
      raw(granted, "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n"),
  },
  "headers and methods": headers(
    `{ headers: { Host: "127.0.0.1:{port}" } }`,
    `{ headers: [["host", "127.0.0.1:{port}"], ["HOST", "127.0.0.1:{port}"]] }`,
    `{ headers: { "X-Forwarded-Host": "127.0.0.1:{port}", Forwarded: "host=127.0.0.1:{port}" } }`,
    `{ headers: { "x\\r\\nHost": "127.0.0.1:{port}" } }`,
    `{ headers: { "x-a": "1\\r\\nHost: 127.0.0.1:{port}" } }`,
    `{ headers: { "x-a": "1\\n\\nGET http://127.0.0.1:{port}/ HTTP/1.1" } }`,
    `{ headers: { "x-a": "1\\u560d\\u560aHost: x" } }`,
    `{ headers: { "x-a:": "1" } }`,
    `{ headers: { ":authority": "127.0.0.1:{port}" } }`,
    `{ method: "POST", body: "0\\r\\n\\r\\nGET http://127.0.0.1:{port}/ HTTP/1.1\\r\\n\\r\\n", headers: { "Transfer-Encoding": "chunked" } }`,
    `{ method: "POST", body: "GET http://127.0.0.1:{port}/ HTTP/1.1\\r\\n\\r\\n", headers: { "Content-Length": "0" } }`,
    `{ method: "POST", body: "b", headers: { "Content-Length": "1, 2", "Transfer-Encoding": "identity" } }`,
    `{ headers: { Connection: "Upgrade, X-Own", Upgrade: "h2c", "HTTP2-Settings": "AAMAAABkAARAAAAAAAIAAAAA" } }`,
    `{ headers: { Expect: "100-continue", TE: "trailers", Trailer: "Location" } }`,
    `{ headers: { "Proxy-Connection": "keep-alive", "Proxy-Authorization": "Basic x" } }`,
    `{ method: "CONNECT" }`,
    `{ method: "connect" }`,
    `{ method: "TRACE" }`,
    `{ method: "GET http://127.0.0.1:{port}/ HTTP/1.1\\r\\nHost: 127.0.0.1:{port}\\r\\n\\r\\nGET" }`,
    `{ method: "GET /\\thttp://127.0.0.1:{port}/" }`,
    `{ method: { toString: () => "POST", toUpperCase: () => "CONNECT" } }`,
    `{ redirect: "http://127.0.0.1:{port}/", dispatcher: {}, agent: {}, proxy: "http://127.0.0.1:{port}", socketPath: "/x", host: "127.0.0.1", port: {port} }`,
    `{ dispatcher: { dispatch() {} }, proxy: "http://127.0.0.1:{port}", socketPath: "/var/run/docker.sock", lookup() {}, localAddress: "127.0.0.1", host: "127.0.0.1", port: {port}, origin: "http://127.0.0.1:{port}", path: "/x" }`,
  ),
};

function raw(granted: string, answer: string): string {
  return `${granted}/raw?answer=${encodeURIComponent(Buffer.from(answer).toString("base64"))}`;
}

const COUNT = Object.values(TRICKS).reduce((sum, table) => sum + Object.keys(table).length, 0);

describe.each(ISOLATIONS)("%s isolation", (isolation) => {
  let server: TestServer;
  let traps: Trap[];
  let forbidden: number;
  let host: Host;
  let place: Place;

  beforeAll(async () => {
    // The gateway's own settings about proxies: whoever takes heed of them connects to the trap.
    const v4 = await trap("0.0.0.0");
    forbidden = v4.port;
    traps = [v4, await trap("::1", forbidden)];
    for (const name of ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"])
      vi.stubEnv(name, `http://127.0.0.1:${forbidden}`);
    vi.stubEnv("NODE_USE_ENV_PROXY", "1");
    server = await serve(site);
    place = { granted: server.origin, port: server.port, trap: forbidden };
    for (const name of ["localhost", "localhost.", "metadata.google.internal", "localhost.localdomain", "xn--n3h.localhost"])
      dns.answers.set(name, [["127.0.0.1"]]);
    const plugin: PluginSpec = { ...actor("p"), grants: { fetch: [server.origin, `http://api.example.com:${server.port}`] } };
    host = await open(isolation, { plugins: [plugin] });
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await host.close();
    await server.close();
    for (const one of traps) one.close();
  });
  beforeEach(() => {
    for (const one of traps) one.connections = 0;
    dns.answers.set("api.example.com", [["127.0.0.1"]]);
  });

  const reached = (): number => traps.reduce((sum, { connections }) => sum + connections, 0);

  it("the traps work: every connection is counted, and the granted server answers", async () => {
    await (await fetch(`http://127.0.0.1:${forbidden}/`)).text();
    await (await fetch(`http://[::1]:${forbidden}/`)).text();
    expect(reached()).toBe(2);
    expect(await does(host, "p", `return (await fetch("${server.origin}/x")).status;`)).toBe(200);
    expect(COUNT).toBeGreaterThanOrEqual(60);
  });

  // All of a kind in one call: what counts is that none connects anywhere.
  it.each(Object.keys(TRICKS))("none reaches a server that was not granted: %s", async (kind) => {
    const tricks = Object.entries(TRICKS[kind]!).map(([name, trick]) => [name, trick(place)] as const);
    const seen: Record<string, unknown> = {};
    for (const [name, trick] of tricks) {
      const code =
        typeof trick === "string"
          ? `const r = await fetch(${JSON.stringify(trick)}); return [r.status, (await r.text()).slice(0, 200)];`
          : trick.run;
      const told = await does(host, "p", code);
      seen[name] = told;
      expect(`${name}: ${reached()} connections`).toBe(`${name}: 0 connections`);
      // What the plugin is told says nothing about the network, and it never sees what the trap says.
      expect(JSON.stringify(told)).not.toMatch(/reached|ECONN|EHOST|ENET|getaddrinfo/);
    }
    expect(Object.keys(seen)).toHaveLength(tricks.length);
    // The granted server was never asked for another host, nor in another way than it was granted.
    const addressed = `127.0.0.1:${server.port}`;
    expect(new Set(server.asked.map(({ headers: { host: named } }) => named))).toEqual(new Set([addressed]));
    expect(server.asked.filter(({ method }) => ["CONNECT", "TRACE"].includes(method))).toEqual([]);
    expect(server.asked.filter(({ headers: sent }) => sent.upgrade ?? sent["proxy-authorization"] ?? sent.te ?? sent.expect)).toEqual([]);
  });

  const asks = () => does(host, "p", `const r = await fetch("http://api.example.com:${server.port}/x"); return r.status;`);

  describe("a name that is granted", () => {
    it.each([
      [["127.0.0.1"]],
      [["::1"]],
      [["0.0.0.0"]],
      [["10.0.0.1"]],
      [["192.168.0.1"]],
      [["169.254.169.254"]],
      [["::ffff:127.0.0.1"]],
      [["64:ff9b::7f00:1"]],
      [["2002:7f00:1::"]],
      [["fe80::1"]],
      [["93.184.215.14", "127.0.0.1"]],
      [["2606:2800:21f:cb07:6820:80da:af6b:8b2c", "::1"]],
    ])("but leads to %j, is not asked", async (addresses) => {
      const before = server.asked.length;
      dns.answers.set("api.example.com", [addresses]);
      expect(await asks()).toMatchObject({ code: "ERR_FETCH_ADDRESS" });
      expect([server.asked.length, reached()]).toEqual([before, 0]);
    });

    it("and leads to this machine from the second look-up on, is looked up once a request, and each answer is checked", async () => {
      const before = server.asked.length;
      // Nothing listens at the first address: what counts is that the second one is never taken for the first request.
      dns.answers.set("api.example.com", [["192.0.2.1", "93.184.215.14"], ["127.0.0.1"], ["127.0.0.1"]]);
      dns.asked.length = 0;
      expect(await asks()).toMatchObject({ code: "ERR_FETCH_ADDRESS" });
      expect(await asks()).toMatchObject({ code: "ERR_FETCH_ADDRESS" });
      expect(dns.asked).toEqual(["api.example.com", "api.example.com"]);
      expect([server.asked.length, reached()]).toEqual([before, 0]);
    });

    it("and is what a redirect leads to, is looked up and checked all the same", async () => {
      const before = server.asked.length;
      expect(await does(host, "p", `await fetch("${redirect(server.origin, `http://api.example.com:${server.port}/x`)}");`)).toMatchObject({
        code: "ERR_FETCH_ADDRESS",
      });
      expect([server.asked.length, reached()]).toEqual([before + 1, 0]);
    });
  });
});
