/** The console over real HTTP: each known attack on a local dashboard is one test, and is refused. */
import { readFileSync, statSync } from "node:fs";
import { request } from "node:http";
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openHost } from "creel";
import type { Host } from "creel";
import { serveConsole } from "creel/console";
import type { ConsoleServer } from "creel/console";
import { LIMITS } from "../../src/protocol/limits.ts";
import { Sessions } from "../../src/console/sessions.ts";
import { folder } from "../support/files.ts";
import { plugin, silent } from "../support/host.ts";

const GUARD = plugin("guard", `api.on("before_tool_call", () => ({ block: true, blockReason: "no" }));`);

let host: Host;
let server: ConsoleServer;
let token: string;
let tokenFile: string;
beforeAll(async () => {
  host = await openHost({
    isolation: "thread",
    lanes: 1,
    logger: silent,
    plugins: [GUARD],
    config: { sandbox: { spare: false, walls: "none" } },
  });
  tokenFile = join(folder({}), "console-token");
  server = await serveConsole(host, { logger: silent, tokenFile });
  token = await tokenOf(server);
});
afterAll(async () => {
  await server.close();
  await host.close();
});

interface Sent {
  readonly to?: ConsoleServer;
  readonly method?: string;
  readonly path?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: unknown;
}
interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

