/** The host's half of `net`: which targets a plugin reaches, at which address, and what bounds a connection. Real sockets on loopback. */
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { GatewayTime } from "../../../../src/host/services/gateway-time.ts";
import { Connections } from "../../../../src/host/services/connect/connect.ts";
import type { Caller, ConnectOptions } from "../../../../src/host/services/connect/connect.ts";
import type { Resolve } from "../../../../src/host/services/fetch/addresses.ts";
import { LIMITS } from "../../../../src/protocol/limits.ts";

const open: Server[] = [];
const made: Connections[] = [];
afterEach(() => {
  for (const one of made.splice(0)) one.shut();
  for (const server of open.splice(0)) server.close();
});

async function listen(serve: (socket: Socket) => void): Promise<{ readonly port: number; readonly seen: Socket[] }> {
  const seen: Socket[] = [];
  const server = createServer((socket) => {
    seen.push(socket);
    socket.on("error", () => {});
    serve(socket);
  }).listen(0, "127.0.0.1");
  open.push(server);
  await once(server, "listening");
  return { port: (server.address() as AddressInfo).port, seen };
}

function connections(options: ConnectOptions = {}): Connections {
  const one = new Connections(options);
  made.push(one);
  return one;
}

const caller = (connect: string[], cell = 1, id = "p"): Caller => ({ id, cell, grants: { connect } });
const echo = (socket: Socket): unknown => socket.pipe(socket);
const refusal = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "nothing was refused",
    (error: { code: string }) => error.code,
  );

