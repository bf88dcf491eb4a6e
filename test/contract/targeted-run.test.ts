/** What a gateway needs that asks one plugin at a time: runs for one plugin and one priority, and gates that stay shut when it is off. */
import { describe, expect, it } from "vitest";
import { redactConfig } from "creel";
import { contract, open, plugin, statuses } from "../support/host.ts";
import { putInstalled } from "../support/installed.ts";
import { folder, QUICK } from "../support/files.ts";

const CALL = { toolName: "exec", params: {} };
const CHAT = { channelId: "chat" };
const signs = (id: string, more = "") =>
  plugin(
    id,
    `api.on("tool_result_persist", (event) => ({ message: { ...event.message, content: event.message.content + "+${id}" } })); ${more}`,
  );

contract("a run for one plugin", (isolation) => {
  it("calls that plugin's handlers alone, synchronously too", async () => {
    await using host = await open(isolation, { plugins: [signs("a"), signs("b")] });
    const event = { message: { role: "toolResult", content: "o" } };
    const { result } = host.runSync("tool_result_persist", event, undefined, { plugin: "a" });
    expect(result?.message).toMatchObject({ content: "o+a" });
    expect(host.runSync("tool_result_persist", event).result?.message).toMatchObject({ content: "o+a+b" });
  });

  it("calls the handlers of one priority alone", async () => {
    const twice = plugin(
      "twice",
      `api.on("message_sending", (event) => ({ content: event.content + " high" }), { priority: 9 });
       api.on("message_sending", (event) => ({ content: event.content + " low" }));`,
    );
    await using host = await open(isolation, { plugins: [twice] });
    const content = async (priority?: number) =>
      (await host.run("message_sending", { to: "x", content: "o" }, CHAT, { plugin: "twice", ...(priority !== undefined && { priority }) }))
        .result?.content;
    expect([await content(9), await content(0), await content()]).toEqual(["o high", "o low", "o high low"]);
  });

  it("follows the hook's failure policy when the plugin is disabled or unknown", async () => {
    const guard = plugin("guard", `api.on("before_tool_call", () => {}); api.on("message_sending", () => ({ content: "x" }));`);
    await using host = await open(isolation, { plugins: [guard] });
    expect((await host.run("before_tool_call", CALL, undefined, { plugin: "guard" })).decision).toBe("pass");
    host.disable("guard");
    const off = await host.run("before_tool_call", CALL, undefined, { plugin: "guard" });
    expect(off).toMatchObject({ decision: "block", by: "guard", result: { block: true } });
    expect(off.reason).toContain('the plugin "guard" is disabled');
    const unknown = await host.run("before_tool_call", CALL, undefined, { plugin: "nobody" });
    expect([unknown.decision, unknown.by]).toEqual(["block", "nobody"]);
    const sent = await host.run("message_sending", { to: "x", content: "o" }, CHAT, { plugin: "guard" });
    expect([sent.decision, statuses(sent)]).toEqual(["pass", ["guard:failed"]]);
    await host.reload("guard");
    expect((await host.run("before_tool_call", CALL, undefined, { plugin: "guard" })).decision).toBe("pass");
  });

  it("stays shut while a disabled plugin is loaded again", async () => {
    const blocks = `export default (api) => { api.on("before_tool_call", () => ({ block: true, blockReason: "by rule" })); };`;
    const path = folder({ "creel.plugin.json": JSON.stringify({ id: "guard" }), "index.js": blocks }, QUICK);
    await using host = await open(isolation, { plugins: [{ path }] });
    host.disable("guard");
    const reloading = host.reload("guard");
    const decisions = new Set<string>();
    const state = { isDone: false };
    void reloading.finally(() => (state.isDone = true));
    while (!state.isDone) {
      decisions.add((await host.run("before_tool_call", CALL, undefined, { plugin: "guard" })).decision);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await reloading;
    expect([...decisions]).toEqual(["block"]);
  });
});

contract("a gateway that brings its own settings", (isolation) => {
  it("reloads a plugin with a new entry: settings, variables, grants, hook switches", async () => {
    const stateDir = folder({}, QUICK);
    await putInstalled(
      stateDir,
      "reads",
      `export default (api) => { api.on("message_sending", () => ({ content: JSON.stringify([api.pluginConfig, process.env.MOOD]) })); };`,
    );
    await using host = await open(isolation, { config: { stateDir, plugins: { entries: { reads: { config: { at: 1 } } } } } });
    const said = async () => (await host.run("message_sending", { to: "x", content: "" }, CHAT, { plugin: "reads" })).result?.content;
    expect(await said()).toBe('[{"at":1},null]');
    await host.reload("reads", { entry: { config: { at: 2 }, env: { MOOD: "calm" } } });
    expect(await said()).toBe('[{"at":2},"calm"]');
    await host.reload("reads", { entry: { enabled: false } });
    expect(host.inspect("reads").status).toBe("disabled");
    await host.reload("reads", { entry: { config: { at: 3 } } });
    expect(await said()).toBe('[{"at":3},null]');
    await expect(host.reload("reads", { entry: { config: 5 } as never })).rejects.toMatchObject({ code: "ERR_CONFIG_INVALID" });
    expect(await said()).toBe('[{"at":3},null]');
  });

  it("passes events with symbol keys: JSON leaves them out", async () => {
    const sees = plugin("sees", `api.on("message_sending", (event) => ({ content: JSON.stringify(event.metadata) }));`);
    await using host = await open(isolation, { plugins: [sees] });
    const metadata = { a: 1, [Symbol("authority")]: () => 5 };
    const { result } = await host.run("message_sending", { to: "x", content: "", metadata }, CHAT);
    expect(result?.content).toBe('{"a":1}');
  });

  it("emits session:patch itself if it says so", async () => {
    const counts = plugin(
      "counts",
      `let n = 0; api.on("session:patch", () => { n += 1; }); api.registerTool({ name: "count", execute: () => n });`,
    );
    let emitted = false;
    const gateway = { patchSession: async () => ({ sessionEntry: { label: "x" }, emitted }) };
    await using host = await open(isolation, { plugins: [counts], gateway });
    const count = async () => (await host.call({ tool: "count" })).value;
    await host.patchSession({ key: "k", label: "x" });
    await expect.poll(count).toBe(1);
    emitted = true;
    await host.patchSession({ key: "k", label: "y" });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await count()).toBe(1);
  });

  it("finds in inspect what each registration said, and what functions say about themselves", async () => {
    const says = plugin(
      "says",
      `api.on("before_tool_call", () => {}, { priority: 5, matcher: ["exec"], timeoutMs: 400 });
       api.registerTool({ name: "weigh", description: "weighs", parameters: { type: "object" }, execute: () => 1 });`,
    );
    await using host = await open(isolation, { plugins: [says] });
    const { hooks, functions } = host.inspect("says");
    expect(hooks).toMatchObject([{ hook: "before_tool_call", priority: 5, options: { matcher: ["exec"], timeoutMs: 400 } }]);
    expect(functions).toMatchObject([{ kind: "tool", name: "weigh", about: { description: "weighs", parameters: { type: "object" } } }]);
  });
});

describe("the redaction of configurations", () => {
  it("hides a gateway's token and leaves the rest", () => {
    const shown = redactConfig({ gateway: { port: 1, auth: { mode: "token", token: "t-123" } }, env: { A: "b" } });
    expect(shown).toMatchObject({ gateway: { port: 1 } });
    expect(JSON.stringify(shown)).not.toContain("t-123");
    expect(shown).not.toHaveProperty("env");
  });
});
