/** Clients that are broken or mean no good are hung up on or refused by name; nobody else notices, and nothing grows without a bound. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openHost } from "creel";
import type { Host } from "creel";
import { LIMITS } from "../../src/protocol/limits.ts";
import { LineDecoder, SERVE_PROTOCOL } from "../../src/protocol/serve.ts";
import type { Served } from "../../src/serve/server.ts";
import { next, plugin, recorder, silent } from "../support/host.ts";
import { RawClient, served } from "../support/serve.ts";

const PLUGINS = [
  plugin("echo", `api.on("message_sending", (e) => ({ content: e.content }));`),
  plugin("waits", `api.on("agent_end", () => new Promise(() => {}), { timeoutMs: 60000 });`, { hooks: { allowConversationAccess: true } }),
];
const { logger, lines } = recorder();
const FOREVER = { method: "run", params: { hook: "agent_end", event: { messages: [], success: true } } };

let server: Served;
let neighbour: Host;
beforeAll(async () => {
  server = await served({ plugins: PLUGINS, logger });
  neighbour = await openHost({ connect: server.socket, logger: silent });
});
afterAll(async () => {
  await neighbour.close();
  await server.close();
});
beforeEach(() => void lines.splice(0));

const isDropped = () => lines.some(({ message }) => message === "client disconnected: it does not read");
const enters = async () => {
  using raw = new RawClient(server.socket);
  raw.say({ hello: { protocol: SERVE_PROTOCOL, token: raw.token } });
  return (await raw.next("welcome")) !== undefined;
};
const isWell = async () =>
  (await neighbour.run("message_sending", { to: "me", content: "well" }, { channelId: "chat" })).result?.content === "well";

describe("before the hello", () => {
  it.each([
    ["garbage", () => "\u0000\u0001 garbage\n", "ERR_SERVE_FRAME"],
    ["JSON that is no frame", () => "[1,2]\n", "ERR_SERVE_FRAME"],
    ["a request", () => `${JSON.stringify({ id: 1, ...FOREVER })}\n`, "ERR_SERVE_REFUSED"],
    ["a wrong token", () => `${JSON.stringify({ hello: { protocol: SERVE_PROTOCOL, token: "x".repeat(43) } })}\n`, "ERR_SERVE_REFUSED"],
    ["no token", () => `${JSON.stringify({ hello: { protocol: SERVE_PROTOCOL } })}\n`, "ERR_SERVE_FRAME"],
    ["another version", (token: string) => `${JSON.stringify({ hello: { protocol: SERVE_PROTOCOL + 1, token } })}\n`, "ERR_SERVE_REFUSED"],
  ])("%s is answered with %o, and hung up on", async (_, text, code) => {
    using raw = new RawClient(server.socket);
    raw.socket.write(text(raw.token));
    expect(await raw.next("error")).toMatchObject({ error: { code, message: expect.any(String), fix: expect.any(String) } });
    expect(await raw.next("never")).toBeUndefined();
    expect(lines).toMatchObject([{ level: "warn", message: "client disconnected: protocol error" }]);
    expect(await isWell()).toBe(true);
  });
});

describe("after it", () => {
  it("a line that does not end is cut off at the limit", async () => {
    using raw = await RawClient.welcome(server.socket);
    const closed = new Promise((resolve) => raw.socket.once("close", resolve));
    const piece = Buffer.alloc(1024 * 1024, "a");
    for (let bytes = 0; bytes <= LIMITS.serve.frameBytes; bytes += piece.length) raw.socket.write(piece);
    await closed;
    expect(lines).toMatchObject([{ fields: { detail: expect.stringContaining("a line of more than") } }]);
    expect(await isWell()).toBe(true);
  });

  it.each([
    ["a method that is not there", { id: 1, method: "rum" }, 'did you mean "run"?'],
    ["a method of every object", { id: 1, method: "toString" }, "there is no method"],
    ["parameters that are not valid", { id: 1, method: "run", params: { hook: 7 } }, 'not valid at "hook"'],
    ["an unknown fact", { id: 1, method: "subscribe", params: { facts: ["x"] } }, "not valid"],
  ])("%s is an answer, and the connection goes on", async (_, frame, message) => {
    using raw = await RawClient.welcome(server.socket);
    raw.say(frame);
    expect(await raw.next("id", 1)).toMatchObject({ error: { code: "ERR_SERVE_FRAME", message: expect.stringContaining(message) } });
    raw.say({ id: 2, method: "has", params: { hook: "message_sending" } });
    expect(await raw.next("id", 2)).toEqual({ id: 2, ok: true });
  });

  it("requests beyond the limit, and ids in use, are refused by name; who goes takes its runs along", async () => {
    using raw = await RawClient.welcome(server.socket);
    // Few of these are calls that wait: a plugin's own limit of calls refuses the rest, which is an answer.
    raw.say({ id: "same", ...FOREVER });
    raw.say({ id: "same", ...FOREVER });
    expect(await raw.next("id", "same")).toMatchObject({ error: { code: "ERR_SERVE_FRAME" } });
    let text = "";
    for (let id = 0; id < LIMITS.serve.pending + 100; id++) text += `${JSON.stringify({ id, ...FOREVER })}\n`;
    raw.socket.write(text);
    const busy = async (): Promise<boolean> => ((await raw.next("id"))?.error as { code: string } | undefined)?.code === "ERR_SERVE_BUSY";
    while (!(await busy()));
    expect(await isWell()).toBe(true);
    raw.socket.destroy();
    expect(await isWell()).toBe(true);
  });

  it("a subscriber that does not read is dropped, and the log says so", { timeout: 30_000 }, async () => {
    using raw = await RawClient.welcome(server.socket);
    raw.say({ id: 1, method: "subscribe", params: { facts: ["run"] } });
    await raw.next("id", 1);
    raw.socket.pause();
    raw.socket.removeAllListeners("data");
    const content = "x".repeat(200 * 1024);
    for (let runs = 0; runs < 400 && !isDropped(); runs++)
      await server.host.run("message_sending", { to: "me", content }, { channelId: "chat" });
    expect(isDropped()).toBe(true);
    expect(await isWell()).toBe(true);
  });

  it("a client that is gone in the middle of a run ends the run; others are not disturbed", async () => {
    const raw = await RawClient.welcome(server.socket);
    raw.say({ id: 1, ...FOREVER });
    raw.say({ id: 2, method: "has", params: { hook: "agent_end" } });
    await raw.next("id", 2);
    raw.socket.destroy();
    const told = next(neighbour, "run");
    expect(await isWell()).toBe(true);
    expect((await told).outcome.hook).toBe("message_sending");
  });

  it("no more clients than the limit, and a place is free again when one goes", async () => {
    const clients: RawClient[] = [];
    // One is the neighbour.
    for (let n = 1; n < LIMITS.serve.connections; n++) clients.push(await RawClient.welcome(server.socket));
    using one = new RawClient(server.socket);
    expect(await one.next("error")).toMatchObject({
      error: { code: "ERR_SERVE_REFUSED", message: expect.stringContaining("already has") },
    });
    for (const client of clients) client.socket.destroy();
    expect(await isWell()).toBe(true);
    // As soon as the host has noticed.
    while (!(await enters()));
  });
});

describe("the decoder", () => {
  it("gives the same lines however the bytes are cut", () => {
    const text = Buffer.from('{"a":"ä\u{1f600}"}\n\n{"b":2}\nrest');
    for (let size = 1; size <= text.length; size++) {
      const decoder = new LineDecoder(100);
      const found: string[] = [];
      for (let at = 0; at < text.length; at += size) found.push(...decoder.push(text.subarray(at, at + size)));
      expect(found).toEqual(['{"a":"ä\u{1f600}"}', "", '{"b":2}']);
    }
  });
});
