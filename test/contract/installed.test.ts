/** What was installed is loaded from the state folder, as it was accepted, or not at all. */
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { openHost } from "creel";
import { folder, QUICK } from "../support/files.ts";
import { putInstalled, tamper } from "../support/installed.ts";
import { contract, open, plugin, recorder, sharedHost, silent } from "../support/host.ts";

const SAYS = (what: string) => `export default (api) => {
  api.on("message_sending", (event) => ({ content: event.content + " ${what}" }));
};`;

contract("installed plugins", (isolation) => {
  const stateDir = join(folder({}, QUICK), "state");
  let tampered = "";
  beforeAll(async () => {
    await putInstalled(stateDir, "b-second", SAYS("b"));
    await putInstalled(stateDir, "a-first", SAYS("a"));
    await putInstalled(stateDir, "off", SAYS("off"), { enabled: false });
    await putInstalled(stateDir, "own", SAYS("installed"));
    await putInstalled(
      stateDir,
      "talks",
      `export default (api) => {
        api.on("llm_input", () => {});
        api.on("session_start", () => {}, { priority: 9 });
        api.on("before_tool_call", () => ({ block: true }));
        api.on("session_start", async () => { await api.kv.set("x", process.env.CREEL_TEST_SEEN ?? "unseen"); console.log(await api.kv.get("x"), api.pluginConfig.colour); });
      };`,
      {
        grants: { kv: true, env: ["CREEL_TEST_SEEN"] },
        permissions: { allowConversationAccess: true },
        hooks: [
          { hook: "llm_input", priority: 0 },
          { hook: "session_start", priority: 0 },
        ],
      },
    );
    await putInstalled(
      stateDir,
      "tools",
      `export default (api) => {
        for (const name of ["weather", "other"])
          api.registerTool({ name, description: "d", parameters: {}, execute: async () => ({ content: [{ type: "text", text: "rain" }] }) });
        api.registerCommand({ name: "weather", description: "d", handler: () => ({ text: "rain" }) });
        api.registerGatewayMethod("weather.get", ({ respond }) => respond(true, {}));
        api.registerService({ id: "weather", start() {} });
      };`,
      { hooks: [], functions: [{ kind: "tool", name: "weather" }] },
    );
    tampered = await putInstalled(stateDir, "tampered", SAYS("tampered"));
    tamper(join(tampered, "bundle.js"), (code) => code.replace("tampered", "TAMPERED"));
  });
  const lines = recorder();
  process.env.CREEL_TEST_SEEN = "seen";
  const shared = sharedHost(isolation, {
    logger: lines.logger,
    config: { stateDir, plugins: { entries: { talks: { config: { colour: "red" } } } } },
    plugins: [plugin("own", `api.on("message_sending", (event) => ({ content: event.content + " own" }));`)],
  });

  it("come after those that were named, by id; one of an id that was named is left out", async () => {
    const { result } = await shared.host.run("message_sending", { to: "x", content: "said" }, { channelId: "chat" });
    expect(result?.content).toBe("said own a b");
    expect(lines.lines.filter(({ level }) => level === "warn").map(({ fields, message }) => [fields.plugin, message])).toContainEqual([
      "own",
      "skipped an installed plugin: the configuration names another one of its id",
    ]);
  });

  it("one whose code was changed is not loaded, and the message names the file; the others are", () => {
    expect(shared.host.inspect("tampered")).toMatchObject({
      status: "failed",
      // Its place in the plan, with nothing behind it.
      hooks: [{ hook: "message_sending", failure: "open" }],
      error: {
        code: "ERR_STATE_CHANGED",
        message: `Creel did not load the plugin "tampered": ${join(tampered, "bundle.js")} differs from what was installed`,
      },
    });
  });

  it("and is a line in the runs of its hooks", async () => {
    const { calls } = await shared.host.run("message_sending", { to: "x", content: "said" }, { channelId: "chat" });
    expect(calls.find(({ plugin: id }) => id === "tampered")).toMatchObject({ status: "failed", error: { code: "ERR_STATE_CHANGED" } });
  });

  it("a gate of one that cannot be loaded stays closed, until it is taken out of the way", async () => {
    const dir = join(folder({}, QUICK), "state");
    const files = await putInstalled(dir, "guard", `export default (api) => { api.on("before_tool_call", () => {}); };`, {
      hooks: [{ hook: "before_tool_call", priority: 5 }],
    });
    await putInstalled(dir, "throws", `throw new Error("no");`, { hooks: [{ hook: "before_tool_call", priority: 0 }] });
    tamper(join(files, "bundle.js"), () => "module.exports = () => {};");
    await using host = await open(isolation, { config: { stateDir: dir } });
    expect(host.inspect("guard").status).toBe("failed");
    expect(await host.run("before_tool_call", { toolName: "x", params: {} })).toMatchObject({ decision: "block", by: "guard" });
    host.disable("guard");
    expect(await host.run("before_tool_call", { toolName: "x", params: {} })).toMatchObject({ decision: "block", by: "throws" });
    host.disable("throws");
    expect((await host.run("before_tool_call", { toolName: "x", params: {} })).decision).toBe("pass");
  });

  it("one that was disabled is shown as such, with what enables it", () => {
    expect(shared.host.inspect("off")).toMatchObject({
      status: "disabled",
      diagnostics: ['it is disabled: "creel enable off" enables it'],
    });
  });

  it("have the grants and permissions of the lock, and the config of creel.json", async () => {
    expect(shared.host.inspect("talks").hooks.map(({ hook }) => hook)).toEqual(["llm_input", "session_start"]);
    await shared.host.run("session_start", { sessionId: "s" });
    expect(lines.lines.find(({ fields }) => fields.plugin === "talks" && fields.text !== undefined)?.fields.text).toBe("seen red");
  });

  it("do not get a hook that they did not ask for when they were accepted", async () => {
    const leftOut = shared.host.inspect("talks").diagnostics.filter((line) => line.includes("is left out"));
    expect(leftOut).toEqual([
      expect.stringContaining('"session_start" at priority 9 is left out: the plugin did not ask for it when it was accepted'),
      '"before_tool_call" at priority 0 is left out: the plugin did not ask for it when it was accepted; "creel update talks" looks at it again',
    ]);
    expect((await shared.host.run("before_tool_call", { toolName: "x", params: {} })).decision).toBe("pass");
  });

  it("do not get a tool, command or service that they did not have when they were accepted", async () => {
    expect(shared.host.tools().map(({ plugin: id, name }) => `${id} ${name}`)).toEqual(["tools weather"]);
    expect([shared.host.commands(), shared.host.methods(), shared.host.services()]).toEqual([[], [], []]);
    const why = 'is left out: the plugin did not have it when it was accepted; "creel update tools" looks at it again';
    const kinds = ['tool "other"', 'command "weather"', 'method "weather.get"', 'service "weather"'];
    expect(shared.host.inspect("tools").diagnostics).toEqual(kinds.map((what) => `the ${what} ${why}`));
    await expect(shared.host.call({ tool: "other" }, {})).rejects.toMatchObject({ code: "ERR_FUNCTION_UNKNOWN" });
    expect((await shared.host.call({ tool: "weather" }, {})).value).toMatchObject({ content: [{ text: "rain" }] });
  });

  it("are compared again whenever they are loaded", async () => {
    const dir = join(folder({}, QUICK), "state");
    const files = await putInstalled(dir, "later", SAYS("later"));
    await using host = await open(isolation, { config: { stateDir: dir } });
    expect(host.inspect("later").status).toBe("ready");
    tamper(join(files, "manifest.json"), (text) => `${text} `);
    expect(await host.reload("later")).toMatchObject({ status: "ready", error: { code: "ERR_STATE_CHANGED" } });
    host.disable("later");
    expect(await host.reload("later")).toMatchObject({ status: "failed", error: { code: "ERR_STATE_CHANGED" } });
  });
});