describe("targets", () => {
  it("a granted target is connected, bytes travel both ways, and an end is an end", async () => {
    const { port } = await listen(echo);
    const all = connections();
    const plugin = caller([`127.0.0.1:${port}`]);
    await all.open(plugin, { id: 1, host: "127.0.0.1", port });
    await all.write(plugin, { id: 1, bytes: "\u0000\u00ffabc" });
    expect(await all.read(plugin, { id: 1 })).toEqual({ bytes: "\u0000\u00ffabc" });
    await all.write(plugin, { id: 1, bytes: "last", end: true });
    expect(await all.read(plugin, { id: 1 })).toEqual({ bytes: "last" });
    expect(await all.read(plugin, { id: 1 })).toEqual({ end: true });
  });

  it("nothing is resolved before a grant matches: other ports, other spellings, no grant", async () => {
    const resolve = vi.fn<Resolve>(async () => [{ address: "127.0.0.1", family: 4 }]);
    const all = connections({ resolve });
    const plugin = caller(["db.example.com:5432"]);
    for (const [host, port] of [
      ["db.example.com", 5433],
      ["DB.example.com", 5432],
      ["db.example.com.", 5432],
      ["example.com", 5432],
      ["db.example.com:5432", 5432],
    ] as const)
      expect(await refusal(all.open(plugin, { id: 1, host, port }))).toBe("ERR_GRANT_MISSING");
    expect(await refusal(all.open(caller([]), { id: 1, host: "db.example.com", port: 5432 }))).toBe("ERR_GRANT_MISSING");
    expect(await refusal(all.lookup(plugin, { host: "other.example.com" }))).toBe("ERR_GRANT_MISSING");
    expect(resolve).not.toHaveBeenCalled();
  });

  it("a name that leads to a private address is refused, whatever it led to before", async () => {
    const answers = ["192.0.2.7", "127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "::ffff:127.0.0.1", "fd00::1"];
    const { seen } = await listen(echo);
    for (const address of answers) {
      const all = connections({
        resolve: async () => [
          { address: "93.184.215.14", family: 4 },
          { address, family: address.includes(":") ? 6 : 4 },
        ],
      });
      const plugin = caller(["rebind.example.com:5432"]);
      expect(await refusal(all.open(plugin, { id: 1, host: "rebind.example.com", port: 5432 }))).toBe("ERR_CONNECT_ADDRESS");
      expect(await refusal(all.lookup(plugin, { host: "rebind.example.com" }))).toBe("ERR_CONNECT_ADDRESS");
    }
    expect(seen).toHaveLength(0);
  });

  it("connects to the address that was checked: the name is asked for once", async () => {
    const { port } = await listen(echo);
    const resolve = vi.fn<Resolve>(async () => [{ address: "127.0.0.1", family: 4 }]);
    const all = connections({ resolve });
    await all.open(caller([`localhost:${port}`]), { id: 1, host: "localhost", port });
    expect(resolve).toHaveBeenCalledTimes(1);
  });

  it("says no more about a failure than its kind", async () => {
    const { port } = await listen(echo);
    open.pop()!.close();
    const all = connections();
    const error = await all.open(caller([`127.0.0.1:${port}`]), { id: 1, host: "127.0.0.1", port }).catch((failed: Error) => failed);
    expect(error).toMatchObject({
      code: "ERR_CONNECT_FAILED",
      message: `the connection to 127.0.0.1:${port} failed: the connection was refused`,
    });
  });

  it("a host without a network connects to nothing", async () => {
    const { port, seen } = await listen(echo);
    const all = connections({ isOffline: () => true });
    expect(await refusal(all.open(caller([`127.0.0.1:${port}`]), { id: 1, host: "127.0.0.1", port }))).toBe("ERR_CONNECT_FAILED");
    expect(seen).toHaveLength(0);
  });
});

describe("numbers", () => {
  it("find only connections of the same plugin in the same cell", async () => {
    const { port } = await listen(echo);
    const all = connections();
    const target = `127.0.0.1:${port}`;
    await all.open(caller([target]), { id: 1, host: "127.0.0.1", port });
    for (const other of [caller([target], 2), caller([target], 1, "q")]) {
      expect(() => all.read(other, { id: 1 })).toThrow(/never opened/);
      expect(() => all.write(other, { id: 1, bytes: "x" })).toThrow(/never opened/);
      expect(() => all.secure(other, { id: 1, servername: "x" })).toThrow(/never opened/);
      all.close(other, { id: 1 });
    }
    await all.write(caller([target]), { id: 1, bytes: "still there" });
    expect(await all.read(caller([target]), { id: 1 })).toEqual({ bytes: "still there" });
    expect(await refusal(all.open(caller([target]), { id: 1, host: "127.0.0.1", port }))).toBe("ERR_SERVICE_ARGUMENT");
  });

  it("a second read takes the place of the first", async () => {
    const { port } = await listen(echo);
    const all = connections();
    const plugin = caller([`127.0.0.1:${port}`]);
    await all.open(plugin, { id: 1, host: "127.0.0.1", port });
    const first = all.read(plugin, { id: 1 });
    const second = all.read(plugin, { id: 1 });
    await all.write(plugin, { id: 1, bytes: "x" });
    expect(await first).toEqual({ superseded: true });
    expect(await second).toEqual({ bytes: "x" });
  });

  it("end with their cell, also while they are being opened, and with the host", async () => {
    const { port, seen } = await listen(echo);
    const never = Promise.withResolvers<never>();
    const all = connections({ resolve: async (host) => (host === "localhost" ? [{ address: "127.0.0.1", family: 4 }] : never.promise) });
    const plugin = caller([`localhost:${port}`, "slow.example.com:1"]);
    await all.open(plugin, { id: 1, host: "localhost", port });
    await all.open(caller([`localhost:${port}`], 2), { id: 1, host: "localhost", port });
    const reading = refusal(all.read(plugin, { id: 1 }));
    const opening = refusal(all.open(plugin, { id: 2, host: "slow.example.com", port: 1 }));
    const closed = once(seen[0]!, "close");
    all.left("p", 1);
    expect([await reading, await opening]).toEqual(["ERR_CONNECT_CLOSED", "ERR_CONNECT_CLOSED"]);
    await closed;
    expect(seen[1]!.destroyed).toBe(false);
    const other = once(seen[1]!, "close");
    all.shut();
    await other;
  });
});

describe("bounds", () => {
  it("so many at once, and as many again when they are closed", async () => {
    const { port } = await listen(echo);
    const all = connections();
    const plugin = caller([`127.0.0.1:${port}`]);
    for (let id = 1; id <= LIMITS.connect.open; id++) await all.open(plugin, { id, host: "127.0.0.1", port });
    expect(await refusal(all.open(plugin, { id: 99, host: "127.0.0.1", port }))).toBe("ERR_CONNECT_BUSY");
    all.close(plugin, { id: 1 });
    await all.open(plugin, { id: 100, host: "127.0.0.1", port });
  });

  it("so many within a minute, failed ones included", async () => {
    const all = connections({ resolve: async () => [] });
    const plugin = caller(["gone.example.com:1"]);
    const codes = new Set<unknown>();
    for (let id = 1; id <= LIMITS.connect.perWindow + 1; id++)
      codes.add(await refusal(all.open(plugin, { id, host: "gone.example.com", port: 1 })));
    expect([...codes]).toEqual(["ERR_CONNECT_ADDRESS", "ERR_CONNECT_RATE"]);
  });

  it("an endless stream is read only as far as the plugin asks", async () => {
    let sent = 0;
    const { port } = await listen((socket) => {
      const more = (): void => {
        while (!socket.destroyed && socket.write(Buffer.alloc(65_536))) sent += 65_536;
      };
      socket.on("drain", more);
      more();
    });
    const all = connections();
    const plugin = caller([`127.0.0.1:${port}`]);
    await all.open(plugin, { id: 1, host: "127.0.0.1", port });
    const piece = await all.read(plugin, { id: 1 });
    expect(piece.bytes!.length).toBeLessThanOrEqual(LIMITS.connect.readBytes);
    // What the kernel holds of it: a few megabytes at most, however long it waits.
    let before = -1;
    await vi.waitUntil(
      () => {
        const isStill = before === sent;
        before = sent;
        return isStill;
      },
      { interval: 100, timeout: 10_000 },
    );
    expect(sent).toBeLessThan(32 * 1024 * 1024);
  });

  it("a server that reads nothing stalls a write, and ends it", async () => {
    const { port } = await listen((socket) => socket.pause());
    const all = connections({ clocks: { stallMs: 100 } });
    const plugin = caller([`127.0.0.1:${port}`]);
    await all.open(plugin, { id: 1, host: "127.0.0.1", port });
    const bytes = "x".repeat(LIMITS.connect.writeBytes);
    const fill = async (): Promise<never> => {
      for (;;) await all.write(plugin, { id: 1, bytes });
    };
    expect(await refusal(fill())).toBe("ERR_CONNECT_CLOSED");
  });

  it("silence and age end it", async () => {
    const { port } = await listen(echo);
    for (const clocks of [{ idleMs: 50 }, { lifeMs: 50 }]) {
      const all = connections({ clocks });
      const plugin = caller([`127.0.0.1:${port}`]);
      await all.open(plugin, { id: 1, host: "127.0.0.1", port });
      expect(await refusal(all.read(plugin, { id: 1 }))).toBe("ERR_CONNECT_CLOSED");
    }
  });

  it("a server that never accepts the handshake is given up in time", async () => {
    const { port, seen } = await listen((socket) => socket.resume());
    const all = connections({ openMs: 100 });
    expect(await refusal(all.open(caller([`127.0.0.1:${port}`]), { id: 1, host: "127.0.0.1", port, tls: {} }))).toBe("ERR_CONNECT_TIMEOUT");
    await vi.waitUntil(() => seen[0]!.destroyed, { timeout: 10_000 });
  });

  it("what has ended and was never closed does not stay in memory, and its place is free", async () => {
    const { port } = await listen((socket) => socket.once("data", () => socket.resetAndDestroy()));
    const all = connections();
    const plugin = caller([`127.0.0.1:${port}`]);
    for (let id = 1; id <= 80; id++) {
      await all.open(plugin, { id, host: "127.0.0.1", port });
      await all.write(plugin, { id, bytes: "x" });
      expect(await refusal(all.read(plugin, { id }))).toBe("ERR_CONNECT_FAILED");
    }
  });

  it("bytes in both directions count, and the time they take is the plugin's", async () => {
    const { port } = await listen(echo);
    const all = connections();
    const gatewayTime = new GatewayTime();
    const plugin = { ...caller([`127.0.0.1:${port}`]), gatewayTime };
    await all.open(plugin, { id: 1, host: "127.0.0.1", port });
    await all.write(plugin, { id: 1, bytes: "x".repeat(LIMITS.connect.writeBytes) });
    await all.read(plugin, { id: 1 });
    const bytes = "x".repeat(LIMITS.connect.writeBytes);
    const flood = async (): Promise<never> => {
      for (;;) {
        await all.write(plugin, { id: 1, bytes });
        for (let left = bytes.length; left > 0;) left -= (await all.read(plugin, { id: 1 })).bytes!.length;
      }
    };
    expect(await refusal(flood())).toBe("ERR_CONNECT_BYTES");
    expect(gatewayTime.report().spentMs).toBeGreaterThan(0);
  }, 60_000);
});
