/** A plugin that is configured and does not serve: its doors that fail closed stay shut, and every run says that it is missing. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { CreelError, openHost } from "creel";
import type { PluginSpec } from "creel";
import { folder, QUICK, write } from "../support/files.ts";
import { contract, open, plugin, recorder, silent, statuses } from "../support/host.ts";
import { putInstalled, tamper } from "../support/installed.ts";

const CALL = { toolName: "exec", params: {} };
const MESSAGE = { to: "me", content: "the token is ghp_abc" };
const CHAT = { channelId: "chat" };

const unparsable: PluginSpec = { id: "broken-guard", source: "export default {{{" };
const throwing = plugin("throwing-guard", `throw new Error("no rules found");`);
const manifest = (more: object) => JSON.stringify({ id: "listed", ...more });
const listed = (files: Record<string, string>): PluginSpec => ({
  path: folder({ "creel.plugin.json": manifest({ hooks: ["before_tool_call", "message_sending"] }), ...files }, QUICK),
});

const refused = (options: object): Promise<unknown> =>
  openHost({ isolation: "thread", logger: silent, ...options } as never).then(
    (host) => host.close(),
    (error: unknown) => (error instanceof CreelError ? { code: error.code, ...error.params } : error),
  );

contract("a plugin that does not load", (isolation) => {
  describe("and whose hooks are not known", () => {
    it("keeps openHost from resolving: one error names each, its reason, and what to do", async () => {
      const missing = { path: join(folder({}, QUICK), "not-there") };
      const opening = open(isolation, { plugins: [unparsable, throwing, missing, plugin("fine", `api.on("message_sending", () => {});`)] });
      await expect(opening).rejects.toMatchObject({
        code: "ERR_PLUGINS_FAILED",
        params: { ids: "broken-guard, throwing-guard, not-there" },
        fix: expect.stringContaining("allowFailed: true"),
      });
      await expect(opening).rejects.toThrow(
        /"broken-guard" \(.*could not be bundled.*; "throwing-guard" \(.*no rules found.*; "not-there" \(the plugin at .* does not exist/,
      );
      await expect(opening).rejects.not.toThrow("fine");
    });

    it("has, with allowFailed, a line in every run of every hook, and decides nothing; the log warns once", async () => {
      const { lines, logger } = recorder();
      const signs = plugin("signs", `api.on("message_sending", (event) => ({ content: event.content + "!" }));`);
      await using host = await open(isolation, { allowFailed: true, logger, plugins: [unparsable, signs] });
      const call = await host.run("before_tool_call", CALL);
      expect([call.decision, call.by, statuses(call)]).toEqual(["pass", undefined, ["broken-guard:failed"]]);
      expect(call.calls[0]?.error).toEqual(host.inspect("broken-guard").error);
      const sent = await host.run("message_sending", MESSAGE, CHAT);
      expect([sent.decision, sent.result?.content, statuses(sent)]).toEqual([
        "pass",
        `${MESSAGE.content}!`,
        ["signs:ok", "broken-guard:failed"],
      ]);
      expect(statuses(await host.run("session_start", { sessionId: "s" }))).toEqual(["broken-guard:failed"]);
      expect(statuses(host.runSync("tool_result_persist", { message: {} }))).toEqual(["broken-guard:failed"]);
      const warnings = lines.filter(({ level, fields }) => level === "warn" && fields.plugin === "broken-guard");
      expect(warnings.map(({ message }) => message)).toEqual([
        "a plugin does not serve and its hooks are not known: every run lists it, and nothing is blocked",
      ]);
    });

    it("has no line any more once it is disabled, or loads", async () => {
      const root = folder({ "index.ts": "export default {{{" }, QUICK);
      await using host = await open(isolation, { allowFailed: true, plugins: [unparsable, { path: root, id: "mended" }] });
      expect(statuses(await host.run("before_tool_call", CALL))).toEqual(["broken-guard:failed", "mended:failed"]);
      host.disable("broken-guard");
      write(root, { "index.ts": `export default (api) => { api.on("message_sending", () => {}); };` });
      expect(await host.reload("mended")).toMatchObject({ status: "ready" });
      expect(await host.run("before_tool_call", CALL)).toMatchObject({ decision: "pass", calls: [] });
    });
  });

  describe("and whose manifest lists its hooks", () => {
    it.each([
      ["cannot be bundled", { "index.ts": "export default {{{" }],
      ["throws while it registers", { "index.ts": `export default () => { throw new Error("no rules found"); };` }],
      ["has lost its code", {}],
    ])("keeps the hooks shut that fail closed, and has a line in the others, if it %s", async (_, files: Record<string, string>) => {
      await using host = await open(isolation, { plugins: [listed(files)] });
      const { error } = host.inspect("listed");
      const call = await host.run("before_tool_call", CALL);
      expect(call).toMatchObject({
        decision: "block",
        by: "listed",
        reason: `before_tool_call handler of listed failed: ${error!.message}`,
        calls: [{ plugin: "listed", status: "failed", error: { code: error!.code, message: error!.message } }],
      });
      const sent = await host.run("message_sending", MESSAGE, CHAT);
      expect([sent.decision, statuses(sent)]).toEqual(["pass", ["listed:failed"]]);
      expect((await host.run("session_start", { sessionId: "s" })).calls).toEqual([]);
    });

    it("counts for an openclaw.plugin.json, too, as far as the names are of the catalog", async () => {
      const hooks = ["./hooks", "before_tool_call", 7];
      const path = folder({ "openclaw.plugin.json": manifest({ hooks }), "index.ts": "export default {{{" }, QUICK);
      await using host = await open(isolation, { plugins: [{ path }] });
      expect(await host.run("before_tool_call", CALL)).toMatchObject({ decision: "block", by: "listed" });
    });

    it("the operator's failure policy for the hook counts for it as for a handler that fails", async () => {
      const config = { hooks: { failure: { message_sending: "closed", before_tool_call: "open" } } } as const;
      await using host = await open(isolation, { config, plugins: [listed({ "index.ts": "export default {{{" })] });
      expect(await host.run("message_sending", MESSAGE, CHAT)).toMatchObject({ decision: "cancel", by: "listed" });
      expect(await host.run("before_tool_call", CALL)).toMatchObject({ decision: "pass", calls: [{ status: "failed" }] });
    });
  });

  it("keeps what it registered last in this host, matcher included, when it does not load again", async () => {
    const root = folder({ "index.ts": `export default (api) => { api.on("before_tool_call", () => {}, { matcher: ["exec"] }); };` }, QUICK);
    await using host = await open(isolation, { plugins: [{ path: root, id: "guard" }] });
    expect((await host.run("before_tool_call", CALL)).decision).toBe("pass");
    host.disable("guard");
    write(root, { "index.ts": "export default {{{" });
    expect(await host.reload("guard")).toMatchObject({ status: "failed" });
    expect(await host.run("before_tool_call", CALL)).toMatchObject({ decision: "block", by: "guard" });
    expect(await host.run("before_tool_call", { toolName: "ls", params: {} })).toMatchObject({ decision: "pass" });
  });

  it("a turn script that is not there is a line in beforeTurn", async () => {
    const config = { hooks: { agent: { beforeTurn: [{ script: join(folder({}, QUICK), "gone.ts") }] } } };
    await using host = await open(isolation, { config });
    const turn = await host.run("beforeTurn", { sessionKey: "s", agentId: "a", workflow: "agent" });
    expect([turn.decision, statuses(turn)]).toEqual(["pass", ["turn-beforeTurn-gone:failed"]]);
  });

  it("an installed filter that was tampered with is a line in the runs of its hooks that fail open", async () => {
    const stateDir = join(folder({}, QUICK), "state");
    const files = await putInstalled(
      stateDir,
      "redact",
      `export default (api) => { api.on("message_sending", () => ({ content: "" })); };`,
    );
    tamper(join(files, "bundle.js"), (code) => `${code}//`);
    await using host = await open(isolation, { config: { stateDir } });
    const sent = await host.run("message_sending", MESSAGE, CHAT);
    expect(sent).toMatchObject({ decision: "pass", result: undefined, calls: [{ plugin: "redact", status: "failed" }] });
    expect(sent.calls[0]?.error).toMatchObject({ code: "ERR_STATE_CHANGED", message: expect.stringContaining("bundle.js differs") });
    expect(host.has("message_sending")).toBe(true);
  });

  describe("is installed, and registers another hook than was accepted", () => {
    const BY_CONFIG = `export default (api) => { if (!api.pluginConfig?.off) api.on("before_tool_call", () => {}, { priority: api.pluginConfig?.priority ?? 0 }); };`;
    const installed = async (entry: Record<string, unknown>) => {
      const stateDir = join(folder({}, QUICK), "state");
      await putInstalled(stateDir, "guard", BY_CONFIG, { hooks: [{ hook: "before_tool_call", priority: 0 }] });
      return open(isolation, { config: { stateDir, plugins: { entries: { guard: entry } } } });
    };

    it("its gate is shut when it has registered it at another priority, and open when it is as accepted", async () => {
      await using moved = await installed({ config: { priority: 5 } });
      expect(await moved.run("before_tool_call", CALL)).toMatchObject({
        decision: "block",
        by: "guard",
        calls: [{ plugin: "guard", status: "failed", error: { code: "ERR_CALL_REFUSED", message: expect.stringContaining("priority 5") } }],
      });
      await using same = await installed({});
      expect(await same.run("before_tool_call", CALL)).toMatchObject({ decision: "pass", calls: [{ plugin: "guard", status: "ok" }] });
    });

    it("its gate is shut when it is required and has not registered it at all; otherwise that is its configuration's business", async () => {
      await using required = await installed({ required: true, config: { off: true } });
      await required.reload("guard");
      expect(await required.run("before_tool_call", CALL)).toMatchObject({
        decision: "block",
        by: "guard",
        calls: [{ error: { code: "ERR_CALL_REFUSED", message: expect.stringContaining("has not registered it") } }],
      });
      await using optional = await installed({ config: { off: true } });
      expect(await optional.run("before_tool_call", CALL)).toMatchObject({ decision: "pass", calls: [] });
    });
  });

  it("a guard that may not listen to its gate is a line of every run, and decides nothing", async () => {
    await using host = await open(isolation, { plugins: [plugin("guard", `api.on("before_agent_run", () => ({ outcome: "block" }));`)] });
    const out = await host.run("before_agent_run", { prompt: "p", messages: [] });
    expect(out).toMatchObject({
      decision: "pass",
      calls: [
        {
          plugin: "guard",
          status: "failed",
          error: { code: "ERR_CALL_REFUSED", message: expect.stringContaining("allowConversationAccess") },
        },
      ],
    });
  });

  it("is shut in both phases of a prompt, since nobody knows in which it wanted to be", async () => {
    await using host = await open(isolation, { allowFailed: true, plugins: [{ ...unparsable, required: true }] });
    const prompt = { prompt: "p", messages: [] };
    for (const context of [{}, { toolAuthority: { tools: [] } }])
      expect(await host.run("before_prompt_build", prompt, context as never)).toMatchObject({
        decision: "block",
        by: "broken-guard",
        calls: [{ status: "failed" }],
      });
  });

  it("an entry that names no plugin, and plugins that are all switched off, are lines of the log", async () => {
    const entries = { guard: {}, off: { enabled: false } };
    const unnamed = recorder();
    await using _ = await open(isolation, { logger: unnamed.logger, config: { plugins: { entries } } });
    expect(unnamed.lines.filter(({ level }) => level === "warn").map(({ fields }) => fields.plugins)).toEqual([["guard"]]);
    const off = recorder();
    await using __ = await open(isolation, { logger: off.logger, config: { plugins: { enabled: false } }, plugins: [throwing] });
    expect(off.lines.filter(({ level }) => level === "warn").map(({ message }) => message)).toEqual([
      "plugins.enabled is false: plugins that the gateway gave are not loaded",
    ]);
  });

  it("is not struck for what it could not do", async () => {
    await using host = await open(isolation, { allowFailed: true, plugins: [unparsable] });
    for (let at = 0; at < 50; at++) await host.run("before_tool_call", CALL);
    expect(host.inspect("broken-guard")).toMatchObject({ status: "failed", circuit: { state: "closed" } });
  });
});

describe("options of openHost that it does not know", () => {
  it.each([
    ["plugin", { plugin: [] }, "plugin", 'there is no such option; did you mean "plugins"?'],
    ["alowFailed", { alowFailed: true }, "alowFailed", 'there is no such option; did you mean "allowFailed"?'],
    [
      "a member of gateway",
      { gateway: { requestAproval() {} } },
      "gateway.requestAproval",
      'there is no such option; did you mean "requestApproval"?',
    ],
    [
      "a member of gateway that is no function",
      { gateway: { getSession: {} } },
      "gateway.getSession",
      'it must be a function; write, for example, gateway: { requestApproval: async () => "deny" }',
    ],
    [
      "a field of a plugin",
      { plugins: [{ path: ".", reqired: true }] },
      "plugins.0.reqired",
      'there is no such option; did you mean "required"?',
    ],
    [
      "a permission of a plugin",
      { plugins: [{ id: "a", source: "", hooks: { allowConversationAcess: true } }] },
      "plugins.0.hooks",
      expect.stringContaining("allowConversationAcess"),
    ],
    ["a hook that is none", { hooks: { ping: {} } }, "hooks.ping", expect.stringContaining("defineHook")],
    ["a plugin as text", { plugins: ["./guard.ts"] }, "plugins.0", 'it must be an object, such as { path: "./guard.ts" }'],
    [
      "with connect, a misspelt one",
      { connect: "x.sock", isolation: undefined, loger: silent },
      "loger",
      'there is no such option; did you mean "logger"?',
    ],
    [
      "with connect, a member of gateway",
      { connect: "x.sock", isolation: undefined, gateway: { getSesion() {} } },
      "gateway.getSesion",
      'there is no such option; did you mean "getSession"?',
    ],
    [
      "with connect, allowFailed",
      { connect: "x.sock", isolation: undefined, allowFailed: true },
      "allowFailed",
      "a host that is joined with connect or fleet has its own; set it where creel serve is started",
    ],
  ])("%s is refused, with the nearest name", async (_, options, field, detail) => {
    expect(await refused(options)).toEqual({ code: "ERR_HOST_OPTIONS", field, detail });
  });
});
