/** What a plugin may export, what its api tells it, and what is said about registrations that are not accepted. */
import { expect, it } from "vitest";
import { sending, toolCall } from "../support/actors.ts";
import { contract, open, plugin, sharedHost } from "../support/host.ts";
import { folder } from "../support/files.ts";

const SIGN = `api.on("message_sending", (e) => ({ content: e.content + "+" + api.id }));`;
const FORMS: Record<string, string> = {
  "define-plugin": `import { definePlugin } from "creel/plugin"; export default definePlugin({ id: "define-plugin", name: "D", register(api) { ${SIGN} } });`,
  "plain-object": `export default { id: "plain-object", register(api) { ${SIGN} } };`,
  function: `export default function (api) { ${SIGN} }`,
  arrow: `export default (api) => { ${SIGN} };`,
  "class-instance": `class P { id = "class-instance"; #word = "+"; register(api) { api.on("message_sending", (e) => ({ content: e.content + this.#word + api.id })); } } export default new P();`,
  "async-register": `export default { register: async (api) => { await new Promise((r) => setTimeout(r, 20)); ${SIGN} } };`,
  "common-js": `module.exports = { register(api) { ${SIGN} } };`,
  "openclaw-sdk": `import { definePluginEntry } from "openclaw/plugin-sdk/plugin-entry"; export default definePluginEntry({ id: "openclaw-sdk", register(api) { ${SIGN} } });`,
};

contract("forms of plugins", (isolation) => {
  const shared = sharedHost(isolation, { lanes: 2, plugins: Object.entries(FORMS).map(([id, source]) => ({ id, source })) });

  it.each(Object.keys(FORMS))("%s loads", (id) => {
    expect(shared.host.inspect(id)).toMatchObject({ id, status: "ready", error: undefined, diagnostics: [] });
    expect(shared.host.inspect(id).loadMs).toBeGreaterThan(0);
    expect(shared.host.inspect(id).bundle?.digest).toMatch(/^sha256-/);
  });

  it("each of them is called, once", async () => {
    const outcome = await shared.host.run("message_sending", sending({}, ""), { channelId: "chat" });
    expect(outcome.result?.content).toBe(
      Object.keys(FORMS)
        .map((id) => `+${id}`)
        .join(""),
    );
  });

  it("register runs once per cell, however many runs there are", async () => {
    await using host = await open(isolation, {
      plugins: [
        plugin("p", `globalThis.n = (globalThis.n ?? 0) + 1; api.on("message_sending", () => ({ content: String(globalThis.n) }));`),
      ],
    });
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => host.run("message_sending", sending({}), { channelId: "chat" })));
    expect(new Set(outcomes.map(({ result }) => result?.content))).toEqual(new Set(["1"]));
  });

  it("the api says who the plugin is and what it was configured with", async () => {
    const path = folder({
      "creel.plugin.json": `{ "id": "facts", "name": "Facts", "version": "3.2.1" }`,
      "index.js": `export default (api) => { api.on("message_sending", () => ({ cancelReason: JSON.stringify([api.id, api.name, api.version, api.pluginConfig]) })); };`,
    });
    await using host = await open(isolation, {
      plugins: [{ path, config: { b: 2 } }],
      config: { plugins: { entries: { facts: { config: { a: 1, b: 1 } } } } },
    });
    const { result } = await host.run("message_sending", sending({}), { channelId: "chat" });
    expect(JSON.parse(result!.cancelReason!)).toEqual(["facts", "Facts", "3.2.1", { a: 1, b: 2 }]);
  });

  it("an entry of OpenClaw's own kind loads its parts by the names of their files", async () => {
    const path = folder({
      "openclaw.plugin.json": `{ "id": "parted" }`,
      "package.json": `{ "type": "module" }`,
      "index.ts": `import { defineBundledChannelEntry, loadBundledEntryExportSync } from "openclaw/plugin-sdk/channel-entry-contract";
        export default defineBundledChannelEntry({
          id: "parted", name: "Parted", description: "", importMetaUrl: import.meta.url,
          plugin: { specifier: "./channel.js", exportName: "channel" },
          runtime: { specifier: "./src/runtime.js", exportName: "setRuntime" },
          registerFull: (api) => loadBundledEntryExportSync<(api: unknown) => void>(import.meta.url, { specifier: "./tools.js", exportName: "registerTools" })(api),
        });`,
      "channel.ts": `throw new Error("nobody needs the channel");`,
      "runtime.ts": `let runtime: unknown; export const setRuntime = (given: unknown) => void (runtime = given); export const getRuntime = () => runtime;`,
      "tools.ts": `import { getRuntime } from "./runtime.js"; export const registerTools = (api) => { ${SIGN} api.registerTool({ name: "same", execute: () => getRuntime() === api.runtime }); };`,
    });
    await using host = await open(isolation, { plugins: [{ path }] });
    const { result } = await host.run("message_sending", sending({}), { channelId: "chat" });
    expect(result?.content).toMatch(/\+parted$/);
    expect((await host.call({ tool: "same" }, {})).value).toBe(true);
  });

  it("a plugin that calls itself something else keeps the operator's id, with a diagnostic", async () => {
    await using host = await open(isolation, { plugins: [{ id: "real", source: `export default { id: "false", register() {} };` }] });
    expect(host.inspect("real").diagnostics).toEqual(['the plugin calls itself "false"; here it is "real"']);
  });

  it("an unknown hook is accepted with a diagnostic that guesses what was meant, and the rest works", async () => {
    await using host = await open(isolation, {
      plugins: [plugin("typo", `api.on("before_toolcall", () => {}); api.on("session:nothing", () => {}); ${SIGN}`)],
    });
    expect(host.inspect("typo")).toMatchObject({
      status: "ready",
      diagnostics: [
        'there is no hook named "before_toolcall"; did you mean "before_tool_call"?',
        'there is no hook named "session:nothing"',
      ],
    });
    expect((await host.run("message_sending", sending({}, ""), { channelId: "chat" })).result?.content).toBe("+typo");
  });

  it("api.on after register is refused inside the plugin", async () => {
    await using host = await open(isolation, {
      plugins: [plugin("late", `api.on("before_tool_call", () => { api.on("message_sending", () => {}); });`)],
    });
    const outcome = await host.run("before_tool_call", toolCall({}));
    expect(outcome.reason).toContain('api.on("message_sending") was called after register had returned');
    expect(host.has("message_sending")).toBe(false);
  });

  it("a disabled entry is listed and not loaded", async () => {
    await using host = await open(isolation, {
      plugins: [plugin("off", SIGN)],
      config: { plugins: { entries: { off: { enabled: false } } } },
    });
    expect(host.inspect("off")).toMatchObject({ status: "disabled", bundle: undefined });
    expect(host.has("message_sending")).toBe(false);
  });
});
