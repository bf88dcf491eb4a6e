/** The rules of a host hold through the socket as they do in the process: the same gateway code runs against both. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openHost } from "creel";
import type { Host } from "creel";
import type { Served } from "../../src/serve/server.ts";
import { folder, write } from "../support/files.ts";
import { next, plugin, silent, statuses } from "../support/host.ts";
import { socketPath, served } from "../support/serve.ts";
import { thrownBy } from "../support/errors.ts";

const adds = (id: string, word: string, priority: number) =>
  plugin(id, `api.on("message_sending", (e) => ({ content: e.content + "${word}" }), { priority: ${priority} });`);
const root = folder({ "greet.js": greeting("one") });

function greeting(word: string): string {
  return `export default (api) => { api.on("message_received", () => {}); api.on("before_prompt_build", () => ({ prependContext: "${word}" })); };`;
}

const PLUGINS = [
  adds("late", " late", 1),
  adds("early", " early", 9),
  plugin("guard", `api.on("before_tool_call", (e) => e.toolName === "rm" ? { block: true, blockReason: "not here" } : undefined);`),
  plugin("broken", `api.on("before_tool_call", () => { throw new Error("oh"); }, { priority: -1 });`),
  plugin("slow", `api.on("agent_end", () => new Promise(() => {}), { timeoutMs: 60000 });`, { hooks: { allowConversationAccess: true } }),
  plugin(
    "tools",
    `api.registerTool({ name: "double", description: "twice", parameters: { type: "object" }, execute: async (id, { n }, signal, onUpdate) => { onUpdate?.({ half: n }); return { twice: 2 * n }; } });`,
  ),
  { path: `${root}/greet.js`, hooks: { allowPromptInjection: true, allowConversationAccess: true } },
];

let server: Served;
let remote: Host;
beforeAll(async () => {
  server = await served({ plugins: PLUGINS });
  remote = await openHost({ connect: server.socket, logger: silent });
});
afterAll(async () => {
  await remote.close();
  await server.close();
});

/** Ids and times differ from run to run. */
const plain = (outcome: object) =>
  JSON.parse(JSON.stringify(outcome, (key, value) => (/^(runId|wallMs|cpuMs|stack)$/.test(key) ? undefined : value)));

describe("through the socket as in the process", () => {
  it.each([
    ["order and chained rewrites", "message_sending", { to: "me", content: "hello", metadata: { channel: "chat" } }],
    ["a block ends the run", "before_tool_call", { toolName: "rm", params: {} }],
    ["a gate that fails is closed", "before_tool_call", { toolName: "ls", params: {} }],
    ["nobody listens", "message_sent", { to: "me", content: "x", success: true }],
  ] as const)("%s", async (_, hook, event) => {
    const here = await server.host.run(hook as never, event as never);
    const there = await remote.run(hook as never, event as never);
    expect(plain(there)).toEqual(plain(here));
    expect(Object.keys(there)).toEqual(expect.arrayContaining(Object.keys(here)));
  });

  it("is not the same answer every time", async () => {
    const sent = await remote.run("message_sending", { to: "me", content: "hello" }, { channelId: "chat" });
    expect([sent.result?.content, statuses(sent)]).toEqual(["hello early late", ["early:ok", "late:ok"]]);
    expect(await remote.run("before_tool_call", { toolName: "rm", params: {} })).toMatchObject({
      decision: "block",
      by: "guard",
      reason: "not here",
    });
  });

  it("the caller's own mistakes reject with the same code and message", async () => {
    for (const [hook, event] of [
      ["no_such_hook", {}],
      ["before_tool_call", { toolName: 7 }],
    ] as const) {
      const here = await server.host.run(hook as never, event as never).catch((error: unknown) => error);
      const there = await remote.run(hook as never, event as never).catch((error: unknown) => error);
      expect(there).toMatchObject({ name: "CreelError", code: (here as { code: string }).code, message: (here as Error).message });
    }
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    await expect(remote.run("before_tool_call", { toolName: "x", params: cycle })).rejects.toMatchObject({ code: "ERR_EVENT_NOT_JSON" });
    await expect(remote.run("message_sending", { to: "me", content: "after" }, { channelId: "chat" })).resolves.toMatchObject({
      decision: "pass",
    });
  });

  it("an abort rejects at once with its reason, and ends the run in the host", async () => {
    const stop = new AbortController();
    const running = remote.run("agent_end", { messages: [], success: true }, undefined, { signal: stop.signal });
    // Behind it on the same connection: when this is answered, the other has begun.
    await remote.run("message_sending", { to: "me", content: "x" }, { channelId: "chat" });
    stop.abort(new Error("enough"));
    await expect(running).rejects.toThrow("enough");
    await expect(remote.run("agent_end", { messages: [], success: true }, undefined, { signal: stop.signal })).rejects.toThrow("enough");
  });

  it("tools are listed and called, and tell how far they are", async () => {
    expect(remote.tools()).toEqual(JSON.parse(JSON.stringify(server.host.tools())));
    const updates: unknown[] = [];
    const outcome = await remote.call({ tool: "double" }, { n: 4 }, { onUpdate: (update) => void updates.push(update) });
    expect(outcome).toMatchObject({ status: "ok", value: { twice: 8 }, plugin: "tools" });
    expect(updates).toEqual([{ half: 4 }]);
    await expect(remote.call({ tool: "doubl" }, {})).rejects.toMatchObject({ code: "ERR_FUNCTION_UNKNOWN" });
  });

  it("facts come to whoever listens, until they do not want them any more", async () => {
    const told = next(remote, "run", ({ outcome }) => outcome.hook === "message_sending");
    await remote.run("message_sending", { to: "me", content: "fact" }, { channelId: "chat" });
    expect((await told).outcome.result).toEqual({ content: "fact early late" });
    const counted = { facts: 0 };
    const off = remote.on("run", () => void (counted.facts += 1));
    off();
    await remote.run("message_sending", { to: "me", content: "fact" }, { channelId: "chat" });
    expect(counted.facts).toBe(0);
  });

  it("an event that is emitted arrives, in order", async () => {
    const told = next(server.host, "run", ({ outcome }) => outcome.hook === "message_received");
    remote.emit("message_received", { from: "me", content: "hi" }, { channelId: "chat" });
    expect((await told).outcome.calls).toMatchObject([{ plugin: "greet", status: "ok" }]);
  });
});

