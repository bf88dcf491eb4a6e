/** Functions that plugins declare and the gateway calls: tools, commands, gateway methods, services. */
import { expect, test, vi } from "vitest";
import { folder } from "../support/files.ts";
import { contract, open, plugin, sharedHost } from "../support/host.ts";

const TOOLS = `
  const log = [];
  api.registerTool({ name: "echo", label: "Echo", description: "Says it again.", parameters: { type: "object", properties: { text: { type: "string" } } },
    async execute(id, params, signal, onUpdate) { onUpdate({ content: [{ type: "text", text: "half" }] }); await 0; return { content: [{ type: "text", text: id + ":" + params.text }] }; } }, { optional: true });
  api.registerTool((ctx) => [{ name: "whoami", description: "", parameters: {}, execute: () => ctx.sessionKey ?? "nobody" }]);
  api.registerTool({ name: "boom", execute() { throw new Error("no luck"); } });
  api.registerTool({ name: "sleepy", execute: (id, p, signal) => new Promise(() => signal?.addEventListener("abort", () => { globalThis.wasAborted = true; })) });
  api.registerTool({ name: "aborted", execute: () => globalThis.wasAborted === true });
  api.registerTool({ name: "number", execute: () => 42 });
  api.registerTool({ name: "nothing", execute: () => undefined });
  api.registerTool({ name: "cycle", execute: () => { const a = {}; a.a = a; return a; } });
  api.registerTool({ name: "deep", execute: () => { let deep = []; for (let i = 0; i < 1000; i++) deep = [deep]; return deep; } });
  api.registerTool({ name: "two words", execute: () => 1 });
  api.registerTool({ name: "echo", execute: () => "the second" });
  api.registerTool({ name: "odd", description: 7, execute: () => 1 });
  api.registerCommand({ name: "greet", description: "Says hello.", acceptsArgs: true, handler: (ctx) => ({ text: "hello " + ctx.args + " from " + ctx.channel + " " + ctx.commandBody }) });
  api.registerGatewayMethod("demo.status", ({ respond, params }) => { respond(true, { got: params }); });
  api.registerGatewayMethod("demo.later", ({ respond }) => { setTimeout(() => respond(false, undefined, { code: "NOPE" }), 1); });
  api.registerGatewayMethod("demo.throws", async () => { throw new Error("oh"); });
  api.on("before_tool_call", () => { try { api.registerTool({ name: "late", execute: () => 1 }); } catch (error) { return { block: true, blockReason: error.message }; } });
`;

