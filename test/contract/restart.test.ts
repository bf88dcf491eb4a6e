/** Quarantine survives a restart: the code that is in it is not loaded again, and its gates stay shut. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Host, OpenOptions } from "creel";
import { folder, write } from "../support/files.ts";
import { contract, open, recorder, statuses } from "../support/host.ts";

/** Says that it was loaded, and does as its events tell it. */
const GUARD = `export default (api) => {
  api.logger.warn("loaded");
  api.on("before_tool_call", () => { throw new Error("boom"); }, { priority: 50, matcher: ["web_search"] });
  api.on("message_sending", (event) => { if (event.content === "fail") throw new Error("boom"); return { content: "guarded" }; });
  api.on("session:end", () => {});
};`;
const NEIGHBOUR = {
  id: "neighbour",
  source: `export default (api) => { for (const hook of ["before_tool_call", "message_sending"]) api.on(hook, () => {}); };`,
};

const pass = (seconds: number) => void vi.setSystemTime(Date.now() + seconds * 1_000);
const send = (host: Host, content = "hello") => host.run("message_sending", { to: "x", content }, { channelId: "chat" });
const tool = (host: Host, toolName = "web_search") => host.run("before_tool_call", { toolName, params: {} });

async function fail(host: Host, times: number): Promise<void> {
  for (let time = 0; time < times; time++) await send(host, "fail");
}

async function quarantine(host: Host): Promise<void> {
  await fail(host, 15);
  pass(30);
  await fail(host, 1);
  pass(60);
  await fail(host, 1);
  expect(host.inspect("guard").status).toBe("quarantined");
}