describe("what is told at once is a copy that is kept fresh", () => {
  it("reload: the new version answers, and whoever asked knows its hooks when the answer is there", async () => {
    write(root, { "greet.js": `${greeting("two").slice(0, -3)} api.on("session:patch", () => {}); };` });
    expect(remote.has("session:patch")).toBe(false);
    expect(await remote.reload("greet")).toMatchObject({ id: "greet", status: "ready" });
    expect(remote.has("session:patch")).toBe(true);
    expect((await remote.run("before_prompt_build", { prompt: "", messages: [] })).result).toMatchObject({ prependContext: "two" });
    expect(remote.inspect("greet")).toEqual(JSON.parse(JSON.stringify(server.host.inspect("greet"))));
  });

  it("a version that does not load is told by name, the one before answers, and then the next good one", async () => {
    write(root, { "greet.js": "export default () => { throw new Error('half done'); };" });
    const report = await remote.reload("greet");
    expect(report.error).toMatchObject({ code: "ERR_PLUGIN_LOAD", message: expect.stringContaining("half done") });
    expect(report.status).toBe("ready");
    expect(remote.inspect("greet").error).toEqual(report.error);
    expect((await remote.run("before_prompt_build", { prompt: "", messages: [] })).result).toMatchObject({ prependContext: "two" });
    write(root, { "greet.js": greeting("three") });
    expect(await remote.reload("greet")).toMatchObject({ status: "ready" });
    expect((await remote.run("before_prompt_build", { prompt: "", messages: [] })).result).toMatchObject({ prependContext: "three" });
  });

  it("what one client changes, the other is told", async () => {
    await using other = await openHost({ connect: server.socket, logger: silent });
    const known = next(other, "plugin", (fact) => fact.plugin === "early" && fact.status === "disabled");
    remote.disable("early");
    await known;
    // The state comes with an answer to a change of one's own, too.
    await other.release("late");
    expect(other.inspect("early").status).toBe("disabled");
    expect((await other.run("message_sending", { to: "me", content: "hello" }, { channelId: "chat" })).result?.content).toBe("hello late");
    expect(thrownBy(() => other.disable("nobody"))).toMatchObject({ code: "ERR_PLUGIN_UNKNOWN" });
    await expect(other.reload("nobody")).rejects.toMatchObject({ code: "ERR_PLUGIN_UNKNOWN" });
  });
});

describe("joining", () => {
  it("takes no options that are the host's own, and says who is missing", async () => {
    await expect(openHost({ connect: server.socket, lanes: 2 })).rejects.toMatchObject({ code: "ERR_HOST_OPTIONS" });
    await expect(openHost({ connect: socketPath() })).rejects.toMatchObject({ code: "ERR_SERVE_CONNECT" });
  });

  it("a client that has closed knows it; the host goes on", async () => {
    const other = await openHost({ connect: server.socket, logger: silent });
    const last = other.run("message_sending", { to: "me", content: "last" }, { channelId: "chat" });
    await other.close();
    await expect(last).resolves.toMatchObject({ decision: "pass" });
    await expect(other.run("message_sending", { to: "me", content: "x" }, { channelId: "chat" })).rejects.toMatchObject({
      code: "ERR_HOST_CLOSED",
    });
    await expect(remote.run("message_sending", { to: "me", content: "x" }, { channelId: "chat" })).resolves.toMatchObject({
      decision: "pass",
    });
  });

  it("a host that ends lets runs finish, later calls find the next one that listens there", async () => {
    const socket = socketPath();
    const late = plugin("late", `api.on("message_sending", () => new Promise((done) => setTimeout(done, 50, { content: "late" })));`);
    const first = await served({ socket, plugins: [late] });
    await using client = await openHost({ connect: socket, logger: silent });
    const began = client.run("message_sending", { to: "me", content: "x" }, { channelId: "chat" });
    expect(client.inspect("late")).toMatchObject({ status: "ready" });
    // Answered behind the run's beginning.
    await client.release("late");
    await first.close();
    expect((await began).result).toEqual({ content: "late" });
    expect(await client.run("message_sending", { to: "me", content: "x" }, { channelId: "chat" })).toMatchObject({ unreachable: {} });
    await using second = await served({ socket, plugins: [plugin("next", `api.on("message_sending", () => ({ content: "second" }));`)] });
    expect((await client.run("message_sending", { to: "me", content: "x" }, { channelId: "chat" })).result).toEqual({ content: "second" });
    expect([client.id, client.plugins().map(({ id }) => id)]).toEqual([second.host.id, ["next"]]);
  });
});