contract("functions", (isolation) => {
  const shared = sharedHost(isolation, {
    plugins: [
      plugin("tools", TOOLS),
      plugin(
        "rival",
        `api.registerTool({ name: "echo", execute: () => "rival" }); api.registerTool({ name: "own", execute: () => "mine" });`,
      ),
    ],
  });

  test("tools, commands and methods are listed with what their plugin says about them", () => {
    const { host } = shared;
    expect(host.tools().map(({ plugin: id, name }) => `${id}:${name}`)).toEqual(
      ["echo", "whoami", "boom", "sleepy", "aborted", "number", "nothing", "cycle", "deep"]
        .map((name) => `tools:${name}`)
        .concat("rival:own"),
    );
    expect(host.tools()[0]).toEqual({
      plugin: "tools",
      kind: "tool",
      name: "echo",
      about: {
        label: "Echo",
        description: "Says it again.",
        parameters: { type: "object", properties: { text: { type: "string" } } },
        optional: true,
      },
    });
    expect(host.commands()).toEqual([
      { plugin: "tools", kind: "command", name: "greet", about: { description: "Says hello.", acceptsArgs: true } },
    ]);
    expect(host.methods().map(({ name }) => name)).toEqual(["demo.status", "demo.later", "demo.throws"]);
  });

  test("what was not accepted is said, and a name that is taken belongs to the first plugin", () => {
    const { host } = shared;
    expect(host.inspect("tools").diagnostics).toEqual([
      'the tool "two words" is left out: its name has blanks or control characters in it',
      'the tool "echo" is left out: the plugin has declared one of that name before',
      expect.stringMatching(/^the tool "odd" is left out: its "description" is not valid: /),
    ]);
    expect(host.inspect("rival").diagnostics).toEqual([
      'the tool "echo" is left out: the plugin "tools", which comes first, has one of that name',
    ]);
  });

  test("a tool is called with its id and parameters, and its answer may be any data", async () => {
    const { host } = shared;
    const updates: unknown[] = [];
    const echoed = await host.call(
      { tool: "echo" },
      { text: "hi" },
      { ctx: { toolCallId: "t1" }, onUpdate: (update) => updates.push(update) },
    );
    expect(echoed).toMatchObject({ plugin: "tools", kind: "tool", name: "echo", status: "ok", error: undefined });
    expect(echoed.value).toEqual({ content: [{ type: "text", text: "t1:hi" }] });
    expect(updates).toEqual([{ content: [{ type: "text", text: "half" }] }]);
    expect((await host.call({ tool: "number" })).value).toBe(42);
    expect(await host.call({ tool: "nothing" })).toMatchObject({ status: "ok", value: undefined });
    expect((await host.call({ tool: "whoami" }, {}, { ctx: { sessionKey: "s1" } })).value).toBe("s1");
    expect((await host.call({ tool: "echo", plugin: "tools" }, { text: "x" })).value).toEqual({ content: [{ type: "text", text: ":x" }] });
  });

  test("a tool that fails is an answer, not an exception", async () => {
    const { host } = shared;
    expect(await host.call({ tool: "boom" })).toMatchObject({
      status: "failed",
      value: undefined,
      error: { code: "ERR_CALL_FAILED", message: expect.stringContaining("no luck") },
    });
    expect(await host.call({ tool: "cycle" })).toMatchObject({ status: "failed", error: { code: "ERR_CALL_RESULT_JSON" } });
    expect(await host.call({ tool: "deep" })).toMatchObject({
      status: "failed",
      value: undefined,
      error: { code: "ERR_CALL_RESULT_SHAPE", message: expect.stringContaining("levels deep") },
    });
  });

  test("a plugin whose tools keep failing is not called for a while", async () => {
    const { host } = shared;
    for (let i = 0; i < 15; i++) await host.call({ tool: "boom" });
    expect(await host.call({ tool: "number" })).toMatchObject({ status: "quarantined", error: { code: "ERR_PLUGIN_QUARANTINED" } });
    expect((await host.call({ tool: "own" })).value).toBe("mine");
  });

  test("a listener of the gateway's that throws does not disturb the tool", async () => {
    const { promise: told, resolve } = Promise.withResolvers<unknown>();
    const onUpdate = (update: unknown): never => {
      resolve(update);
      throw new Error("of the gateway");
    };
    expect(await shared.host.call({ tool: "echo" }, { text: "x" }, { onUpdate })).toMatchObject({ status: "ok" });
    expect(await told).toEqual({ content: [{ type: "text", text: "half" }] });
  });

  test("what a plugin has declared is in its report, with its budgets", () => {
    const report = shared.host
      .inspect("rival")
      .functions.map(({ kind, name, budget }) => [kind, name, budget.wallMs.value, budget.cpuMs.value]);
    expect(report).toEqual([
      ["tool", "echo", 60_000, 100],
      ["tool", "own", 60_000, 100],
    ]);
  });

  test("a function that is not there is the caller's mistake", async () => {
    const { host } = shared;
    await expect(host.call({ tool: "ecko" })).rejects.toMatchObject({ code: "ERR_FUNCTION_UNKNOWN" });
    await expect(host.call({ tool: "echo", plugin: "rival" })).rejects.toMatchObject({ code: "ERR_FUNCTION_UNKNOWN" });
    await expect(host.call({ command: "echo" })).rejects.toMatchObject({ code: "ERR_FUNCTION_UNKNOWN" });
  });

  test("a call is given up when its signal is aborted, and the tool is told", async () => {
    const { host } = shared;
    const controller = new AbortController();
    const sleeping = host.call({ tool: "sleepy" }, {}, { signal: controller.signal });
    await host.call({ tool: "number" });
    controller.abort(new Error("enough"));
    await expect(sleeping).rejects.toThrow("enough");
    await vi.waitFor(async () => expect((await host.call({ tool: "aborted" })).value).toBe(true));
    await expect(host.call({ tool: "number" }, {}, { signal: AbortSignal.abort() })).rejects.toThrow("aborted");
  });

  test("a command gets its text and what the gateway says about its sender", async () => {
    const { host } = shared;
    expect((await host.call({ command: "greet" }, "you", { ctx: { channel: "cli" } })).value).toEqual({
      text: "hello you from cli /greet you",
    });
  });

  test("a method answers by respond, at once or later, and fails if it throws", async () => {
    const { host } = shared;
    expect((await host.call({ method: "demo.status" }, { a: 1 })).value).toEqual({ ok: true, payload: { got: { a: 1 } } });
    expect((await host.call({ method: "demo.later" })).value).toEqual({ ok: false, error: { code: "NOPE" } });
    expect(await host.call({ method: "demo.throws" })).toMatchObject({
      status: "failed",
      error: { message: expect.stringContaining("oh") },
    });
  });

  test("nothing can be declared after register", async () => {
    const { result } = await shared.host.run("before_tool_call", { toolName: "x", params: {} });
    expect(result?.blockReason).toBe('declaring the tool "late" was called after register had returned');
  });
});

