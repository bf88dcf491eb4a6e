/** `WebSocket` and `EventSource` inside a cell, against real servers on loopback. */
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { WebSocketServer } from "ws";
import type { Host } from "creel";
import { LIMITS } from "../../src/protocol/limits.ts";
import { actor } from "../support/actors.ts";
import { does } from "../support/cell.ts";
import { contract, open } from "../support/host.ts";
import { serve } from "../support/server.ts";
import type { TestServer } from "../support/server.ts";

const HELPERS = `
const heard = (socket) => { const all = []; socket.onopen = () => all.push("open"); socket.onmessage = ({ data }) => all.push(typeof data === "string" ? data : [...new Uint8Array(data)]); socket.onerror = () => all.push("error"); return new Promise((done) => { socket.onclose = ({ code, reason, wasClean }) => done([...all, code, reason, wasClean]); }); };`;

contract("WebSocket and EventSource", (isolation) => {
  let server: WebSocketServer;
  let events: TestServer;
  let port: number;
  let raw: number;
  let connections = 0;
  let host: Host;
  /** Answers a handshake as it should, or not, and then sends what the path says. */
  const rude = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", (request) => {
      const path = /^GET \/(\S*)/.exec(String(request))![1];
      if (path === "none") socket.end("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n");
      else if (path === "garbage") socket.end("SSH-2.0-nothing\r\n\r\n");
      else socket.write("HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: wrong\r\n\r\n");
    });
  });

  beforeAll(async () => {
    server = new WebSocketServer({ port: 0, host: "127.0.0.1", handleProtocols: (names) => [...names][0] ?? false });
    server.on("connection", (socket, { url, headers }) => {
      connections += 1;
      if (url === "/endless") return socket.send("x".repeat(LIMITS.fetch.responseBytes + 1));
      if (url === "/headers") return socket.send(String(headers["x-own"]));
      if (url === "/leave") return socket.close(4001, "bye");
      socket.on("message", (data, isBinary) => socket.send(data, { binary: isBinary }));
      return socket.ping("are you there");
    });
    server.on("error", () => {});
    await once(server, "listening");
    ({ port } = server.address() as AddressInfo);
    await once(rude.listen(0, "127.0.0.1"), "listening");
    raw = (rude.address() as AddressInfo).port;
    events = await serve(({ url, headers }, response) => {
      if (url === "/json") return response.writeHead(200, { "content-type": "application/json" }).end("{}");
      const last = headers["last-event-id"];
      response.writeHead(200, { "content-type": "text/event-stream" });
      if (last === undefined)
        return response.end("retry: 1\n: comment\ndata: one\ndata: more\n\nevent: own\r\nid: 7\r\ndata: two\r\n\r\ndata: cut off");
      return response.write(`data: after ${String(last)}\n\n`);
    });
    host = await open(isolation, {
      plugins: [
        { ...actor("granted"), grants: { connect: [`127.0.0.1:${port}`, `127.0.0.1:${raw}`], fetch: [events.origin] } },
        actor("none"),
      ],
    });
  });
  afterAll(async () => {
    await host.close();
    for (const socket of server.clients) socket.terminate();
    server.close();
    rude.close();
    await events.close();
  });

  it("texts and bytes of any length travel both ways, and a close is clean", async () => {
    const found = await does(
      host,
      "granted",
      `${HELPERS} const socket = new WebSocket("ws://127.0.0.1:${port}/a?b", ["own", "other"]); socket.binaryType = "arraybuffer"; const all = heard(socket);
       const long = "ü".repeat(50_000); let n = 0;
       socket.addEventListener("open", () => { socket.send("hello"); socket.send(new Uint8Array([0, 255])); socket.send(long); });
       socket.addEventListener("message", ({ data }) => { if (++n === 3) { globalThis.isSame = data === long; socket.close(1000, "done"); } });
       const seen = await all; seen[3] = isSame; return [seen, socket.protocol, socket.readyState, socket.url];`,
    );
    expect(found).toEqual([["open", "hello", [0, 255], true, 1000, "done", true], "own", 3, `ws://127.0.0.1:${port}/a?b`]);
  });

  it("the server's close, its code and its headers arrive", async () => {
    expect(await does(host, "granted", `${HELPERS} return heard(new WebSocket("ws://127.0.0.1:${port}/leave"));`)).toEqual([
      "open",
      4001,
      "bye",
      true,
    ]);
    expect(
      await does(
        host,
        "granted",
        `const socket = new WebSocket("ws://127.0.0.1:${port}/headers", { headers: { "x-own": "1" } }); return new Promise((done) => { socket.onmessage = ({ data }) => { socket.close(); done(data); }; });`,
      ),
    ).toBe("1");
  });

  it.each(["none", "garbage", "wrong"])("a server that answers with %s is an error and a close", async (path) => {
    expect(await does(host, "granted", `${HELPERS} return heard(new WebSocket("ws://127.0.0.1:${raw}/${path}"));`)).toEqual([
      "error",
      1006,
      "",
      false,
    ]);
  });

  it("a message that is too long ends the connection", async () => {
    expect(await does(host, "granted", `${HELPERS} return heard(new WebSocket("ws://127.0.0.1:${port}/endless"));`)).toEqual([
      "open",
      "error",
      1006,
      "",
      false,
    ]);
  });

  it("without a grant nothing is connected", async () => {
    const before = connections;
    expect(await does(host, "none", `${HELPERS} return heard(new WebSocket("ws://127.0.0.1:${port}/"));`)).toEqual([
      "error",
      1006,
      "",
      false,
    ]);
    expect(connections).toBe(before);
    expect(await does(host, "none", `new WebSocket("file:///etc/passwd");`)).toMatchObject({
      message: expect.stringContaining("Invalid URL"),
    });
  });

  it("EventSource gives events, connects again where it was cut, and stops when it is closed", async () => {
    const found = await does(
      host,
      "granted",
      `const source = new EventSource("${events.origin}/stream"); const all = [];
       source.addEventListener("own", ({ data, lastEventId }) => all.push([data, lastEventId])); source.onerror = () => all.push(source.readyState);
       return new Promise((done) => { source.onmessage = ({ data }) => { all.push(data); if (data.startsWith("after")) { source.close(); done([all, source.readyState]); } }; });`,
    );
    expect(found).toEqual([["one\nmore", ["two", "7"], 0, "after 7"], 2]);
  });

  const failing = (path: string): string =>
    `const source = new EventSource("${events.origin}${path}"); return new Promise((done) => { source.onerror = () => done(source.readyState); });`;

  it("EventSource gives up on what is no stream, and on what is not granted", async () => {
    expect([await does(host, "granted", failing("/json")), await does(host, "none", failing("/stream"))]).toEqual([2, 2]);
  });
});
