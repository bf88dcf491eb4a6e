/** The author's harness: what a test of a plugin sees of the real sandbox, and what it stands in for. */
import { readdirSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from "vitest";
import { createHarness } from "creel/testing";
import type { Harness } from "creel/testing";
import { contract } from "../../support/host.ts";
import { folder } from "../../support/files.ts";
import { serve } from "../../support/server.ts";
import type { TestServer } from "../../support/server.ts";

const API = "https://api.example.com";
const SECRET = "s3cret-s3cret-s3cret";

const SOURCE = `
import { appendFileSync, readFileSync } from "node:fs";
import { definePlugin } from "creel/plugin";
export default definePlugin({
  id: "subject",
  register(api) {
    api.logger.debug("registered with " + api.pluginConfig.greeting);
    const attempt = async (work) => { try { return await work(); } catch (error) { return error.code; } };
    const doings = {
      async fetch({ url, ...init }) {
        const answer = await fetch(url, init);
        return [answer.status, answer.headers.get("x-mark"), await answer.text()].join(" ");
      },
      patch: (patch) => api.session.patch(patch).then(JSON.stringify),
      get: ({ key }) => api.session.get(key).then(JSON.stringify),
      write() { appendFileSync("notes.txt", "x"); return readFileSync("notes.txt", "utf8"); },
      delay: () => api.schedule.delay("job", 200),
      count: () => api.kv.update("count", (n = 0) => n + 1).then(String),
      later() { setTimeout(() => api.logger.warn("later"), 20); return "soon"; },
      throws() { throw new Error("on purpose"); },
    };
    api.schedule.on("job", () => api.logger.info("the job was done"));
    api.on("message_sending", async (event) => {
      const { does, ...argument } = JSON.parse(event.content);
      api.logger.info("asked to " + does);
      return { content: await attempt(() => doings[does](argument)) };
    });
    api.on("before_tool_call", (event) => {
      api.logger.info("tool " + event.toolName);
      if (event.toolName === "exec") return { requireApproval: { title: "Run it?", description: "x", onResolution: (how) => api.logger.info("it was " + how) } };
      if (event.toolName === "rm") return { block: true, blockReason: "never" };
    });
    api.on("session:patch", (event) => api.logger.info("patched " + event.sessionKey));
    api.registerTool({ name: "add", parameters: {}, execute: (id, { a, b }) => { api.logger.info("adding"); return { content: [{ type: "text", text: String(a + b) }] }; } });
  },
});
`;

contract("the harness", (isolation) => {
  let harness: Harness;
  let local: TestServer;
  beforeAll(async () => {
    local = await serve((_, response) => response.end("really"));
    const root = folder({ "creel.plugin.json": JSON.stringify({ id: "subject", version: "1.2.3", main: "index.js" }), "index.js": SOURCE });
    harness = await createHarness({
      plugin: root,
      isolation,
      config: { greeting: "hello" },
      grants: {
        fetch: [{ origin: API, pathPrefix: "/v1", secret: "key" }, "https://forgotten.example", local.origin],
        session: ["get", "patch"],
        kv: true,
        fs: true,
        schedule: true,
      },
      settings: { secrets: { key: { value: SECRET, origins: [API], header: "x-key" } }, sandbox: { walls: "none" } },
    });
  });
  afterAll(() => Promise.all([harness?.close(), local.close()]));

  const ask = async (does: string, argument: object = {}) =>
    (await harness.run("message_sending", { to: "user", content: JSON.stringify({ does, ...argument }) }, { channelId: "chat" })).result
      ?.content;

  it("tells what the plugin is, and its lines from the first on", () => {
    expect(harness.inspect()).toMatchObject({ id: "subject", version: "1.2.3", status: "ready", diagnostics: [] });
    expect(harness.logs[0]).toEqual({ level: "debug", text: "registered with hello" });
  });

  it("what a handler logged is there when its run is over", async () => {
    for (let round = 0; round < 50; round++) {
      const outcome = await harness.run("before_tool_call", { toolName: `t${round}`, params: {} });
      expect(outcome.decision).toBe("pass");
      expect(harness.logs.at(-1)).toEqual({ level: "info", text: `tool t${round}` });
    }
  });

  it("runs are typed by the hook", async () => {
    const { decision, reason, result } = await harness.run("before_tool_call", { toolName: "rm", params: {} }, { toolName: "rm" });
    expect([decision, reason]).toEqual(["block", "never"]);
    expectTypeOf(result?.block).toEqualTypeOf<boolean | undefined>();
    // @ts-expect-error -- a tool call has parameters
    await expect(harness.run("before_tool_call", { toolName: "rm" })).rejects.toMatchObject({ code: "ERR_EVENT_INVALID" });
  });

  it("a line that comes after the answer can be waited for, and one that does not come is missed with what there is", async () => {
    expect(await ask("later")).toBe("soon");
    expect(await harness.line(/^late/g)).toEqual({ level: "warn", text: "later" });
    await expect(harness.line("never said", { timeoutMs: 1 })).rejects.toThrow(/never said after 1 ms[^]*debug: registered with hello/);
  });

  it("answers for a server: the plugin sees the answer, the test sees the request with its secret, the plugin does not", async () => {
    harness.network(API, async (request) => {
      if (request.method === "GET") return new Response(`key ${request.headers.get("x-key")}`, { headers: { "x-mark": "m" } });
      return { status: 201, json: { got: await request.json() } };
    });
    expect(await ask("fetch", { url: `${API}/v1/a` })).toMatch(/^200 m key (?!s3cret)/);
    expect(await ask("fetch", { url: `${API}/v1/b`, method: "POST", body: '{"x":1}' })).toBe('201  {"got":{"x":1}}');
    expect(harness.fetches.slice(-2)).toMatchObject([
      { method: "GET", url: `${API}/v1/a`, body: undefined, headers: { "x-key": SECRET } },
      { method: "POST", url: `${API}/v1/b`, body: '{"x":1}', headers: { "x-key": SECRET } },
    ]);
  });

  it("grants and redirects are judged as ever, whoever answers", async () => {
    const before = harness.fetches.length;
    harness.network("https://other.example", () => ({ body: "reached" }));
    expect(await ask("fetch", { url: "https://other.example/" })).toBe("ERR_GRANT_MISSING");
    expect(await ask("fetch", { url: `${API}/v2` })).toBe("ERR_FETCH_PATH");
    expect(harness.fetches).toHaveLength(before);
    harness.network(API, () => ({ status: 302, headers: { location: "https://other.example/" } }));
    expect(await ask("fetch", { url: `${API}/v1` })).toBe("ERR_FETCH_REDIRECT");
    harness.network(API, () => null);
    expect(await ask("fetch", { url: `${API}/v1` })).toBe("ERR_FETCH_FAILED");
  });

  it("what a function of the test throws reaches the test, though the plugin copes with it", async () => {
    harness.network(API, () => {
      throw new Error("an assertion in a server");
    });
    await expect(ask("fetch", { url: `${API}/v1` })).rejects.toThrow("an assertion in a server");
    harness.approvals.answer(() => Promise.reject(new Error("an assertion in a user")));
    await expect(harness.run("before_tool_call", { toolName: "exec", params: {} })).rejects.toThrow("an assertion in a user");
    expect(await ask("throws")).toBeUndefined();
    harness.approvals.answer(undefined);
  });

  it("no request leaves the machine: without a server of the test it fails; a server of this machine is reached", async () => {
    expect(await ask("fetch", { url: "https://forgotten.example/" })).toBe("ERR_FETCH_FAILED");
    expect(harness.fetches.at(-1)).toMatchObject({ url: "https://forgotten.example/" });
    expect(await ask("fetch", { url: local.origin })).toBe("200  really");
    expect(local.asked).toHaveLength(1);
    expect(() => harness.network("api.example.com", () => ({}))).toThrow("is not an origin");
  });

  it("sessions are in memory, and patches of them are recorded", async () => {
    harness.sessions.set("main", { label: "old", model: "opus" });
    expect(JSON.parse((await ask("patch", { key: "main", label: "new", model: null }))!)).toEqual({ label: "new" });
    expect(JSON.parse((await ask("get", { key: "main" }))!)).toEqual({ label: "new" });
    expect(harness.sessions.get("main")).toEqual({ label: "new" });
    expect(harness.sessions.patches).toEqual([{ key: "main", label: "new", model: null }]);
    expect(await ask("get", { key: "nobody's" })).toBe("null");
  });

  it("the test answers for the user; before it has, there is nobody to ask", async () => {
    const exec = () => harness.run("before_tool_call", { toolName: "exec", params: { command: "ls" } });
    expect(await exec()).toMatchObject({ decision: "block", approval: { resolution: "cancelled" } });
    harness.approvals.answer("allow-once");
    expect(await exec()).toMatchObject({ decision: "pass", approval: { resolution: "allow-once" } });
    harness.approvals.answer(({ params }) => (params.command === "ls" ? "deny" : null));
    expect(await exec()).toMatchObject({ decision: "block", approval: { resolution: "deny" } });
    expect(harness.approvals.questions.map(({ title }) => title).slice(-3)).toEqual(["Run it?", "Run it?", "Run it?"]);
    expect(harness.approvals.questions.at(-1)).toMatchObject({
      pluginId: "subject",
      title: "Run it?",
      params: { command: "ls" },
      requests: [{ pluginId: "subject", title: "Run it?" }],
      changes: [],
    });
    await harness.line("it was deny");
  });

  it("tools are called, events are told and heard", async () => {
    expect(await harness.call({ tool: "add" }, { a: 1, b: 2 })).toMatchObject({ status: "ok", value: { content: [{ text: "3" }] } });
    expect(harness.logs.at(-1)?.text).toBe("adding");
    const patch = { key: "told", label: "x" };
    await harness.emit("session:patch", { type: "session", action: "patch", sessionKey: "told", context: { sessionEntry: {}, patch } });
    expect(harness.logs.at(-1)?.text).toBe("patched told");
  });

  it("a store, files and jobs outlive a reload", async () => {
    expect([await ask("count"), await ask("count"), await ask("write")]).toEqual(["1", "2", "x"]);
    await ask("delay");
    await harness.host.reload(harness.id);
    expect([await ask("count"), await ask("write")]).toEqual(["3", "xx"]);
    await harness.line("the job was done");
  });
});

describe("a plugin that does not load", () => {
  it("makes createHarness reject with its error, its place in the author's file and what to do", async () => {
    const root = folder({ "index.ts": "export default () => {\n  throw new TypeError('not today');\n};\n" });
    const failing = createHarness({ plugin: root });
    await expect(failing).rejects.toMatchObject({ name: "PluginLoadError", code: "ERR_PLUGIN_LOAD", at: "index.ts:2:9" });
    await expect(failing).rejects.toThrow(/not today.*\(index\.ts:2:9\)/);
    await expect(failing.catch(({ stack }: Error) => stack)).resolves.toMatch(/\n +at .*index\.ts:2:9/);
  });

  it("so does one that is switched off, with what says so", async () => {
    const root = folder({
      "HOOK.md": "---\nname: x\nmetadata: { openclaw: { events: [session], requires: { env: [NOT_THERE_AT_ALL] } } }\n---\n",
      "handler.js": "export default () => {};",
    });
    await expect(createHarness({ plugin: root })).rejects.toThrow(/NOT_THERE_AT_ALL/);
  });

  it("so do one that is not there, one that does not parse, and settings that are not valid", async () => {
    await expect(createHarness({ plugin: "./nowhere" })).rejects.toMatchObject({ code: "ERR_PLUGIN_ENTRY" });
    await expect(createHarness({ plugin: { id: "x", source: "export default (" } })).rejects.toMatchObject({ name: "PluginLoadError" });
    await expect(createHarness({ plugin: { id: "x", source: "" }, grants: { fetsh: [] } as never })).rejects.toThrow(/fetsh/);
  });
});

it("state of the machine's own plugins is out of reach", async () => {
  const stateDir = folder({});
  process.env.CREEL_STATE_DIR = stateDir;
  try {
    const source = `export default (api) => api.on("message_sending", async () => ({ content: String(await api.kv.update("n", (n = 0) => n + 1)) }));`;
    await using harness = await createHarness({ plugin: { id: "counts", source }, grants: { kv: true } });
    expect((await harness.run("message_sending", { to: "x", content: "" }, { channelId: "chat" })).result?.content).toBe("1");
    expect(harness.inspect().kv?.isPersistent).toBe(false);
    expect(readdirSync(stateDir)).toEqual([]);
  } finally {
    delete process.env.CREEL_STATE_DIR;
  }
});
