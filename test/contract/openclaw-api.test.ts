/** OpenClaw's `api` and SDK inside the sandbox: what works, what does nothing and says so, what is not there. */
import { expect, test, vi } from "vitest";
import { API_MEMBERS } from "../../src/protocol/guest-surface/api-members.ts";
import { contract, plugin, sharedHost } from "../support/host.ts";

const ENTRY = `
import { definePluginEntry, emptyPluginConfigSchema, delegateCompactionToRuntime, SomeBase, DEFAULT_NAME } from "openclaw/plugin-sdk/core";
import { createSubsystemLogger } from "openclaw/plugin-sdk";
import type { OpenClawPluginApi } from "openclaw/plugin-sdk/plugin-entry";
class Child extends SomeBase {}
const attempt = (fn) => { try { return fn(); } catch (error) { return error.message; } };
export default definePluginEntry({
  id: "entry", name: "Entry", configSchema: emptyPluginConfigSchema(),
  register(api: OpenClawPluginApi) {
    const seen = {
      id: api.id, name: api.name, version: api.version ?? null, description: api.description ?? null, source: api.source, rootDir: api.rootDir,
      registrationMode: api.registrationMode, pluginConfig: api.pluginConfig, own: api.config.plugins.entries.entry.config,
      others: Object.keys(api.config.plugins.entries), gateway: api.config.gateway,
      paths: [api.resolvePath("~/x"), api.resolvePath("a/../b"), api.resolvePath("/etc/hosts")],
      runtime: [api.runtime.version, api.runtime.state.resolveStateDir(), api.runtime.config.current() === api.config, api.runtime.config.loadConfig() === api.config],
      fallback: api.runtime?.subagent?.run ? "events" : "hooks",
      inert: [typeof api.registerChannel, api.registerChannel({}), api.registerChannel({}), api.onConversationBindingResolved(() => {})],
      groups: [api.lifecycle.registerRuntimeLifecycle({}), api.session.controls.registerSessionAction({}), typeof api.session.get],
      absent: [api.frobnicate, api.scheduleSessionTurn].map((value) => typeof value),
      missing: [attempt(() => delegateCompactionToRuntime()), attempt(() => new Child()), attempt(() => "" + DEFAULT_NAME)],
      schema: [emptyPluginConfigSchema().safeParse({}).success, emptyPluginConfigSchema().safeParse({ a: 1 }).success],
      json: JSON.stringify(Object.keys(api)).length > 0,
    };
    api.on("agent:nothing", () => {});
    api.on("before_tool_call", () => { api.runtime.logging.getChildLogger().info("child"); createSubsystemLogger("sub").child("part").info("line", 1); void api.llmThings; return { block: true, blockReason: JSON.stringify(seen) }; });
  },
});
`;

const NOTES = `export default (api) => api.registerTool({ name: "notes", execute: () => {
  const at = { runId: "r1", namespace: "n" };
  const value = { a: [1] };
  const kept = [api.setRunContext({ ...at, value }), api.runContext.setRunContext({ ...at, value: () => {} }), api.setRunContext({ runId: "", namespace: "n", value })];
  value.a[0] = 2;
  const read = api.runContext.getRunContext(at);
  for (let i = 2; i <= 257; i++) api.setRunContext({ runId: "r" + i, namespace: "n", value: i });
  const last = { runId: "r257", namespace: "n" };
  const before = [api.getRunContext(at) ?? null, api.getRunContext(last)];
  api.clearRunContext({ runId: "r257" });
  return { kept, read, before, after: api.getRunContext(last) ?? null };
} });`;