contract("a restart", (isolation) => {
  let root: string;
  let stateDir: string;
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["Date"] });
    root = folder({ "guard.js": GUARD });
    stateDir = join(root, "state");
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllEnvs();
  });

  const start = (more: OpenOptions = {}) =>
    open(isolation, { config: { stateDir }, plugins: [{ path: join(root, "guard.js") }, NEIGHBOUR], ...more });
  const kept = () => (JSON.parse(readFileSync(join(stateDir, "quarantine.json"), "utf8")) as { plugins: Record<string, object> }).plugins;

  async function leave(bring: (host: Host) => Promise<void> = quarantine): Promise<void> {
    await using host = await start();
    await bring(host);
  }

  it("finds a plugin that was quarantined for good still there, its code not loaded and its gates shut", async () => {
    await leave();
    expect(kept()).toMatchObject({
      guard: { bundle: expect.stringMatching(/^sha256-/), state: "quarantined", opens: [1, 2, 3].map(() => expect.any(Number)) },
    });
    pass(365 * 24 * 3600);
    const { logger, lines } = recorder();
    await using host = await start({ logger });
    expect(host.inspect("guard")).toMatchObject({
      status: "quarantined",
      loadMs: undefined,
      error: { code: "ERR_PLUGIN_QUARANTINED" },
      circuit: { state: "quarantined", why: "it failed again and again: the handler threw: boom" },
    });
    expect(host.inspect("guard").hooks.map(({ hook, priority }) => [hook, priority])).toEqual([
      ["before_tool_call", 50],
      ["message_sending", 0],
      ["session:end", 0],
    ]);
    const blocked = await tool(host);
    expect(blocked).toMatchObject({ decision: "block", by: "guard" });
    expect(statuses(blocked)).toEqual(["guard:quarantined", "neighbour:skipped"]);
    expect(statuses(await send(host))).toEqual(["guard:quarantined", "neighbour:ok"]);
    // What it had registered for is what it stands in the way of, and nothing else.
    expect(statuses(await tool(host, "other"))).toEqual(["guard:skipped", "neighbour:ok"]);
    expect(lines.filter(({ message }) => message === "plugin log")).toEqual([]);
    expect(lines.filter(({ message }) => message === "a plugin's breaker changed")).toMatchObject([
      { level: "error", fields: { plugin: "guard", state: "quarantined" } },
    ]);
  });

  it("does not undo a release, which also loads the code that was not loaded before", async () => {
    await leave();
    {
      await using host = await start();
      expect(await host.release("guard")).toMatchObject({ status: "ready", circuit: { state: "closed" } });
      expect((await send(host)).result?.content).toBe("guarded");
    }
    expect(kept()).toEqual({});
    await using host = await start();
    expect(host.inspect("guard").status).toBe("ready");
  });

  it("finds an open breaker open until the same time; the plugin is loaded, and then tried", async () => {
    await leave((host) => fail(host, 15));
    const until = new Date(Date.now() + 30_000);
    pass(10);
    await using host = await start();
    expect(host.inspect("guard")).toMatchObject({ status: "ready", circuit: { state: "open", until, opens: 1 } });
    expect(statuses(await send(host))).toEqual(["guard:quarantined", "neighbour:ok"]);
    pass(20);
    expect(statuses(await send(host))).toEqual(["guard:ok", "neighbour:ok"]);
    expect(host.inspect("guard").circuit.state).toBe("closed");
  });

  it("counts openings from before", async () => {
    for (let time = 0; time < 2; time++) {
      await leave(async (host) => {
        await fail(host, 15);
        pass(30);
        await send(host);
      });
    }
    await using host = await start();
    expect(host.inspect("guard").circuit).toMatchObject({ state: "closed", opens: 2 });
    await fail(host, 15);
    expect(host.inspect("guard").status).toBe("quarantined");
  });

  it("with other code is another plugin", async () => {
    await leave();
    write(root, { "guard.js": GUARD.replace(`if (event.content === "fail")`, "if (false)") });
    const { logger, lines } = recorder();
    await using host = await start({ logger });
    expect(host.inspect("guard")).toMatchObject({ status: "ready", circuit: { state: "closed", opens: 0 } });
    expect((await send(host, "fail")).result?.content).toBe("guarded");
    expect(kept()).toEqual({});
    expect(lines.find(({ message }) => message === "a plugin's breaker changed")?.fields).toMatchObject({
      plugin: "guard",
      state: "released",
      why: "its code has changed",
    });
  });

  it("without the plugin, or with the plugin disabled, forgets nothing", async () => {
    await leave();
    await (await start({ plugins: [NEIGHBOUR] })).close();
    await (await start({ config: { stateDir, plugins: { entries: { guard: { enabled: false } } } } })).close();
    await using host = await start();
    expect(host.inspect("guard").status).toBe("quarantined");
  });

  it("after a broken file opens all the same, and says so", async () => {
    write(stateDir, { "quarantine.json": "{" });
    const { logger, lines } = recorder();
    await using host = await start({ logger });
    expect((await send(host)).result?.content).toBe("guarded");
    expect(lines.map(({ message }) => message)).toContain("the quarantine file is broken and was set aside");
  });

  it("stateDir is relative to the file it is written in", async () => {
    write(root, { "creel.json": JSON.stringify({ stateDir: "kept/here" }) });
    await using host = await start({ config: join(root, "creel.json") });
    await fail(host, 15);
    // The audit log is written when there is time.
    expect(readdirSync(join(root, "kept/here"))).toContain("quarantine.json");
  });

  it("CREEL_STATE_DIR wins over stateDir", async () => {
    vi.stubEnv("CREEL_STATE_DIR", join(root, "elsewhere"));
    await leave((host) => fail(host, 15));
    expect(readdirSync(join(root, "elsewhere"))).toContain("quarantine.json");
    expect(existsSync(stateDir)).toBe(false);
  });

  it("without a stateDir starts from nothing", async () => {
    {
      await using host = await start({ config: {} });
      await quarantine(host);
    }
    await using host = await start({ config: {} });
    expect(host.inspect("guard")).toMatchObject({ status: "ready", circuit: { state: "closed" } });
  });
});
