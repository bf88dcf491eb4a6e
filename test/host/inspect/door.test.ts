/** Who gets in at the debugger's address, and who does not. */
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { Door } from "../../../src/host/inspect/door.ts";
import type { Client, InspectAddress } from "../../../src/host/inspect/door.ts";
import { CdpClient } from "../../support/cdp-client.ts";

const opened: Door[] = [];

async function open(port: number | undefined = 0): Promise<{ address: InspectAddress; clients: Client[] }> {
  const clients: Client[] = [];
  const door = new Door({ port, title: "guarded", connected: (client) => void clients.push(client) });
  opened.push(door);
  return { address: await door.open(), clients };
}

afterEach(() => {
  for (const door of opened.splice(0)) door.close();
});

function get(port: number, path: string, headers: Record<string, string> = {}, method = "GET"): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", port, path, headers, method }, (response) => {
      let body = "";
      response.on("data", (chunk: Buffer) => (body += chunk.toString()));
      response.on("end", () => resolve({ status: response.statusCode!, body }));
    });
    sent.on("error", reject).end();
  });
}

describe("the debugger's address", () => {
  it("lists the plugin as `node --inspect` lists a process", async () => {
    const { address } = await open();
    const [target] = JSON.parse((await get(address.port, "/json/list")).body) as Record<string, string>[];
    expect(target).toMatchObject({ type: "node", title: "guarded", webSocketDebuggerUrl: address.url });
    expect((await get(address.port, "/json")).status).toBe(200);
    expect(JSON.parse((await get(address.port, "/json/version")).body)).toHaveProperty("Protocol-Version");
    expect((await get(address.port, "/")).status).toBe(404);
    expect((await get(address.port, "/json/list", {}, "POST")).status).toBe(404);
  });

  it("is on the loopback interface, under 128 random bits", async () => {
    const [one, other] = [(await open()).address, (await open()).address];
    expect(one.host).toBe("127.0.0.1");
    expect(one.url).toMatch(/\/[0-9a-f]{32}$/);
    expect(new URL(one.url).pathname).not.toBe(new URL(other.url).pathname);
  });

  it.each([
    ["a page whose name points to this machine", (port: number) => ({ host: `attacker.example:${port}` })],
    ["a name that only begins like the address", (port: number) => ({ host: `127.0.0.1:${port}.attacker.example` })],
    ["the address without its port", () => ({ host: "127.0.0.1" })],
    ["another port", (port: number) => ({ host: `127.0.0.1:${port + 1}` })],
    ["a page of any web site", () => ({ origin: "https://attacker.example" })],
    ["a page at this very address", (port: number) => ({ origin: `http://127.0.0.1:${port}` })],
    ["a sandboxed page", () => ({ origin: "null" })],
    ["an origin that only begins like DevTools'", () => ({ origin: "devtools://devtools.attacker.example" })],
  ])("lets %s neither read the list nor connect", async (_, headersOf) => {
    const { address, clients } = await open();
    const headers = headersOf(address.port) as Record<string, string>;
    const { status, body } = await get(address.port, "/json/list", headers);
    expect({ status, body }).toEqual({ status: 403, body: "" });
    await expect(CdpClient.connect(address.url, headers)).rejects.toThrow("403");
    expect(clients).toEqual([]);
  });

  it("lets DevTools and a client without an origin in, by either name of the loopback interface", async () => {
    const { address, clients } = await open();
    for (const headers of [{}, { origin: "devtools://devtools" }, { host: `localhost:${address.port}` }] as Record<string, string>[]) {
      await using _ = await CdpClient.connect(address.url, headers);
      const ended = new Promise<void>((resolve) => clients.at(-1)!.onEnd(resolve));
      await _[Symbol.asyncDispose]();
      await ended;
    }
    expect(clients).toHaveLength(3);
  });

  it("lets a page in whose origin was admitted, and no other", async () => {
    const { address } = await open();
    address.admit("http://127.0.0.1:1");
    await using _ = await CdpClient.connect(address.url, { origin: "http://127.0.0.1:1" });
    await expect(CdpClient.connect(address.url, { origin: "http://127.0.0.1:2" })).rejects.toThrow("403");
  });

  it("does not open under another path", async () => {
    const { address, clients } = await open();
    for (const path of ["/", "/json/list", `/${"0".repeat(32)}`, `${new URL(address.url).pathname}/`])
      await expect(CdpClient.connect(`ws://127.0.0.1:${address.port}${path}`)).rejects.toThrow("403");
    expect(clients).toEqual([]);
  });

  it("tells a second debugger to try later, and lets it in when the first has gone", async () => {
    const { address, clients } = await open();
    const first = await CdpClient.connect(address.url);
    const second = await CdpClient.connect(address.url);
    expect(await second.closed).toBe(1013);
    expect(clients).toHaveLength(1);
    const ended = new Promise<void>((resolve) => clients[0]!.onEnd(resolve));
    first.kill();
    await ended;
    await using _ = await CdpClient.connect(address.url);
    expect(clients).toHaveLength(2);
  });

  it("fails with the port's name if that was asked for and is taken", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => taken.once("listening", resolve));
    const { port } = taken.address() as AddressInfo;
    await expect(open(port)).rejects.toMatchObject({ code: "ERR_INSPECT_PORT", message: expect.stringContaining(String(port)) });
    await new Promise((resolve) => taken.close(resolve));
  });

  it("cuts the debugger off when it closes", async () => {
    const { address } = await open();
    const client = await CdpClient.connect(address.url);
    opened.pop()!.close();
    await client.closed;
    await expect(get(address.port, "/json/list")).rejects.toThrow("ECONNREFUSED");
  });
});