contract("OpenClaw's api", (isolation) => {
  const shared = sharedHost(isolation, {
    config: {
      gateway: { port: 18789, auth: { mode: "token", token: "t0p" } },
      plugins: { entries: { entry: { config: { api_key: "mine" } }, other: { config: { secret: "theirs" } } } },
    },
    plugins: [
      { id: "entry", source: ENTRY },
      plugin("common", ""),
      { id: "notes", source: NOTES },
      plugin(
        "members",
        `api.registerTool({ name: "members", execute: (id, names) => ({
           kinds: Object.fromEntries(names.map((name) => [name, name in api ? "works" : typeof api[name] === "function" ? "inert" : "absent"])), own: Object.keys(api) }) });`,
      ),
      {
        id: "cjs",
        source: `const { definePluginEntry } = require("openclaw/plugin-sdk/plugin-entry"); const sdk = require("openclaw/plugin-sdk");
                 module.exports = definePluginEntry({ id: "cjs", register(api) { api.registerTool({ name: "kind", execute: () => [typeof sdk.createSubsystemLogger, typeof sdk.whatever] }); } });`,
      },
    ],
  });

  test("keeps a plugin's notes about a run, as copies, and forgets the oldest run", async () => {
    expect((await shared.host.call({ tool: "notes" })).value).toEqual({
      kept: [true, false, false],
      read: { a: [1] },
      before: [null, 257],
      after: null,
    });
  });

  test("has the facts that hook plugins read, and a configuration without others' secrets", async () => {
    const lines: string[] = [];
    const off = shared.host.on("log", ({ text }) => lines.push(text));
    const { result } = await shared.host.run("before_tool_call", { toolName: "x", params: {} });
    await vi.waitFor(() => expect(lines).toEqual(["child", "[sub/part] line 1"]));
    off();
    expect(JSON.parse(result!.blockReason!)).toEqual({
      id: "entry",
      name: "entry",
      version: null,
      description: null,
      source: "/plugin",
      rootDir: "/plugin",
      registrationMode: "full",
      pluginConfig: { api_key: "mine" },
      own: { api_key: "mine" },
      others: ["entry"],
      gateway: { port: 18789, auth: { mode: "[redacted]", token: "[redacted]" } },
      paths: ["/home/plugin/x", "/home/plugin/b", "/etc/hosts"],
      runtime: ["2026.9.6", "/home/plugin/.openclaw", true, true],
      fallback: "hooks",
      inert: ["function", null, null, null],
      groups: [null, null, "function"],
      absent: ["undefined", "undefined"],
      missing: ["delegateCompactionToRuntime", "SomeBase", "DEFAULT_NAME"].map(
        (name) => `"${name}" of openclaw/plugin-sdk is not there in the sandbox: what it does needs a whole gateway around it`,
      ),
      schema: [true, false],
      json: true,
    });
  });

  test("says once what it does not have", async () => {
    await shared.host.run("before_tool_call", { toolName: "x", params: {} });
    const inert = "does nothing here: a sandboxed plugin has hooks, tools, commands, gateway methods and services";
    await vi.waitFor(() => expect(shared.host.inspect("entry").diagnostics).toHaveLength(9));
    expect(shared.host.inspect("entry").diagnostics).toEqual([
      expect.stringContaining('there is no hook named "agent:nothing"'),
      "the plugin looked for api.runtime.subagent, which is not there in the sandbox",
      `api.registerChannel ${inert}`,
      `api.onConversationBindingResolved ${inert}`,
      `api.lifecycle.registerRuntimeLifecycle ${inert}`,
      `api.session.controls.registerSessionAction ${inert}`,
      "the plugin looked for api.frobnicate, which is not there in the sandbox",
      "the plugin looked for api.scheduleSessionTurn, which is not there in the sandbox",
      "the plugin looked for api.llmThings, which is not there in the sandbox",
    ]);
    expect(shared.host.inspect("common").diagnostics).toEqual([]);
  });

  test("has of OpenClaw's members what the table says, and no others", async () => {
    const found = (await shared.host.call({ tool: "members" }, Object.keys(API_MEMBERS))).value as {
      kinds: Record<string, string>;
      own: string[];
    };
    const expected = Object.entries(API_MEMBERS).map(([name, { is }]) => [name, is]);
    expect(Object.entries(found.kinds)).toEqual(expected);
    expect(found.own.filter((name) => API_MEMBERS[name]?.is !== "works")).toEqual([]);
  });

  test("is there for CommonJS, too", async () => {
    expect((await shared.host.call({ tool: "kind" })).value).toEqual(["function", "function"]);
  });
});