test("a manifest with contracts names its tools, and others are refused, as in OpenClaw", async () => {
  const source = `export default (api) => { for (const name of ["named", "other"]) api.registerTool({ name, execute: () => name }); };`;
  const root = folder({
    "with/openclaw.plugin.json": JSON.stringify({ id: "with", configSchema: {}, contracts: { tools: ["named"] } }),
    "with/index.js": source,
    "without/openclaw.plugin.json": JSON.stringify({ id: "without", configSchema: {} }),
    "without/index.js": source.replaceAll("named", "second").replaceAll("other", "third"),
  });
  await using host = await open("process", { plugins: [{ path: `${root}/with` }, { path: `${root}/without` }] });
  expect(host.tools().map(({ name }) => name)).toEqual(["named", "second", "third"]);
  expect(host.inspect("with").diagnostics).toEqual([
    `the tool "other" is left out: the plugin's manifest does not name it in contracts.tools`,
  ]);
  expect(host.inspect("without").diagnostics).toEqual([]);
});

contract("services of plugins", (isolation) => {
  test("start with the host, again after a reload, and stop before their plugin goes", async () => {
    const lines: string[] = [];
    const service = plugin(
      "svc",
      `let n = 0; api.registerService({ id: "beat", async start(ctx) { await 0; n++; ctx.logger.info("started"); setInterval(() => n++, 1); }, async stop(ctx) { await 0; api.logger.info("stopped"); } });
       api.registerService({ id: "broken", start() { throw new Error("no socket"); } });
       api.registerTool({ name: "n", execute: () => n });`,
    );
    const host = await open(isolation, { plugins: [service] });
    host.on("log", ({ text }) => lines.push(text));
    await vi.waitFor(() => expect(host.services().map(({ status }) => status)).not.toContain("starting"));
    expect(host.services()).toEqual([
      { plugin: "svc", id: "beat", status: "running", error: undefined },
      { plugin: "svc", id: "broken", status: "failed", error: "the handler threw: no socket" },
    ]);
    expect(host.inspect("svc").diagnostics).toEqual(['the service "broken" did not start: the handler threw: no socket']);
    await vi.waitFor(async () => expect((await host.call({ tool: "n" })).value).toBeGreaterThan(2));
    lines.length = 0;
    await host.reload("svc");
    await vi.waitFor(() => expect(host.services()[0]?.status).toBe("running"));
    await vi.waitFor(() => expect(lines).toEqual(["stopped", "started"]));
    lines.length = 0;
    host.disable("svc");
    expect(host.services()).toEqual([]);
    expect(host.tools()).toEqual([]);
    await vi.waitFor(() => expect(lines).toContain("stopped"));
    await host.reload("svc");
    await vi.waitFor(() => expect(host.services()[0]?.status).toBe("running"));
    lines.length = 0;
    await host.close();
    expect(lines).toContain("stopped");
  });
});

test("when the sandbox is killed, a tool's call is made once more, and services are started again", async () => {
  const body = `let starts = 0; const born = Math.random(); api.registerService({ id: "s", start() { starts++; } });
    api.registerTool({ name: "slow", execute: () => new Promise((resolve) => setTimeout(() => resolve({ born, starts }), 150)) });`;
  await using host = await open("process", { plugins: [plugin("p", body)] });
  const before = (await host.call({ tool: "slow" })).value as { born: number };
  const called = host.call({ tool: "slow" });
  await host.call({ tool: "slow" });
  const again = host.call({ tool: "slow" });
  process.kill(host.pids()[0]!, "SIGKILL");
  expect(await called).toMatchObject({ status: "ok" });
  const after = (await again).value as { born: number; starts: number };
  expect(after.born).not.toBe(before.born);
  await vi.waitFor(() => expect(host.services()).toMatchObject([{ status: "running" }]));
  expect((await host.call({ tool: "slow" })).value).toMatchObject({ starts: 1 });
});