function send({ to = server, method = "GET", path = "/", headers = {}, body }: Sent): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const all = { host: `127.0.0.1:${to.port}`, ...(method === "POST" && { "content-type": "application/json" }), ...headers };
    const sent = request({ host: "127.0.0.1", port: to.port, method, path, headers: all, agent: false }, (response) => {
      let text = "";
      response.on("data", (chunk: Buffer) => {
        text += chunk.toString();
        // A stream has no end: its first line is enough.
        if (path.startsWith("/feed")) response.destroy();
      });
      response.on("close", () => resolve({ status: response.statusCode!, headers: response.headers, text }));
    });
    sent.on("error", reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

const codeOf = (to: ConsoleServer): string => new URL(to.newAddress()).hash.slice(1);
const redeem = (code: string, to = server): Promise<Answer> =>
  send({ to, method: "POST", path: "/session", headers: { "x-creel-console": "1" }, body: { code } });
const tokenOf = async (to: ConsoleServer): Promise<string> => (JSON.parse((await redeem(codeOf(to), to)).text) as { token: string }).token;
const bearer = (value = token): OutgoingHttpHeaders => ({ authorization: `Bearer ${value}` });
const rpc = (method: string, params: object = {}, headers = bearer(), to = server): Promise<Answer> =>
  send({ to, method: "POST", path: "/rpc", headers, body: { method, params } });

describe("the page's own requests", () => {
  it("get the page, a token for the code, answers and the stream", async () => {
    expect((await send({ headers: { "sec-fetch-site": "none", "sec-fetch-mode": "navigate" } })).text).toContain("<title>Creel</title>");
    const own = { ...bearer(), origin: server.origin, "sec-fetch-site": "same-origin" };
    expect(JSON.parse((await rpc("samples", {}, own)).text)).toEqual({ ok: expect.any(Array) as unknown });
    const { status, text } = await send({ path: "/feed?since=0", headers: own });
    expect([status, JSON.parse(text.split("\n")[0]!)]).toMatchObject([200, { hello: { host: host.id, scopes: ["read", "act"] } }]);
  });
});

describe("attacks on local dashboards", () => {
  it("DNS rebinding: another name for this address is refused, though the browser thinks it is its own page", async () => {
    for (const name of ["attacker.example", `attacker.example:${server.port}`, "127.0.0.1", `127.0.0.1:${server.port + 1}`])
      expect((await send({ path: "/metrics", headers: { host: name, ...bearer() } })).status).toBe(421);
  });

  it("0.0.0.0-day: the address of all interfaces is not one of the server's names", async () => {
    expect((await send({ headers: { host: `0.0.0.0:${server.port}` } })).status).toBe(421);
  });

  it("other interfaces: the console listens on loopback and refuses to listen elsewhere", async () => {
    await expect(serveConsole(host, { address: "0.0.0.0", logger: silent })).rejects.toMatchObject({ code: "ERR_CONSOLE_ADDRESS" });
  });

  it("cross-site request forgery: requests of other origins and of other ports are refused, with the right token too", async () => {
    for (const headers of [
      { origin: "http://attacker.example" },
      { origin: "null" },
      { origin: `http://127.0.0.1:${server.port + 1}` },
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
      { "sec-fetch-site": "none" },
    ])
      expect((await rpc("disable", { plugin: "guard" }, { ...bearer(), ...headers })).status).toBe(403);
    expect(host.inspect("guard").status).toBe("ready");
  });

  it("cross-site request forgery: a form cannot make a request, since its body is not application/json", async () => {
    const simple = { ...bearer(), "content-type": "text/plain" };
    expect((await rpc("disable", { plugin: "guard" }, simple)).status).toBe(415);
    expect((await send({ method: "POST", path: "/session", body: { code: codeOf(server) } })).status).toBe(401);
  });

  it("cross-origin reading: no answer permits another origin, and a preflight is refused", async () => {
    const preflight = await send({ method: "OPTIONS", path: "/rpc", headers: { origin: "http://attacker.example" } });
    expect(preflight.status).toBe(403);
    for (const { headers } of [preflight, await send({}), await rpc("samples")])
      expect(Object.keys(headers).filter((name) => name.startsWith("access-control") || name === "set-cookie")).toEqual([]);
  });

  it("cross-site WebSocket hijacking: there is no WebSocket", async () => {
    const headers = {
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
      "sec-websocket-version": "13",
    };
    expect((await send({ path: "/feed", headers })).status).toBe(400);
  });

  it("clickjacking and script injection: every answer forbids frames, foreign scripts and HTML made from text", async () => {
    for (const { headers } of [await send({}), await rpc("samples"), await send({ path: "/nowhere" })]) {
      expect(headers).toMatchObject({ "x-frame-options": "DENY", "x-content-type-options": "nosniff", "referrer-policy": "no-referrer" });
      expect(headers["cross-origin-resource-policy"]).toBe("same-origin");
      for (const rule of [
        "default-src 'none'",
        "frame-ancestors 'none'",
        "connect-src 'self'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
      ])
        expect(headers["content-security-policy"]).toContain(rule);
    }
  });

  it("unauthenticated use: nothing but the three files of the page is answered without a token", async () => {
    for (const path of ["/metrics", "/feed", "/session", "/nowhere"]) expect((await send({ path })).status).toBe(401);
    expect((await rpc("samples", {}, {})).status).toBe(401);
  });

  it("presence instead of validity: an empty, short or foreign token is none", async () => {
    const sessions = new Sessions(["read"]);
    const own = sessions.redeem(sessions.newCode())!.token;
    // The wrong ones are fewer than those that lock everybody out.
    for (const wrong of ["", "Bearer ", "Bearer", "Bearer undefined", own, `Basic ${own}`, `Bearer ${own}x`, `Bearer ${own.slice(0, -1)}`])
      expect([wrong, sessions.scopesOf(wrong)]).toEqual([wrong, undefined]);
    expect(sessions.scopesOf(`Bearer ${token}`)).toBeUndefined();
    expect([...sessions.scopesOf(`Bearer ${own}`)!]).toEqual(["read"]);
    for (const wrong of ["Bearer ", `Bearer ${token.slice(1)}`, `Bearer ${own}`])
      expect((await rpc("samples", {}, { authorization: wrong })).status).toBe(401);
    expect((await rpc("samples")).status).toBe(200);
  });

  it("a secret that leaks from a URL: the code is in the fragment, works once and for a minute, and a query opens nothing", async () => {
    const code = codeOf(server);
    expect(new URL(server.newAddress()).search).toBe("");
    expect([(await redeem(code)).status, (await redeem(code)).status]).toEqual([200, 401]);
    expect((await send({ path: `/metrics?token=${token}` })).status).toBe(401);
    let now = 0;
    const sessions = new Sessions(["read"], () => now);
    const late = sessions.newCode();
    now = LIMITS.console.codeMs + 1;
    expect(sessions.redeem(late)).toBeUndefined();
  });

  it("self-declared scopes: a read-only console refuses to act, whatever the client says of itself", async () => {
    await using readOnly = await serveConsole(host, { readOnly: true, logger: silent, tokenFile: join(folder({}), "t") });
    const read = await tokenOf(readOnly);
    const claimed = await send({
      to: readOnly,
      method: "POST",
      path: "/session",
      headers: { "x-creel-console": "1" },
      body: { code: codeOf(readOnly), scopes: ["read", "act"] },
    });
    expect((JSON.parse(claimed.text) as { scopes: string[] }).scopes).toEqual(["read"]);
    const headers = { ...bearer(read), "x-scopes": "act" };
    for (const [method, params] of Object.entries({
      disable: { plugin: "guard" },
      enable: { plugin: "guard" },
      reload: { plugin: "guard" },
      release: { plugin: "guard" },
      answer: { id: "a", digest: "d", decision: "deny" },
      revoke: { pluginId: "guard", toolName: "exec" },
      rerun: { runId: "h1-1" },
      bisect: { runId: "h1-1" },
      blame: { runId: "h1-1" },
      whatIf: { plugin: "guard" },
      grantPermission: { plugin: "guard", key: "kv" },
      revokePermission: { plugin: "guard", key: "kv" },
      reviewUpdate: { plugin: "guard" },
    }))
      expect([method, (await rpc(method, { ...params, scopes: ["act"] }, headers, readOnly)).status]).toEqual([method, 403]);
    expect((await rpc("samples", {}, headers, readOnly)).status).toBe(200);
  });

  it("the token of /metrics is in a file for its owner alone, reads /metrics, and nothing else", async () => {
    expect(statSync(tokenFile).mode & 0o777).toBe(0o600);
    const metrics = bearer(readFileSync(tokenFile, "utf8").trim());
    expect((await send({ path: "/metrics", headers: metrics })).text).toContain("creel_runs_total");
    expect((await send({ path: "/feed", headers: metrics })).status).toBe(403);
    expect((await rpc("samples", {}, metrics)).status).toBe(403);
    // A scraper of this console goes on when another one of the same host comes and goes.
    const other = await serveConsole(host, { logger: silent, tokenFile });
    expect((await send({ to: other, path: "/metrics", headers: metrics })).status).toBe(200);
    await other.close();
    expect(bearer(readFileSync(tokenFile, "utf8").trim())).toEqual(metrics);
    expect((await send({ path: "/metrics", headers: metrics })).status).toBe(200);
  });

  it("brute force: after ten wrong tokens nobody is let in for a minute, not even from this machine or with a bogus field", async () => {
    await using attacked = await serveConsole(host, { logger: silent, tokenFile: join(folder({}), "t") });
    const right = await tokenOf(attacked);
    const statuses = [];
    for (let at = 0; at <= LIMITS.console.wrongTokens; at++)
      statuses.push((await rpc("samples", {}, { ...bearer(`wrong${at}`), "x-forwarded-for": `10.0.0.${at}` }, attacked)).status);
    expect(statuses.slice(-2)).toEqual([401, 429]);
    expect((await rpc("samples", {}, bearer(right), attacked)).status).toBe(429);
    expect((await redeem(codeOf(attacked), attacked)).status).toBe(429);
    let now = 0;
    const sessions = new Sessions(["read"], () => now);
    for (let at = 0; at < LIMITS.console.wrongTokens; at++) sessions.scopesOf("Bearer wrong");
    expect(sessions.isLocked).toBe(true);
    now = LIMITS.console.lockMs;
    expect(sessions.isLocked).toBe(false);
    // A tab of an earlier console that comes back once in a while is no guess after guess.
    for (let at = 0; at < 2 * LIMITS.console.wrongTokens; at++) {
      now += LIMITS.console.lockMs + 1;
      sessions.scopesOf("Bearer wrong");
    }
    expect(sessions.isLocked).toBe(false);
  });

  it("parameters that are not as the schema says, unknown methods and huge bodies are refused", async () => {
    for (const [method, params, status] of [
      ["disable", { plugin: ["guard"] }, 400],
      ["disable", { plugin: "guard", also: 1 }, 400],
      ["constructor", {}, 404],
      ["__proto__", {}, 404],
      ["run", { runId: "x".repeat(LIMITS.console.bodyBytes) }, 400],
    ] as const)
      expect([method, (await rpc(method, params)).status]).toEqual([method, status]);
    // Nothing is read past the limit: the connection may end before all of it was sent.
    const event = { long: "x".repeat(LIMITS.console.actBodyBytes) };
    expect(
      await rpc("rerun", { runId: "h1-1", event }).then(
        ({ status }) => status,
        () => 400,
      ),
    ).toBe(400);
  });
});

describe("the page's script", () => {
  it("is at most 150 KB with its style, makes no HTML from text, and takes no address to connect to", async () => {
    const { text: page } = await send({});
    const files = [...page.matchAll(/(?:src|href)="(\/app-[^"]+)"/g)].map(([, path]) => path!);
    expect(files).toHaveLength(2);
    const texts = await Promise.all(files.map(async (path) => (await send({ path })).text));
    expect(page.length + texts.join("").length).toBeLessThan(150 * 1024);
    const script = texts[files.findIndex((path) => path.endsWith(".js"))]!;
    const found = script.match(/\.innerHTML\b|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function\(/g);
    const doors = script.match(/new WebSocket|EventSource|localStorage|document\.cookie/g);
    expect([found, doors]).toEqual([null, null]);
    expect(script.match(/fetch\(/g)!.length).toBe(script.match(/fetch\([`"]\/(?:session|rpc|feed\?)/g)!.length);
  });
});
