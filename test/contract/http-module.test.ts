/**
 * `http` inside a cell answers as in Node: the same expressions run on both sides against one server. What is granted, redirected and limited
 * is as for `fetch`, whose service it uses.
 */
import { gzipSync } from "node:zlib";
import { afterAll, describe, expect, it } from "vitest";
import { LIMITS } from "../../src/protocol/limits.ts";
import { oracle } from "../sandbox/guest/node/oracle.ts";
import { script } from "../sandbox/guest/node/tables-script.ts";
import { open } from "../support/host.ts";
import { serve } from "../support/server.ts";

const server = await serve((asked, response) => {
  const { pathname, searchParams } = new URL(asked.url, "http://site");
  switch (pathname) {
    case "/moved":
      return response.writeHead(302, { location: searchParams.get("to") ?? "/" }).end("moved");
    case "/gzip":
      return response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync("unpacked"));
    case "/cookies":
      return response.writeHead(201, "Made", { "set-cookie": ["a=1", "b=2"], "x-twice": ["1", "2"] }).end();
    case "/long":
      return response.writeHead(200).end("0123456789".repeat(30_000));
    case "/hold":
      return undefined;
    case "/cut":
      response.writeHead(200, { "content-length": 10 }).write("abc");
      return setTimeout(() => response.destroy(), 5);
    default:
      return response
        .writeHead(200, { "x-method": asked.method, "content-type": "text/plain" })
        .end(
          JSON.stringify([
            asked.method,
            asked.url,
            asked.body,
            ["x-one", "authorization", "cookie", "content-type"].map((name) => asked.headers[name]),
          ]),
        );
  }
});
afterAll(() => server.close());

const SETUP = `
const http = require("node:http"); const https = require("https"); const { once } = require("events"); const { text } = require("stream/consumers"); const { pipeline } = require("stream/promises");
const origin = ${JSON.stringify(server.origin)}; const { hostname, port } = new URL(origin);
const got = async (request) => { const [response] = await once(request, "response"); return [response.statusCode, response.statusMessage, await text(response)]; };
const failing = async (request) => { const [error] = await once(request, "error"); return [error.code, error.message]; };`;

const TABLE = {
  http: script(
    SETUP,
    String.raw`
    got(http.get(origin + "/a?b=c"))
    got(http.get(new URL(origin + "/a"), { headers: { "X-One": "1" } }))
    new Promise((resolve) => http.get({ hostname, port, path: "/p" }, async (res) => resolve(await text(res))))
    got(http.request(origin + "/x", { method: "POST", headers: { "content-type": "text/x" } }).end("body"))
    got((() => { const r = http.request({ host: hostname, port: Number(port), path: "/y", method: "put" }); r.setHeader("X-One", ["1", "2"]); r.write("a"); r.write(Buffer.from("ü")); r.end(); return r; })())
    got(http.get(origin.replace("//", "//user:pa%20ss@") + "/auth"))
    got(http.request(origin, { method: "DELETE", auth: "a:b", headers: { cookie: ["a=1", "b=2"], "x-one": 5 } }).end())
    got(http.get(origin + "/moved?to=/b"))
    (async () => { const [res] = await once(http.get(origin + "/moved?to=/b"), "response"); res.resume(); return res.headers.location; })()
    (async () => { const [res] = await once(http.get(origin + "/cookies"), "response"); res.resume(); return [res.headers["set-cookie"], res.headers["x-twice"], res.statusCode, res.statusMessage, res.httpVersion, res.headersDistinct["set-cookie"]]; })()
    (async () => { const req = http.request(origin, { method: "HEAD" }); req.end(); const [res] = await once(req, "response"); return [res.statusCode, await text(res), res.headers["x-method"]]; })()
    (async () => { const [res] = await once(http.get(origin + "/long"), "response"); let n = 0; for await (const c of res) n += c.length; return [n, res.complete]; })()
    (async () => { const [res] = await once(http.get(origin + "/long"), "response"); res.setEncoding("utf8"); const [first] = await once(res, "data"); res.destroy(); return [typeof first, res.destroyed]; })()
    (async () => { const req = http.request(origin + "/z", { method: "POST" }); const answer = got(req); await pipeline(require("stream").Readable.from(["x", "y"]), req); return answer; })()
    (async () => { const events = []; const req = http.request(origin); for (const name of ["socket", "finish", "response", "close"]) req.on(name, () => events.push(name)); req.end(); const [res] = await once(req, "response"); res.resume(); await once(req, "close"); return [events, req.finished, req.writableEnded, req.method, req.path, req.host, req.protocol]; })()
    (async () => { const req = http.get(origin + "/hold"); const error = failing(req); setTimeout(() => req.destroy(), 5); return [await error, req.destroyed]; })()
    (async () => { const req = http.get(origin + "/hold"); const error = failing(req); setTimeout(() => req.destroy(new Error("mine")), 5); return error; })()
    (async () => { const req = http.get(origin + "/hold"); const said = []; req.on("abort", () => said.push("abort")); const error = failing(req); setTimeout(() => req.abort(), 5); return [await error, said, req.aborted]; })()
    (async () => { const ac = new AbortController(); const error = failing(http.get(origin + "/hold", { signal: ac.signal })); setTimeout(() => ac.abort(), 5); return (await error)[0]; })()
    (async () => { const req = http.get(origin + "/hold", { timeout: 20 }); await once(req, "timeout"); const error = failing(req); req.destroy(new Error("too slow")); return error; })()
    (async () => { try { const [res] = await once(http.get(origin + "/cut"), "response"); await text(res); return "all"; } catch { return "cut"; } })()
    http.request("https://x.test/")
    https.request("http://x.test/")
    http.request({ path: "/a b" })
    http.request({ method: "B AD" })
    http.request({ hostname: 5 })
    http.request({ headers: { "bad name": "x" } })
    http.request({ headers: { x: "a\nb" } })
    http.request("not a url")
    (() => { const r = http.request(origin); r.on("error", () => {}); r.setHeader("A-B", 1); const said = [r.getHeader("a-b"), r.hasHeader("A-b"), r.getHeaderNames().includes("a-b"), r.getRawHeaderNames().includes("A-B"), { ...r.getHeaders() }["a-b"], r.headersSent]; r.removeHeader("a-b"); said.push(r.hasHeader("a-b")); r.destroy(); return said; })()
    [http.STATUS_CODES[404], http.METHODS.includes("PATCH"), new http.Agent({ keepAlive: true, maxSockets: 5 }).maxSockets, http.globalAgent instanceof http.Agent, https.globalAgent.protocol, new https.Agent() instanceof http.Agent, http.globalAgent.defaultPort, https.globalAgent.defaultPort]
    got(http.get(origin, { agent: new http.Agent({ keepAlive: true }) }))
    got(http.get(origin, { agent: false }))
    [http.validateHeaderName("a"), http.validateHeaderValue("a", "b")]
    http.validateHeaderName("a b")
    http.validateHeaderValue("a", undefined)
  `,
  ),
};

