/** `net`, `tls` and `dns` inside a cell: what the operator granted, and no way around it. The servers are real, on loopback. */
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";
import { createServer as createSecure } from "node:tls";
import * as tls from "node:tls";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import type { Host, PluginSpec } from "creel";
import { LIMITS } from "../../src/protocol/limits.ts";
import { does } from "../support/cell.ts";
import { selfSigned } from "../support/certificate.ts";
import { contract, next, open } from "../support/host.ts";

const SOURCE = `
import net from "node:net"; import tls from "node:tls"; import dns from "node:dns"; import { once } from "node:events";
const AsyncFunction = (async () => {}).constructor;
const state = {};
export default (api) => api.on("message_sending", (event, ctx) => {
  const code = event.do?.[api.id];
  if (code !== undefined) return AsyncFunction("net", "tls", "dns", "once", "state", "api", code.slice(6))(net, tls, dns, once, state, api);
});`;

const client = (id: string, connect: string[] | undefined, more: Partial<PluginSpec> = {}): PluginSpec =>
  ({ id, source: SOURCE, hooks: { cpuMs: 2_000 }, grants: connect ? { connect } : {}, ...more }) as PluginSpec;

const certificate = selfSigned("localhost");
const trusted = tls.getCACertificates("default");

async function listening(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

contract("connections", (isolation) => {
  const sockets: Socket[] = [];
  const seen = (socket: Socket): Socket => {
    sockets.push(socket.on("error", () => {}));
    return socket;
  };
  const echo = createServer((socket) => void seen(socket).pipe(socket));
  const greeting = createServer({ allowHalfOpen: true }, (socket) => void seen(socket).end("hello"));
  const secure = createSecure(certificate, (socket) => void seen(socket).pipe(socket));
  let port: number;
  let ports: { readonly echo: number; readonly greeting: number; readonly secure: number };
  let host: Host;

  beforeAll(async () => {
    tls.setDefaultCACertificates([certificate.cert]);
    ports = { echo: await listening(echo), greeting: await listening(greeting), secure: await listening(secure) };
    port = ports.echo;
    host = await open(isolation, {
      config: { plugins: { entries: { reloaded: { grants: { connect: [`127.0.0.1:${ports.echo}`] } } } } },
      plugins: [
        client("all", [`127.0.0.1:${ports.echo}`, `localhost:${ports.greeting}`, `localhost:${ports.secure}`]),
        client("none", undefined),
        client("other", [`127.0.0.1:${ports.greeting}`]),
        client("fetcher", undefined, { grants: { fetch: [`http://127.0.0.1:${ports.echo}`] } }),
        client("strict", [`tls://localhost:${ports.secure}`, `tls://localhost:${ports.echo}`]),
        client("brief", [`127.0.0.1:${ports.echo}`], { hooks: { timeoutMs: 300, cpuMs: 2_000 } }),
        client("reloaded", undefined),
      ],
    });
  });
  afterAll(async () => {
    await host.close();
    tls.setDefaultCACertificates(trusted);
    for (const server of [echo, greeting, secure]) server.close();
    for (const socket of sockets) socket.destroy();
  });

  it("net connects to a granted port: bytes, events and ends are as in Node", async () => {
    const found = await does(
      host,
      "all",
      `const said = []; const socket = net.connect(${port}, "127.0.0.1", () => said.push("connect"));
       for (const name of ["ready", "end", "close", "finish"]) socket.on(name, (...args) => said.push([name, ...args]));
       said.push(socket.connecting, socket.readyState);
       socket.write("a"); socket.write(Buffer.from([0, 255])); socket.end("z");
       const chunks = []; for await (const chunk of socket) chunks.push(chunk);
       await new Promise((done) => socket.closed ? done() : socket.once("close", done));
       return [said, Buffer.concat(chunks).toString("hex"), socket.bytesRead, socket.bytesWritten, socket.remoteAddress, socket.remotePort, socket.destroyed];`,
    );
    expect(found).toEqual([
      [true, "opening", "connect", ["ready"], ["finish"], ["end"], ["close", false]],
      "6100ff7a",
      4,
      4,
      "127.0.0.1",
      port,
      true,
    ]);
  });

  it("a long text arrives whole, and a slow reader holds the writer back", async () => {
    const found = await does(
      host,
      "all",
      `const socket = net.connect({ port: ${port}, host: "127.0.0.1" }); const long = "0123456789".repeat(100_000);
       const isFull = socket.write(long) === false; let length = 0, sum = 0;
       for await (const chunk of socket) { length += chunk.length; for (const byte of chunk) sum += byte; if (length === long.length) break; }
       return [isFull, length, sum, socket.destroyed];`,
    );
    expect(found).toEqual([true, 1_000_000, 52_500_000, true]);
  });

  it.each(["none", "other", "fetcher"])("what was not granted to %s is refused by name, and nothing is connected", async (id) => {
    const before = sockets.length;
    const refused = next(host, "refused", ({ plugin }) => plugin === id);
    const attempt = `const [error] = await once(net.connect(${port}, "127.0.0.1"), "error"); return [error.code, error.message];`;
    expect(await does(host, id, attempt)).toEqual([
      "ERR_GRANT_MISSING",
      expect.stringContaining(`connect to 127.0.0.1:${port} is not granted to ${id}`),
    ]);
    expect((await refused).service).toBe("connect.open");
    expect(sockets).toHaveLength(before);
  });

  it("other spellings, sockets of the machine and servers are refused", async () => {
    const found = await does(
      host,
      "all",
      `const code = async (make) => { try { const [error] = await once(make(), "error"); return error.code; } catch (error) { return error.code; } };
       return [
         await code(() => net.connect(${port}, "localhost")), await code(() => net.connect(${port})), await code(() => net.connect(${port}, "127.0.0.2")),
         await code(() => net.connect(${port}, "127.1")), await code(() => net.connect(${port}, "0x7f000001")), await code(() => net.connect(${port}, "::ffff:127.0.0.1")),
         await code(() => net.connect("/var/run/docker.sock")), await code(() => net.createServer()), await code(() => new net.Socket({ fd: 0 })), await code(() => net.connect(70000)),
       ];`,
    );
    expect(found).toEqual([
      ...Array.from({ length: 6 }, () => "ERR_GRANT_MISSING"),
      "ENOENT",
      "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM",
      "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM",
      "ERR_SOCKET_BAD_PORT",
    ]);
  });

  it("tls: the host verifies, and no option of the plugin's changes that", async () => {
    const found = await does(
      host,
      "all",
      `const socket = tls.connect({ host: "localhost", port: ${ports.secure}, rejectUnauthorized: false }); await once(socket, "secureConnect");
       socket.write("x"); const [data] = await once(socket, "data"); socket.destroy();
       const wrong = tls.connect({ host: "localhost", port: ${ports.secure}, servername: "elsewhere.example.com", rejectUnauthorized: false, checkServerIdentity: () => undefined });
       const [error] = await once(wrong, "error");
       return [socket.authorized, socket.encrypted, socket.getProtocol(), String(data), error.code, error.message];`,
    );
    expect(found).toEqual([
      true,
      true,
      "TLSv1.3",
      "x",
      "CERT_INVALID",
      `the connection to localhost:${ports.secure} failed: its certificate is not valid`,
    ]);
  });

  it("a grant for TLS is none for plain text", async () => {
    const found = await does(
      host,
      "strict",
      `const [error] = await once(net.connect(${ports.secure}, "localhost"), "error");
       const socket = tls.connect(${ports.secure}, "localhost"); await once(socket, "secureConnect"); socket.destroy();
       const [plain] = await once(tls.connect(${ports.echo}, "localhost"), "error");
       return [error.code, socket.authorized, plain.code];`,
    );
    expect(found).toEqual(["ERR_CONNECT_TLS", true, expect.stringMatching(/^E/)]);
  });

  it("dns answers for granted names only, and an address leads back to its name", async () => {
    const found = await does(
      host,
      "all",
      `const { address, family } = await dns.promises.lookup("localhost", 4);
       const socket = net.connect(${ports.greeting}, address); const [data] = await once(socket, "data"); socket.destroy();
       const other = await dns.promises.lookup("example.com").catch((error) => error.code);
       const own = await dns.promises.lookup("192.0.2.1");
       const all = await new Promise((done) => dns.lookup("localhost", { all: true }, (error, found) => done(found.length > 0)));
       const records = await dns.promises.resolveTxt("localhost").catch((error) => error.code);
       return [address, family, String(data), other, own, all, await dns.promises.resolve4("localhost"), records];`,
    );
    expect(found).toEqual([
      "127.0.0.1",
      4,
      "hello",
      "ERR_GRANT_MISSING",
      { address: "192.0.2.1", family: 4 },
      true,
      ["127.0.0.1"],
      "ENOTIMP",
    ]);
  });

  it("a connection outlives the call that opened it, and the answer belongs to the call that asked", async () => {
    await does(host, "all", `state.kept = net.connect(${port}, "127.0.0.1"); await once(state.kept, "connect");`);
    for (const word of ["one", "two"])
      expect(
        await does(host, "all", `state.kept.write("${word}"); const [data] = await once(state.kept, "data"); return String(data);`),
      ).toBe(word);
    await does(host, "all", `state.kept.destroy();`);
  });

  it("a call that runs out of time loses its answer, and not the bytes of the connection", async () => {
    await does(
      host,
      "brief",
      `state.kept = net.connect(${port}, "127.0.0.1"); await once(state.kept, "connect"); state.all = ""; state.kept.on("data", (chunk) => (state.all += chunk));`,
    );
    const late = await host.run(
      "message_sending",
      {
        to: "alice",
        content: "x",
        do: { brief: `async state.kept.write("a"); state.kept.write("b"); await new Promise(() => {});` },
      },
      { channelId: "chat" },
    );
    expect(late.calls.find(({ plugin }) => plugin === "brief")!.status).toBe("timeout");
    await vi.waitUntil(async () => (await does(host, "brief", `return state.all;`)) === "ab", { timeout: 10_000 });
    expect(await does(host, "brief", `state.kept.write("c"); await once(state.kept, "data"); return state.all;`)).toBe("abc");
  });

  it("a connection ends with its cell: reloaded, disabled, without the grant", async () => {
    const connect = `state.kept = net.connect(${port}, "127.0.0.1"); await once(state.kept, "connect"); state.kept.write("x"); await once(state.kept, "data"); return "open";`;
    const endedBy = async (end: () => unknown): Promise<void> => {
      const before = sockets.length;
      expect(await does(host, "reloaded", connect)).toBe("open");
      const closed = once(sockets[before]!, "close");
      await end();
      await closed;
    };
    await endedBy(() => host.reload("reloaded"));
    await endedBy(() => host.reload("reloaded", { entry: { grants: { connect: [] } } }));
    expect(await does(host, "reloaded", connect)).toMatchObject({ code: "ERR_GRANT_MISSING" });
    await host.reload("reloaded", { entry: { grants: { connect: [`127.0.0.1:${port}`] } } });
    await endedBy(() => host.disable("reloaded"));
  });

  it("a plugin's connections are bounded, however it holds them", async () => {
    const found = await does(
      host,
      "other",
      `const made = Array.from({ length: ${LIMITS.connect.open + 1} }, () => net.connect(${ports.greeting}, "127.0.0.1").pause());
       const ends = await Promise.all(made.map((socket) => once(socket, "connect").then(() => "connect", (error) => error.code)));
       for (const socket of made) socket.destroy();
       return [ends.filter((end) => end === "connect").length, ends.at(-1)];`,
    );
    expect(found).toEqual([LIMITS.connect.open, "ERR_CONNECT_BUSY"]);
  });
});