describe("a lock", () => {
  it("that was changed keeps a host from opening: a guard may be missing from it", async () => {
    const stateDir = join(folder({}, QUICK), "state");
    await putInstalled(stateDir, "guard", SAYS("guard"));
    tamper(join(stateDir, "creel.lock"), (text) => text.replace('"enabled": true', '"enabled": false'));
    await expect(openHost({ isolation: "thread", logger: silent, config: { stateDir } })).rejects.toMatchObject({ code: "ERR_STATE_LOCK" });
  });
});

async function says(options: Parameters<typeof openHost>[0]): Promise<unknown> {
  await using host = await openHost({ isolation: "thread", lanes: 1, logger: silent, ...options });
  return (await host.run("message_sending", { to: "me", content: "x" }, { channelId: "c" })).result?.content;
}

describe("a lock that is sealed with a key", () => {
  const KEY = "a key that lies elsewhere";
  const FACTS = { grants: {}, permissions: {} } as const;

  it("opens with the key of the configuration's file or variable, or of the option, and with no other", async () => {
    const where = folder({ "lock.key": `${KEY}\n` }, QUICK);
    const stateDir = join(where, "state");
    await putInstalled(stateDir, "keyed", SAYS("keyed"), FACTS, Buffer.from(KEY));
    expect(await says({ config: { stateDir, lockKey: { file: join(where, "lock.key") } } })).toBe("x keyed");
    expect(await says({ config: { stateDir }, lockKey: KEY })).toBe("x keyed");
    expect(await says({ config: { stateDir }, lockKey: Buffer.from(KEY) })).toBe("x keyed");
    process.env.CREEL_TEST_LOCK_KEY = KEY;
    const config = { stateDir, lockKey: { env: "CREEL_TEST_LOCK_KEY" } };
    expect(await says({ config })).toBe("x keyed");
    await expect(says({ config: { stateDir } })).rejects.toMatchObject({ code: "ERR_STATE_LOCK" });
    await expect(says({ config: { stateDir }, lockKey: `${KEY}!` })).rejects.toMatchObject({ code: "ERR_STATE_LOCK" });
    await expect(says({ config: { stateDir }, lockKey: "short" })).rejects.toMatchObject({ code: "ERR_HOST_OPTIONS" });
    const entries = { keyed: { grants: { env: ["CREEL_TEST_LOCK_KEY"] } } };
    await expect(says({ config: { ...config, plugins: { entries } } })).rejects.toMatchObject({ code: "ERR_CONFIG_INVALID" });
    delete process.env.CREEL_TEST_LOCK_KEY;
    await expect(says({ config })).rejects.toMatchObject({ code: "ERR_CONFIG_INVALID", message: expect.stringContaining("is not set") });
  });

  it("the key is in no log line, no error, no report, and not in a plugin's api.config", async () => {
    const stateDir = join(folder({}, QUICK), "state");
    const source = `export default (api) => { api.on("message_sending", () => ({ content: JSON.stringify(api.config) })); };`;
    await putInstalled(stateDir, "nosy", source, FACTS, Buffer.from(KEY));
    const lines = recorder();
    process.env.CREEL_TEST_LOCK_KEY = KEY;
    const config = { stateDir, lockKey: { env: "CREEL_TEST_LOCK_KEY" } };
    await using host = await openHost({ isolation: "thread", lanes: 1, logger: lines.logger, config });
    const seen = await host.run("message_sending", { to: "me", content: "x" }, { channelId: "c" });
    process.env.CREEL_TEST_LOCK_KEY = `${KEY}, another`;
    const refused: unknown = await says({ config }).catch((error: unknown) => error);
    delete process.env.CREEL_TEST_LOCK_KEY;
    const said = JSON.stringify([lines.lines, seen, host.plugins(), refused, String(refused)]);
    expect(said).toContain("ERR_STATE_LOCK");
    expect(said).not.toContain(KEY);
    expect(seen.result?.content).not.toContain("LOCK_KEY");
  });
});