const cells = oracle("thread", TABLE, { fetch: [server.origin] });

describe("http inside a cell", () => {
  it("answers as in Node", async () => {
    expect(await cells.differences("http")).toEqual([]);
  });

  // oxlint-disable-next-line unicorn/consistent-function-scoping -- it belongs to these tests
  const attempt = async (code: string, grants: object = { fetch: [server.origin] }): Promise<unknown> => {
    const source = `${SETUP} module.exports = (api) => api.registerTool({ name: "t", execute: async () => ${code} });`;
    await using host = await open("thread", { plugins: [{ id: "p", source, grants, hooks: { timeoutMs: 5_000 } }] });
    return (await host.call({ tool: "t" })).value;
  };

  it("has the grants of fetch, and a redirect or a trick with host and path leads nowhere else", async () => {
    const other = await serve((_, response) => response.end("reached"));
    const { port } = new URL(other.origin);
    const value = (await attempt(`Promise.all([
      failing(http.get(${JSON.stringify(other.origin)})),
      got(http.get(origin + "/moved?to=${other.origin}/")).then(([status, , body]) => [status, body]),
      got(http.get({ hostname, port, path: "@127.0.0.1:${port}/" })).then(([, , body]) => JSON.parse(body)[1]),
      got(http.get({ hostname, port, path: "//127.0.0.1:${port}/" })).then(([, , body]) => JSON.parse(body)[1]),
      (async () => { try { return await failing(http.get({ host: "a@127.0.0.1", port: ${port} })); } catch (error) { return error.code; } })(),
      got(http.get({ hostname, port, headers: { Host: "127.0.0.1:${port}" } })).then(([status]) => status),
    ])`)) as unknown[];
    await other.close();
    expect(value).toEqual([
      ["ERR_GRANT_MISSING", expect.stringContaining(other.origin)],
      [302, "moved"],
      `/@127.0.0.1:${port}/`,
      `//127.0.0.1:${port}/`,
      "ENOTFOUND",
      200,
    ]);
    expect(other.asked).toEqual([]);
  });

  it("gives bodies as the host decompressed them, bounds what is sent, and cannot be a server", async () => {
    const value = (await attempt(`[
      await got(http.get(origin + "/gzip")).then(async ([, , body]) => body),
      await once(http.get(origin + "/gzip"), "response").then(([res]) => (res.resume(), res.headers["content-encoding"])),
      await failing(http.request(origin, { method: "POST" }).end("x".repeat(${LIMITS.fetch.requestBytes + 1}))),
      (() => { try { http.createServer(); } catch (error) { return error.message; } })(),
      (() => { try { http.request({ hostname, socketPath: "/var/run/docker.sock" }); } catch (error) { return error.message; } })(),
    ]`)) as unknown[];
    expect(value).toEqual([
      "unpacked",
      null,
      ["ERR_FETCH_REQUEST_SIZE", expect.any(String)],
      expect.stringContaining("http.createServer is not available inside the sandbox"),
      expect.stringContaining("sockets of the machine are not available"),
    ]);
  });
});
