/** A required plugin: whatever keeps a handler of it from answering ends the run, on every hook but those that only observe. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { CATALOG, persistToolResult } from "creel";
import type { PluginSpec } from "creel";
import { sampleContext, sampleEvent } from "../../src/protocol/rules/samples.ts";
import { folder, QUICK } from "../support/files.ts";
import { contract, open, plugin, sharedHost, statuses } from "../support/host.ts";
import { putInstalled, tamper } from "../support/installed.ts";

const MESSAGE = { to: "me", content: "hello" };
const CHAT = { channelId: "chat" };
const PROMPT = { prompt: "p", messages: [] };
const FAILS = `throw new Error("no rules");`;

const requiring = (id: string, body: string, more: Partial<PluginSpec> = {}): PluginSpec => plugin(id, body, { required: true, ...more });

const entries = (required: boolean) => ({ plugins: { entries: { filter: { required } } } });

contract("a required plugin", (isolation) => {
  describe("that fails", () => {
    const shared = sharedHost(isolation, {
      plugins: [
        requiring(
          "filter",
          `for (const hook of ["message_sending", "before_prompt_build", "before_message_write", "tool_result_persist", "inbound_claim", "skill_proposal_evaluate", "session_start"])
             api.on(hook, () => { ${FAILS} });`,
          { hooks: { allowConversationAccess: true } },
        ),
        plugin(
          "other",
          `api.on("message_sending", () => ({ content: "other" }), { priority: 9 });
           api.on("before_prompt_build", () => ({ prependContext: "other" }), { priority: 9 });
           api.on("tool_result_persist", () => ({ message: { other: true } }), { priority: 9 });`,
          { hooks: { allowConversationAccess: true } },
        ),
      ],
    });

    it("ends a gate as the operator's failure policy would", async () => {
      expect(await shared.host.run("message_sending", MESSAGE, CHAT)).toMatchObject({
        decision: "cancel",
        by: "filter",
        reason: expect.stringContaining("message_sending handler of filter failed: the handler threw: no rules"),
      });
      expect(shared.host.runSync("before_message_write", { message: {} })).toMatchObject({ decision: "block", by: "filter" });
    });

    it("ends a claim as handled, with nothing", async () => {
      const event = { content: "x", channel: "chat", isGroup: false };
      expect(await shared.host.run("inbound_claim", event)).toMatchObject({ decision: "handled", by: "filter", result: { handled: true } });
    });

    it("blocks a hook that has nothing to block with, and gives no result of the others", async () => {
      expect(await shared.host.run("before_prompt_build", PROMPT)).toMatchObject({
        decision: "block",
        by: "filter",
        reason: expect.stringContaining("before_prompt_build handler of filter failed"),
        result: undefined,
      });
      expect(shared.host.runSync("tool_result_persist", { message: {} })).toMatchObject({
        decision: "block",
        by: "filter",
        result: undefined,
      });
      expect(persistToolResult(shared.host, { message: { text: "secret" } })).toEqual({ blocked: true, by: "filter" });
    });

    it("blocks an evaluation, whose outcomes are all there", async () => {
      const hook = CATALOG.skill_proposal_evaluate;
      const out = await shared.host.run(hook.name, sampleEvent(hook) as never, sampleContext(hook) as never);
      expect(out).toMatchObject({ decision: "block", by: "filter", result: [{ pluginId: "filter", status: "error" }] });
    });

    it("changes nothing for a hook that only observes", async () => {
      const out = await shared.host.run("session_start", { sessionId: "s" });
      expect([out.decision, out.by, statuses(out)]).toEqual(["pass", undefined, ["filter:failed"]]);
    });

    it("is shown as required, with what its failure means", () => {
      const { isRequired, hooks } = shared.host.inspect("filter");
      expect(isRequired).toBe(true);
      expect(hooks.find(({ hook }) => hook === "message_sending")).toMatchObject({
        failure: "closed",
        ifItFails: "the message is not sent",
      });
      const other = shared.host.inspect("other");
      expect(other.isRequired).toBe(false);
      expect(other.hooks.find(({ hook }) => hook === "message_sending")).toMatchObject({
        failure: "open",
        ifItFails: "messages go out as they are",
      });
    });
  });

  it("that answers changes nothing", async () => {
    const signs = requiring("signs", `api.on("message_sending", (event) => ({ content: event.content + "!" }));`);
    await using host = await open(isolation, { plugins: [signs] });
    expect(await host.run("message_sending", MESSAGE, CHAT)).toMatchObject({ decision: "pass", result: { content: "hello!" } });
  });

  it("that runs out of time ends the run", async () => {
    const slow = requiring("slow", `api.on("message_sending", () => new Promise(() => {}));`, { hooks: { timeoutMs: 20 } });
    await using host = await open(isolation, { plugins: [slow] });
    expect(await host.run("message_sending", MESSAGE, CHAT)).toMatchObject({
      decision: "cancel",
      by: "slow",
      calls: [{ status: "timeout" }],
    });
  });

  it("in quarantine ends the run", async () => {
    const filter = requiring("filter", `api.on("before_prompt_build", () => { ${FAILS} });`, { hooks: { allowConversationAccess: true } });
    await using host = await open(isolation, { plugins: [filter] });
    let out = await host.run("before_prompt_build", PROMPT);
    for (let at = 0; at < 50 && out.calls[0]?.status !== "quarantined"; at++) out = await host.run("before_prompt_build", PROMPT);
    expect(out).toMatchObject({ decision: "block", by: "filter", calls: [{ status: "quarantined" }] });
  });

  it("that may not listen, for want of a permission, is not there: its hook is shut", async () => {
    await using host = await open(isolation, { plugins: [requiring("reads", `api.on("before_prompt_build", () => {});`)] });
    expect(await host.run("before_prompt_build", PROMPT)).toMatchObject({
      decision: "block",
      by: "reads",
      calls: [{ status: "failed", error: { code: "ERR_CALL_REFUSED", message: expect.stringContaining("allowConversationAccess") } }],
    });
  });

  it("is not passed by in a run that another plugin's handler causes inside the same hook", async () => {
    const narrows = requiring("narrows", `api.on("before_prompt_build", () => ({ toolsAllow: [] }));`, {
      hooks: { allowConversationAccess: true },
    });
    const nests = plugin(
      "nests",
      `api.on("before_prompt_build", async () => { await api.session.get("k"); return {}; }, { priority: 9 });`,
      { hooks: { allowConversationAccess: true }, grants: { session: ["get"] } },
    );
    let inner: unknown;
    await using host = await open(isolation, {
      plugins: [nests, narrows],
      gateway: {
        getSession: async () => {
          inner = await host.run("before_prompt_build", PROMPT);
          return {};
        },
      },
    });
    expect(await host.run("before_prompt_build", PROMPT)).toMatchObject({ decision: "pass", result: { toolsAllow: [] } });
    expect(inner).toMatchObject({ decision: "block", by: "narrows" });
  });

  it("that does not load keeps every hook shut that is known of it; with none known and allowFailed, all of them", async () => {
    const files = { "creel.plugin.json": JSON.stringify({ id: "listed", hooks: ["message_sending"] }), "index.ts": "export default {{{" };
    await using known = await open(isolation, { plugins: [{ path: folder(files, QUICK), required: true }] });
    expect(await known.run("message_sending", MESSAGE, CHAT)).toMatchObject({ decision: "cancel", by: "listed" });
    expect((await known.run("before_tool_call", { toolName: "x", params: {} })).decision).toBe("pass");
    await using unknown = await open(isolation, {
      allowFailed: true,
      plugins: [{ id: "none", source: "export default {{{", required: true }],
    });
    expect(await unknown.run("message_sending", MESSAGE, CHAT)).toMatchObject({ decision: "cancel", by: "none" });
    expect(await unknown.run("before_model_resolve", { prompt: "p" })).toMatchObject({ decision: "block", by: "none" });
    expect((await unknown.run("session_start", { sessionId: "s" })).decision).toBe("pass");
  });

  it("is required by the operator's entry, which counts before the gateway's word", async () => {
    const filter = plugin("filter", `api.on("message_sending", () => { ${FAILS} });`);
    await using host = await open(isolation, { config: entries(true), plugins: [filter] });
    expect((await host.run("message_sending", MESSAGE, CHAT)).decision).toBe("cancel");
    await using other = await open(isolation, { config: entries(false), plugins: [{ ...filter, required: true }] });
    expect((await other.run("message_sending", MESSAGE, CHAT)).decision).toBe("pass");
  });

  it("that is neither named nor installed keeps openHost from resolving", async () => {
    const config = { plugins: { entries: { gone: { required: true }, off: { required: true, enabled: false } } } };
    const opening = open(isolation, { config });
    await expect(opening).rejects.toMatchObject({ code: "ERR_PLUGINS_FAILED", params: { ids: "gone" } });
    await expect(opening).rejects.toThrow('the plugin "gone" is required, but it is neither named nor installed');
  });

  it("is required as it was accepted when it was installed, and was tampered with since", async () => {
    const stateDir = join(folder({}, QUICK), "state");
    const source = `export default (api) => { api.on("message_sending", () => ({ content: "" })); };`;
    const files = await putInstalled(stateDir, "redact", source, { permissions: { required: true } });
    tamper(join(files, "bundle.js"), (code) => `${code}//`);
    await using host = await open(isolation, { config: { stateDir } });
    expect(await host.run("message_sending", MESSAGE, CHAT)).toMatchObject({
      decision: "cancel",
      by: "redact",
      reason: expect.stringContaining("bundle.js differs"),
    });
  });

  it("is not one because its manifest says so: that is a remark until the operator accepts it", async () => {
    const files = {
      "creel.plugin.json": JSON.stringify({ id: "wants", required: true }),
      "index.ts": `export default (api) => { api.on("message_sending", () => { ${FAILS} }); };`,
    };
    const path = folder(files, QUICK);
    await using host = await open(isolation, { plugins: [{ path }] });
    expect((await host.run("message_sending", MESSAGE, CHAT)).decision).toBe("pass");
    expect(host.inspect("wants").diagnostics).toContainEqual(expect.stringContaining("plugins.entries.wants.required, or"));
    await using accepting = await open(isolation, { config: { plugins: { entries: { wants: { required: true } } } }, plugins: [{ path }] });
    expect((await accepting.run("message_sending", MESSAGE, CHAT)).decision).toBe("cancel");
  });
});
