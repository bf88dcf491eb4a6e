/**
 * Connections that try to reach a server which was not granted, as ssrf.test.ts does it for requests: every trick is run
 * inside a cell, against real servers that count connections. Names are resolved by a table of the test's own.
 */
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo, Server } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { Host } from "creel";
import { does } from "../support/cell.ts";
import { ISOLATIONS, open } from "../support/host.ts";

type Found = { address: string; ttl: number }[];

const dns = vi.hoisted(() => ({ answers: new Map<string, string[][]>(), asked: [] as string[] }));
vi.mock("node:dns/promises", async (original) => ({
  ...(await original<object>()),
  Resolver: class {
    #found: string[] | undefined;

    resolve4(host: string): Promise<Found> {
      dns.asked.push(host);
      const left = dns.answers.get(host);
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

const SOURCE = `
import net from "node:net"; import tls from "node:tls"; import dns from "node:dns"; import http from "node:http"; import https from "node:https"; import { once } from "node:events";
// Of what has events as in browsers, as of a socket.
const over = (target) => Object.assign(target, { on: (name, listen) => target.addEventListener(name === "data" ? "message" : name, listen), destroy: () => target.close() });
const AsyncFunction = (async () => {}).constructor;
export default (api) => api.on("message_sending", (event) => {
  const code = event.do?.[api.id];
  if (code !== undefined) return AsyncFunction("net", "tls", "dns", "http", "https", "over", "once", code.slice(6))(net, tls, dns, http, https, over, once);
});`;

/** Hosts that are this machine, to whoever takes them for an address. */
const SPELLINGS = [
  "127.0.0.1",
  "localhost",
  "LOCALHOST",
  "localhost.",
  "localhost.localdomain",
  "2130706433",
  "017700000001",
  "0177.0.0.1",
  "0x7f000001",
  "0x7f.0.0.1",
  "127.1",
  "0",
  "0.0.0.0",
  "127.0.0.2",
  "127.0.0.1.",
  "::1",
  "[::1]",
  "::",
  "0:0:0:0:0:0:0:1",
  "::ffff:127.0.0.1",
  "::ffff:7f00:1",
  "::1%lo",
  "①②⑦.⓪.⓪.①",
  "metadata.google.internal",
  "127.0.0.1\\u0000.db.example.com",
  "db.example.com@127.0.0.1",
  "127.0.0.1#db.example.com",
  "127.0.0.1/db.example.com",
  "127.0.0.1:{granted}",
  " 127.0.0.1",
  "",
];

/** Each makes a socket towards the forbidden port. */
const WAYS: Readonly<Record<string, (host: string) => string>> = {
  "net.connect": (host) => `net.connect({trap}, ${host})`,
  "tls.connect": (host) => `tls.connect({ host: ${host}, port: {trap}, rejectUnauthorized: false })`,
  "http.get": (host) => `http.get({ host: ${host}, port: {trap}, path: "/" })`,
  "https.get": (host) => `https.get({ host: ${host}, port: {trap}, path: "/", rejectUnauthorized: false })`,
  "http.get over a connection of its own": (host) =>
    `http.get({ host: "127.0.0.1", port: {granted}, createConnection: () => net.connect({trap}, ${host}) })`,
  WebSocket: (host) => `over(new WebSocket("ws://" + ${host} + ":{trap}/"))`,
  EventSource: (host) => `over(new EventSource("http://" + ${host} + ":{trap}/"))`,
};

const TRICKS: readonly string[] = [
  // A look-up of its own, an address of its own, options that tune a socket.
  `net.connect({ port: {trap}, host: "db.example.com", lookup: (name, options, done) => done(null, "127.0.0.1", 4) })`,
  `net.connect({ port: {granted}, host: "127.0.0.1", localAddress: "127.0.0.1", localPort: {trap} }).destroy(new Error("none"))`,
  `net.connect({ get port() { return (this.n = (this.n ?? 0) + 1) > 1 ? {trap} : {granted}; }, host: "127.0.0.1" }).once("connect", function () { this.destroy(new Error("granted")); })`,
  `net.connect({ port: "{trap}", host: "127.0.0.1" })`,
  `net.connect({ port: {trap}, host: "127.0.0.1", path: "/var/run/docker.sock" })`,
  `net.connect("/proc/self/fd/3")`,
  `new net.Socket().connect({ port: {trap}, host: "127.0.0.1" })`,
  // An address that a granted name has led to, at another port.
  `(dns.lookup("db.example.com", () => {}), net.connect({trap}, "93.184.215.14"))`,
  // A socket that is granted, and then something else.
  `(() => { const s = net.connect({granted}, "127.0.0.1"); s.once("connect", () => { s.remotePort = {trap}; s.host = "127.0.0.1"; s.connect({trap}, "127.0.0.1"); }); return s; })()`,
  `(() => { const s = net.connect({granted}, "127.0.0.1"); return tls.connect({ socket: s, host: "127.0.0.1", port: {trap}, rejectUnauthorized: false }); })()`,
];

const listen = async (address: string, port = 0): Promise<{ port: number; connections: number; close(): void; server: Server }> => {
  const made = createServer((socket) => {
    one.connections += 1;
    socket.on("error", () => {}).end("reached");
  }).listen(port, address);
  await once(made, "listening");
  const one = { port: (made.address() as AddressInfo).port, connections: 0, close: () => void made.close(), server: made };
  return one;
};

describe.each(ISOLATIONS)("connections to what was not granted, %s isolation", (isolation) => {
  let host: Host;
  let server: Server;
  let traps: readonly { connections: number; close(): void }[];
  let ports: { readonly granted: number; readonly trap: number };

  beforeAll(async () => {
    const v4 = await listen("0.0.0.0");
    traps = [v4, await listen("::1", v4.port)];
    const granted = await listen("127.0.0.1");
    ({ server } = granted);
    ports = { granted: granted.port, trap: v4.port };
    for (const name of ["localhost", "localhost.", "metadata.google.internal", "localhost.localdomain"])
      dns.answers.set(name, [["127.0.0.1"]]);
    const plugin = { id: "p", source: SOURCE, hooks: { cpuMs: 2_000, timeoutMs: 60_000 } } as const;
    const connect = [`127.0.0.1:${granted.port}`, `db.example.com:${v4.port}`, `tls://only.example.com:${v4.port}`];
    host = await open(isolation, {
      plugins: [{ ...plugin, grants: { connect, fetch: [`http://127.0.0.1:${v4.port + 1}`] } }],
    });
  });
  afterAll(async () => {
    await host.close();
    server.close();
    for (const one of traps) one.close();
  });
  beforeEach(() => {
    for (const one of traps) one.connections = 0;
    dns.answers.set("db.example.com", [["127.0.0.1"]]);
    dns.answers.set("only.example.com", [["93.184.215.14"]]);
  });

  const reached = (): number => traps.reduce((sum, { connections }) => sum + connections, 0);
  const filled = (code: string): string => code.replaceAll("{trap}", String(ports.trap)).replaceAll("{granted}", String(ports.granted));
  /** The code or message of what ended it, or what was read. */
  const attempt = (make: string): Promise<unknown> =>
    does(
      host,
      "p",
      filled(
        `let socket; try { socket = ${make}; } catch (error) { return error.code ?? error.message; }
         const ended = new Promise((done) => { socket.on("error", (error) => done(error.code ?? error.message)); socket.on("data", (chunk) => done(String(chunk))); socket.on("close", () => done("close")); });
         const found = await ended; socket.destroy(); return found;`,
      ),
    );

  it("the traps work: every connection is counted, and the granted server answers", async () => {
    await (await fetch(`http://127.0.0.1:${ports.trap}/`).catch(() => undefined))?.text();
    expect(reached()).toBe(1);
    expect(await attempt(`net.connect({granted}, "127.0.0.1")`)).toBe("reached");
  });

  it.each(Object.keys(WAYS))("no spelling of a host leads there: %s", async (way) => {
    for (const spelling of SPELLINGS) {
      const told = await attempt(WAYS[way]!(`"${spelling}"`));
      expect(`${spelling}: ${reached()} connections`).toBe(`${spelling}: 0 connections`);
      expect(told).not.toBe("reached");
    }
  });

  it("no option, address or second thought leads there", async () => {
    for (const trick of TRICKS) {
      await attempt(trick);
      expect(`${trick}: ${reached()} connections`).toBe(`${trick}: 0 connections`);
    }
  });

  it.each([
    [["127.0.0.1"]],
    [["::1"]],
    [["0.0.0.0"]],
    [["10.0.0.1"]],
    [["169.254.169.254"]],
    [["::ffff:127.0.0.1"]],
    [["64:ff9b::7f00:1"]],
    [["2002:7f00:1::"]],
    [["fe80::1"]],
    [["93.184.215.14", "127.0.0.1"]],
  ])("a granted name that leads to %j is not connected to, and its addresses are not told", async (addresses) => {
    dns.answers.set("db.example.com", [addresses]);
    expect(await attempt(`net.connect({trap}, "db.example.com")`)).toBe("ERR_CONNECT_ADDRESS");
    expect(await attempt(`tls.connect({trap}, "db.example.com")`)).toBe("ERR_CONNECT_ADDRESS");
    expect(await does(host, "p", `return await dns.promises.lookup("db.example.com", { all: true });`)).toMatchObject({
      code: "ERR_CONNECT_ADDRESS",
    });
    expect(reached()).toBe(0);
  });

  it("a name that leads elsewhere at the second look-up is checked at each", async () => {
    dns.answers.set("db.example.com", [["192.0.2.1", "93.184.215.14"], ["127.0.0.1"], ["127.0.0.1"]]);
    dns.asked.length = 0;
    expect(await attempt(`net.connect({trap}, "db.example.com")`)).toBe("ERR_CONNECT_ADDRESS");
    expect(await attempt(`net.connect({trap}, "db.example.com")`)).toBe("ERR_CONNECT_ADDRESS");
    expect(dns.asked).toEqual(["db.example.com", "db.example.com"]);
    expect(reached()).toBe(0);
  });

  it("a redirect to another port is not followed by what speaks HTTP over a connection of its own", async () => {
    let asked = 0;
    const moving = createServer((socket) =>
      socket
        .on("error", () => {})
        .once("data", () => {
          asked += 1;
          socket.end(`HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:${ports.trap}/\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`);
        }),
    ).listen(0, "127.0.0.1");
    await once(moving, "listening");
    const { port } = moving.address() as AddressInfo;
    await using other = await open(isolation, {
      plugins: [{ id: "p", source: SOURCE, hooks: { cpuMs: 2_000, timeoutMs: 60_000 }, grants: { connect: [`127.0.0.1:${port}`] } }],
    });
    const told = await does(
      other,
      "p",
      `const [response] = await once(http.get({ createConnection: () => net.connect(${port}, "127.0.0.1"), path: "/" }), "response");
       const [event] = await once(over(new WebSocket("ws://127.0.0.1:${port}/")), "error").catch((failed) => [failed]);
       return [response.statusCode, event.type];`,
    );
    moving.close();
    expect([told, asked, reached()]).toEqual([[302, "error"], 2, 0]);
  });

  it("a server that answers a TLS handshake in plain text gets nothing that the plugin writes", async () => {
    let heard = "";
    const plain = createServer((socket) => {
      socket
        .on("error", () => {})
        .on("data", (chunk) => {
          heard += chunk.toString("latin1");
          socket.write("220 speak plainly\r\n");
        });
    }).listen(0, "127.0.0.1");
    await once(plain, "listening");
    const { port } = plain.address() as AddressInfo;
    await using strict = await open(isolation, {
      plugins: [{ id: "p", source: SOURCE, hooks: { cpuMs: 2_000, timeoutMs: 60_000 }, grants: { connect: [`tls://localhost:${port}`] } }],
    });
    dns.answers.set("localhost", [["127.0.0.1"]]);
    const told = await does(
      strict,
      "p",
      `const secure = tls.connect({ host: "localhost", port: ${port}, rejectUnauthorized: false, minVersion: "TLSv1" });
       secure.write("the password"); const [error] = await once(secure, "error").catch((failed) => [failed]);
       const open = net.connect(${port}, "localhost"); open.write("the password"); const [refused] = await once(open, "error").catch((failed) => [failed]);
       return [error.code, refused.code];`,
    );
    plain.close();
    expect(told).toEqual([expect.stringMatching(/^(?:ERR_CONNECT_FAILED|ECONNRESET|EPROTO|CERT_INVALID)/), "ERR_CONNECT_TLS"]);
    expect(heard).not.toBe("");
    expect(heard).not.toContain("password");
  });

  it("a target that was granted for TLS is not spoken to in plain text", async () => {
    dns.asked.length = 0;
    expect(await attempt(`net.connect({trap}, "only.example.com")`)).toBe("ERR_CONNECT_TLS");
    expect(dns.asked).toEqual([]);
  });

  it("an endless server is read only as far as the plugin reads, and a silent one holds a call no longer than its budget", async () => {
    let sent = 0;
    const endless = createServer((socket) => {
      const more = (): void => {
        while (!socket.destroyed && socket.write(Buffer.alloc(65_536))) sent += 65_536;
      };
      socket
        .on("error", () => {})
        .on("drain", more)
        .once("data", more);
    }).listen(0, "127.0.0.1");
    const silent = createServer((socket) => void socket.on("error", () => {}).resume()).listen(0, "127.0.0.1");
    await Promise.all([once(endless, "listening"), once(silent, "listening")]);
    const [fast, mute] = [endless, silent].map((one) => (one.address() as AddressInfo).port) as [number, number];
    const made = { source: SOURCE, grants: { connect: [`127.0.0.1:${fast}`, `127.0.0.1:${mute}`] } };
    await using bounded = await open(isolation, {
      plugins: [
        { ...made, id: "p", hooks: { cpuMs: 2_000, timeoutMs: 60_000 } },
        { ...made, id: "brief", hooks: { cpuMs: 2_000, timeoutMs: 500 } },
      ],
    });
    const read = await does(
      bounded,
      "p",
      `const socket = globalThis.kept = net.connect(${fast}, "127.0.0.1"); socket.write("go"); let bytes = 0;
       for await (const chunk of socket) if ((bytes += chunk.length) > 1_000_000) break;
       return [bytes < 2_000_000, socket.destroyed];`,
    );
    expect(read).toEqual([true, true]);
    await does(bounded, "p", `globalThis.kept = net.connect(${fast}, "127.0.0.1").pause(); kept.write("go"); await once(kept, "connect");`);
    // The kernel's buffers hold some megabytes, and then the server waits.
    let before = -1;
    await vi.waitUntil(
      () => {
        const isStill = before === sent && sent > 0;
        before = sent;
        return isStill;
      },
      { interval: 100, timeout: 20_000 },
    );
    expect(sent).toBeLessThan(64 * 1024 * 1024);
    const waits = `async const socket = net.connect(${mute}, "127.0.0.1"); socket.write("anybody there?"); await once(socket, "data");`;
    const { calls } = await bounded.run("message_sending", { to: "x", content: "x", do: { brief: waits } }, { channelId: "chat" });
    expect(calls.find(({ plugin }) => plugin === "brief")!.status).toBe("timeout");
    for (const one of [endless, silent]) one.close();
  });
});
