/** A plugin is loaded again while it serves: the new version takes over in one step, or the old one stays. No call is lost, and none meets both. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it, vi } from "vitest";
import type { Host } from "creel";
import { contract, next, open, openUnpinned, plugin, recorder, sharedHost, silent, statuses, until } from "../support/host.ts";
import { folder, QUICK, write } from "../support/files.ts";
import { putInstalled, tamper } from "../support/installed.ts";
import type { FoundPlugin } from "../../src/discovery/hook-plugins.ts";
import { openHostWith } from "../../src/sdk/open-host.ts";
import { openState } from "../../src/state/state.ts";
import type { Transaction } from "../../src/state/transaction.ts";

const message = (content = "") => ({ to: "x", content });

/** Says which version it is; "hold" takes a while. Odd versions register in another order, so that handlers have other numbers. */
function version(n: number, more = ""): string {
  const send = `api.on("message_sending", async (event) => { if (event.content === "hold") await new Promise((r) => setTimeout(r, 150)); return { content: event.content + " v${n}" }; });`;
  const tool = `api.registerTool({ name: "which", execute: () => ${n} });`;
  return `export default (api) => { ${n % 2 ? tool + send : send + tool} ${more} };`;
}

const said = async (host: Host, content = "") =>
  (await host.run("message_sending", message(content), { channelId: "chat" })).result?.content;

const service = (n: number, more = "") =>
  version(n, `api.registerService({ id: "s", start: () => console.log("start ${n}"), stop: () => console.log("stop ${n}") }); ${more}`);

const beats = (n: number) => version(n, `setInterval(() => console.log("${n}"), 20);`);

const GATE = `api.on("before_tool_call", () => {});`;

const both = (n: number) => {
  const first = `api.on("message_sending", (event) => ({ content: event.content + "[${n}" }), { priority: 1 });`;
  const last = `api.on("message_sending", async (event) => { await null; return { content: event.content + " ${n}]" }; }, { priority: -1 });`;
  return `export default (api) => { ${n % 2 ? first + last : `${last} api.on("session:patch", () => {}); ${first}`} };`;
};

/** Says what became of a question to its store, and which version it is. */
const asks = (n: string, more = "") =>
  `export default (api) => { api.on("message_sending", async (event) => (event.content === "hold" && await new Promise((r) => setTimeout(r, 100)), { content: event.content + " ${n} " + (await api.kv.get("x").then(() => "kept", () => "refused")) })); ${more} };`;

const runs = (host: Host, id: string) =>
  host.run("message_sending", message(), { channelId: "chat" }, { plugin: id }).then(({ result }) => result?.content);

const FAILING: Record<string, [source: string | undefined, code: string]> = {
  "cannot be bundled": [`export default (api) => {`, "ERR_PLUGIN_BUNDLE"],
  "is not there": [undefined, "ERR_PLUGIN_ENTRY"],
  "misses a module of Node's": [`import { start } from "node:repl"; export default () => start();`, "ERR_PLUGIN_MODULE"],
  "is no plugin": [`export default 5;`, "ERR_PLUGIN_EXPORT"],
  "throws while it loads": [version(9, `throw new Error("half done");`), "ERR_PLUGIN_LOAD"],
  "uses up its CPU time while it loads": [version(9, `for (;;);`), "ERR_CALL_CPU"],
  "uses up its heap while it loads": [version(9, `const a = []; for (;;) a.push("x".repeat(1e5) + a.length);`), "ERR_CALL_MEMORY"],
  "registers what is not valid": [version(9, `api.on("session:patch", () => {}, { priority: "high" });`), "ERR_PLUGIN_REGISTRATION"],
};

contract("reload", (isolation) => {
  describe("a version that fails leaves the one before in place", () => {
    const root = folder({ "p.js": version(1) }, QUICK);
    const { lines, logger } = recorder();
    const shared = sharedHost(isolation, {
      logger,
      config: { limits: { heapMb: 16 } },
      plugins: [{ path: join(root, "p.js") }],
    });

    it.each(Object.keys(FAILING))("one that %s", async (name) => {
      const { host } = shared;
      write(root, { "p.js": version(1) });
      const { error: none, ...before } = await host.reload("p");
      expect([before.status, none]).toEqual(["ready", undefined]);
      const [source, code] = FAILING[name]!;
      if (source === undefined) rmSync(join(root, "p.js"));
      else write(root, { "p.js": source });
      const told = next(host, "plugin");
      lines.length = 0;
      const reloading = host.reload("p");
      await until(reloading, async () => expect(await said(host)).toBe(" v1"));
      const { error, ...report } = await reloading;
      expect(error?.code).toBe(code);
      expect(error?.message).toMatch(/^the new version was not taken in, the one before goes on: /);
      // Nothing else is left of it.
      expect(report).toMatchObject(before);
      expect(host.inspect("p").error).toEqual(error);
      expect(await told).toMatchObject({ plugin: "p", status: "ready", error: expect.stringContaining(error!.message) });
      expect(lines).toContainEqual(
        expect.objectContaining({
          level: "error",
          message: "a new version of a plugin was not taken in",
          fields: expect.objectContaining({ plugin: "p" }),
        }),
      );
      expect(await said(host)).toBe(" v1");
      expect((await host.call({ tool: "which" })).value).toBe(1);
      expect(host.has("session:patch")).toBe(false);
    });

    it("and the next good one takes over", async () => {
      write(root, { "p.js": version(2) });
      expect(await shared.host.reload("p")).toMatchObject({ status: "ready", error: undefined });
      expect(await said(shared.host)).toBe(" v2");
    });

    it("its services go on, and are stopped when a good one comes", async () => {
      const { host } = shared;
      const heard: string[] = [];
      const off = host.on("log", ({ text }) => heard.push(text));
      write(root, { "p.js": service(3) });
      await host.reload("p");
      await vi.waitFor(() => expect(heard).toEqual(["start 3"]));
      write(root, { "p.js": service(4, `throw new Error("no");`) });
      expect((await host.reload("p")).error?.code).toBe("ERR_PLUGIN_LOAD");
      expect(host.services()).toMatchObject([{ id: "s", status: "running" }]);
      write(root, { "p.js": service(5) });
      await host.reload("p");
      await vi.waitFor(() => expect(heard).toEqual(["start 3", "stop 3", "start 5"]));
      off();
    });

    it("one that did not serve has failed, and its next good version is loaded", async () => {
      const { host } = shared;
      host.disable("p");
      write(root, { "p.js": "no code" });
      expect(await host.reload("p")).toMatchObject({ status: "failed", error: { code: "ERR_PLUGIN_BUNDLE" }, functions: [] });
      // What the version before registered is what is known of its hooks.
      expect(await host.run("message_sending", message(), { channelId: "chat" })).toMatchObject({
        decision: "pass",
        result: undefined,
        calls: [{ plugin: "p", status: "failed", error: { code: "ERR_PLUGIN_BUNDLE" } }],
      });
      write(root, { "p.js": version(6) });
      expect(await host.reload("p")).toMatchObject({ status: "ready", error: undefined });
      expect(await said(host)).toBe(" v6");
    });

    it("reloads of one plugin are made one after the other, and the last one counts", async () => {
      const { host } = shared;
      write(root, { "p.js": version(7) });
      const first = host.reload("p");
      await next(host, "plugin");
      write(root, { "p.js": version(8) });
      const [, , last] = await Promise.all([first, host.reload("p"), host.reload("p")]);
      expect(last.status).toBe("ready");
      expect(await said(host)).toBe(" v8");
    });
  });

  describe("what was begun with the old version", () => {
    const root = folder({ "p.js": version(0) }, QUICK);
    const slow = plugin(
      "a-slow",
      `api.on("message_sending", (event) => event.content === "wait" ? new Promise((r) => setTimeout(r, 150)) : undefined, { priority: 5 });`,
    );
    const shared = sharedHost(isolation, { lanes: 2, plugins: [slow, { path: join(root, "p.js") }] });

    it("is finished there, with its real answer, while new runs meet the new version", async () => {
      const { host } = shared;
      const running = [host.run("message_sending", message("hold"), { channelId: "chat" }), host.call({ tool: "which" })] as const;
      // One that reaches the plugin only after the swap was begun with the old version, too.
      const late = host.run("message_sending", message("wait"), { channelId: "chat" });
      await said(host);
      write(root, { "p.js": version(1) });
      await host.reload("p");
      expect(await said(host)).toBe(" v1");
      const [held, called] = await Promise.all(running);
      expect(held).toMatchObject({ result: { content: "hold v0" } });
      expect(statuses(held)).toEqual(["a-slow:ok", "p:ok"]);
      expect(called.value).toBe(0);
      expect((await late).result?.content).toBe("wait v0");
    });

    it("a call that never ends has its time, and no more; disabling the plugin ends it at once", async () => {
      const { host } = shared;
      const hangs = `export default (api) => { api.on("message_sending", () => new Promise(() => {}), { timeoutMs: 300 }); };`;
      write(root, { "p.js": hangs });
      await host.reload("p");
      const first = host.run("message_sending", message(), { channelId: "chat" });
      const reached = host.run("session:patch", {
        type: "session",
        action: "patch",
        sessionKey: "k",
        context: { sessionEntry: {}, patch: { key: "k" } },
      });
      await reached;
      write(root, { "p.js": version(1) });
      await host.reload("p");
      expect(statuses(await first)).toEqual(["a-slow:ok", "p:timeout"]);
      write(root, { "p.js": hangs.replace("300", "60_000") });
      await host.reload("p");
      const second = host.run("message_sending", message(), { channelId: "chat" });
      write(root, { "p.js": version(1) });
      await host.reload("p");
      host.disable("p");
      expect(statuses(await second)).toEqual(["a-slow:ok", "p:crashed"]);
      await host.reload("p");
    });

    it("its cell goes with its last call: of many versions only the last one is heard", async () => {
      const { host } = shared;
      let lastCall: Promise<string | undefined> | undefined;
      for (let n = 1; n <= 30; n++) {
        write(root, { "p.js": beats(n) });
        if (n === 30) lastCall = said(host, "hold");
        await host.reload("p");
      }
      // On a busy machine it may end after a call that began later, since it waits in another cell.
      expect(await lastCall).toBe("hold v29");
      expect(await said(host, "hold")).toBe("hold v30");
      const heard = new Set<string>();
      const off = host.on("log", ({ text }) => heard.add(text));
      // Longer than any of them waits for its next beat.
      expect(await said(host, "hold")).toBe("hold v30");
      off();
      expect([...heard]).toEqual(["30"]);
    });
  });

  it("under load, twenty reloads lose no call, and no run meets two versions", async () => {
    const root = folder({ "p.js": both(0) }, QUICK);
    const between = plugin("between", `api.on("message_sending", (event) => ({ content: event.content + "." }));`);
    await using host = await open(isolation, { lanes: 2, plugins: [{ path: join(root, "p.js") }, between] });
    const bad: unknown[] = [];
    const seen = new Set<string>();
    let made = 0;
    for (let n = 1; n <= 20; n++) {
      write(root, { "p.js": both(n) });
      const load = async (): Promise<void> => {
        const outcome = await host.run("message_sending", message(), { channelId: "chat" });
        made += 1;
        const content = outcome.result?.content ?? "";
        const [, one, two] = /^\[(\d+)\. (\d+)\]$/.exec(content) ?? [];
        seen.add(content);
        if (one === undefined || one !== two || outcome.calls.some(({ status }) => status !== "ok")) bad.push(outcome);
      };
      const reloading = host.reload("p");
      await Promise.all(Array.from({ length: 8 }, () => until(reloading, load)));
      expect((await reloading).error).toBeUndefined();
      expect(await said(host)).toBe(`[${n}. ${n}]`);
    }
    expect(bad).toEqual([]);
    expect(seen.size).toBeGreaterThan(10);
    expect(made).toBeGreaterThan(160);
  });

  it("of many reloads in flight the last one counts, however long each takes, and also if the plugin moves meanwhile", async () => {
    const root = folder({ "p.js": version(0) }, QUICK);
    const gates = [plugin("a", GATE), plugin("b", GATE)];
    await using host = await openUnpinned(isolation, { lanes: 2, plugins: [...gates, { path: join(root, "p.js") }] });
    let n = 0;
    for (let round = 1; round <= 10; round++) {
      const all = [];
      for (let count = 0; count < round; count++) {
        n += 1;
        // Every third has a hook of the others' lane, every fourth takes a while.
        const load = `${n % 3 ? "" : GATE} ${n % 4 ? "" : "return new Promise((done) => setTimeout(done, 10));"}`;
        write(root, { "p.js": version(n, load) });
        all.push(host.reload("p"));
        if (n % 5 === 0) await said(host);
      }
      const last = (await Promise.all(all)).at(-1);
      expect([last?.error, await said(host)]).toEqual([undefined, ` v${n}`]);
    }
  });

  it("each of several reloads says what became of its own version, also if a later one fails before its plugin has moved", async () => {
    const [a, b] = [plugin("a", GATE), plugin("b", GATE)];
    const root = folder({ "p.js": version(1) }, QUICK);
    await using host = await openUnpinned(isolation, { lanes: 2, plugins: [a, b, { path: join(root, "p.js") }] });
    const [{ lane }, { lane: before }] = [host.inspect("a"), host.inspect("p")];
    expect(before).not.toBe(lane);
    // With its new hook it belongs into the others' lane; the move waits for the second reload, which was requested before.
    write(root, { "p.js": version(2, GATE) });
    const first = host.reload("p");
    const second = host.reload("p");
    const off = host.on("plugin", () => write(root, { "p.js": "no code" }));
    const [good, bad] = await Promise.all([first, second]);
    off();
    expect(good).toMatchObject({ status: "ready", error: undefined });
    expect(bad).toMatchObject({ status: "ready", error: { code: "ERR_PLUGIN_BUNDLE" } });
    expect(host.inspect("p")).toMatchObject({ lane, error: bad.error });
    expect(await said(host)).toBe(" v2");
  });

  it("a host that closes does not wait for a version that is loading", async () => {
    const root = folder({ "p.js": version(1) }, QUICK);
    const host = await open(isolation, { plugins: [{ path: join(root, "p.js") }] });
    write(root, { "p.js": `export default async () => { console.log("loading"); await new Promise(() => {}); };` });
    const loading = next(host, "log");
    const reloading = host.reload("p");
    await loading;
    await Promise.all([host.close(), expect(reloading).rejects.toMatchObject({ code: "ERR_HOST_CLOSED" })]);
  });
});

contract("reload of an installed plugin", (isolation) => {
  const dir = join(folder({}, QUICK), "state");
  const hooks = [{ hook: "message_sending", priority: 0 }];
  const gated = [...hooks, { hook: "before_tool_call", priority: 0 }];
  const toolCall = { toolName: "t", params: {} };
  beforeAll(async () => {
    await putInstalled(dir, "m", asks("v1"));
    await putInstalled(dir, "sleeper", asks("s1"), { functions: [] });
  });
  const shared = sharedHost(isolation, { config: { stateDir: dir, plugins: { load: { lazy: false } } } });
  const change = (id: string, patch: Parameters<Transaction["update"]>[1]) =>
    openState(dir).transaction((tx) => tx.update(id, patch).enabled);

  it("takes in the new entry of the lock: version, code, grants and hooks together", async () => {
    const { host } = shared;
    expect(await runs(host, "m")).toBe(" v1 refused");
    await putInstalled(dir, "m", asks("v2", `api.on("before_tool_call", () => ({ block: true }));`), {
      version: "2.0.0",
      grants: { kv: true },
      hooks: gated,
    });
    expect(await runs(host, "m")).toBe(" v1 refused");
    expect(await host.reload("m")).toMatchObject({ status: "ready", version: "2.0.0", error: undefined, diagnostics: [] });
    expect(await runs(host, "m")).toBe(" v2 kept");
    expect((await host.run("before_tool_call", toolCall)).decision).toBe("block");
  });

  it("grants that were revoked are gone with the reload, and what the old version was at keeps its own", async () => {
    const { host } = shared;
    await change("m", { grants: {} });
    const held = host.run("message_sending", message("hold"), { channelId: "chat" }, { plugin: "m" });
    await host.reload("m");
    expect((await held).result?.content).toBe("hold v2 kept");
    expect(await runs(host, "m")).toBe(" v2 refused");
  });

  it("SECURITY: if the new version fails, the old code goes on with the old grants and the old hooks", async () => {
    const { host } = shared;
    await putInstalled(dir, "m", `throw new Error("no");`, { version: "3.0.0", grants: { kv: true }, hooks });
    expect(await host.reload("m")).toMatchObject({ status: "ready", version: "2.0.0", error: { code: "ERR_PLUGIN_LOAD" } });
    expect(await runs(host, "m")).toBe(" v2 refused");
    expect((await host.run("before_tool_call", toolCall)).decision).toBe("block");
    const files = await putInstalled(dir, "m", asks("v4"), { version: "4.0.0", grants: { kv: true } });
    tamper(join(files, "bundle.js"), (code) => code.replace("v4", "V4"));
    expect(await host.reload("m")).toMatchObject({ status: "ready", version: "2.0.0", error: { code: "ERR_STATE_CHANGED" } });
    expect(await runs(host, "m")).toBe(" v2 refused");
  });

  it("SECURITY: the gates of a version that did not serve, and whose next one fails, stay shut all the while", async () => {
    const { host } = shared;
    host.disable("m");
    await putInstalled(dir, "m", `export default async () => { await new Promise((r) => setTimeout(r, 50)); throw new Error("no"); };`, {
      version: "5.0.0",
      hooks: gated,
    });
    const block = async () => expect(await host.run("before_tool_call", toolCall)).toMatchObject({ decision: "block", by: "m" });
    expect(await host.reload("m")).toMatchObject({ status: "failed", error: { code: "ERR_PLUGIN_LOAD" } });
    await block();
    await until(host.reload("m"), block);
    await block();
    await putInstalled(dir, "m", asks("v6"), { version: "6.0.0", hooks: gated });
    expect(await host.reload("m")).toMatchObject({ status: "ready", version: "6.0.0", error: undefined });
    expect((await host.run("before_tool_call", toolCall)).decision).toBe("pass");
  });

  it("one that was disabled in the lock is disabled, and enabled again when it is", async () => {
    const { host } = shared;
    await change("m", { enabled: false });
    expect(await host.reload("m")).toMatchObject({ status: "disabled", diagnostics: [expect.stringContaining("creel enable m")] });
    expect(await runs(host, "m")).toBeUndefined();
    await change("m", { enabled: true });
    expect(await host.reload("m")).toMatchObject({ status: "ready", diagnostics: [] });
    expect(await runs(host, "m")).toBe(" v6 refused");
  });

  it("one that was installed since is taken in, in its place by id; one that was uninstalled is gone", async () => {
    const { host } = shared;
    await expect(host.reload("a-new")).rejects.toMatchObject({ code: "ERR_PLUGIN_UNKNOWN" });
    await putInstalled(dir, "a-new", asks("new"));
    expect(await host.reload("a-new")).toMatchObject({ id: "a-new", status: "ready" });
    expect(host.plugins().map(({ id }) => id)).toEqual(["a-new", "m", "sleeper"]);
    expect(await said(host)).toBe(" new refused v6 refused s1 refused");
    await openState(dir).transaction((tx) => tx.remove("a-new"));
    expect(await host.reload("a-new")).toMatchObject({ status: "disabled", diagnostics: ["it is not installed any more"] });
    expect(host.plugins().map(({ id }) => id)).toEqual(["m", "sleeper"]);
    expect(await said(host)).toBe(" v6 refused s1 refused");
    await expect(host.reload("a-new")).rejects.toMatchObject({ code: "ERR_PLUGIN_UNKNOWN" });
  });

  it("one that sleeps: the new version is loaded; if it fails, the old one sleeps on, and wakes as it was", async () => {
    await using host = await open(isolation, { config: { stateDir: dir } });
    expect(host.inspect("sleeper").status).toBe("asleep");
    await putInstalled(dir, "sleeper", `throw new Error("no");`, { version: "2.0.0", grants: { kv: true } });
    expect(await host.reload("sleeper")).toMatchObject({ status: "asleep", error: { code: "ERR_PLUGIN_LOAD" } });
    expect(await runs(host, "sleeper")).toBe(" s1 refused");
    await putInstalled(dir, "sleeper", asks("s3"), { version: "3.0.0", grants: { kv: true } });
    expect(await host.reload("sleeper")).toMatchObject({ status: "ready", version: "3.0.0", error: undefined });
    expect(await runs(host, "sleeper")).toBe(" s3 kept");
  });

  it("the last one wins: one that finds it disabled does not call off one that was requested since, and finds it enabled", async () => {
    const own = join(folder({}, QUICK), "state");
    await putInstalled(own, "m", asks("v1"));
    let finds = 0;
    // What the lock says at each look: enabled, disabled, enabled.
    const revise = (found: FoundPlugin): FoundPlugin => (++finds === 2 ? { ...found, off: "the operator disabled it" } : found);
    const options = { isolation, lanes: 1, logger: silent, config: { stateDir: own, sandbox: { spare: false, walls: "none" as const } } };
    await using host = await openHostWith(options, { revise });
    const [first, last] = await Promise.all([host.reload("m"), host.reload("m")]);
    expect([first.status, last.status, finds]).toEqual(["disabled", "ready", 3]);
    expect(await runs(host, "m")).toBe(" v1 refused");
    // One that was requested before it was disabled does not undo that.
    const undone = host.reload("m");
    host.disable("m");
    expect((await undone).status).toBe("disabled");
    expect(await runs(host, "m")).toBeUndefined();
  });

  it("a lock that is broken changes nothing, and says so", async () => {
    const { host } = shared;
    tamper(join(dir, "creel.lock"), (text) => text.replace('"enabled": true', '"enabled": false'));
    expect(await host.reload("m")).toMatchObject({ status: "ready", version: "6.0.0", error: { code: "ERR_STATE_LOCK" } });
    await expect(host.reload("a-new")).rejects.toMatchObject({ code: "ERR_STATE_LOCK" });
    expect(await runs(host, "m")).toBe(" v6 refused");
  });
});

/** Has the sandbox crash whenever a plugin says that it is being loaded. For the second time that is where it can hurt nobody else. */
function killsLoading(host: Host): () => void {
  let times = 0;
  return host.on("log", () => process.kill(host.pids().at(times++ === 0 ? 0 : -1)!, "SIGABRT"));
}

describe("a sandbox that dies during a reload", () => {
  const root = folder({ "p.js": version(1) }, QUICK);
  const shared = sharedHost("process", { plugins: [{ path: join(root, "p.js") }, plugin("other", "")] });

  it.each([
    ["fails then", `throw new Error("no");`, "ERR_PLUGIN_LOAD", " v1"],
    ["loads then", "", undefined, " v2"],
  ])("the old version serves until the end of it: a new one that %s", async (_, then, code, after) => {
    const { host } = shared;
    write(root, { "p.js": version(1) });
    await host.reload("p");
    write(root, {
      "p.js": version(2).replace(
        "(api) => {",
        `async (api) => { console.log("loading"); await new Promise((r) => setTimeout(r, 200)); ${then}`,
      ),
    });
    const loading = next(host, "log");
    const restarted = next(host, "restart");
    const reloading = host.reload("p");
    await loading;
    process.kill(host.pids()[0]!, "SIGKILL");
    await restarted;
    expect(await said(host)).toBe(" v1");
    expect((await reloading).error?.code).toBe(code);
    expect(await said(host)).toBe(after);
  });

  it("one that takes the sandbox down whenever it is loaded is given up, and the old version serves", async () => {
    const { host } = shared;
    write(root, { "p.js": version(1) });
    await host.reload("p");
    write(root, { "p.js": version(2).replace("(api) => {", `async (api) => { console.log("loading"); await new Promise(() => {});`) });
    const off = killsLoading(host);
    const { error, circuit, status } = await host.reload("p");
    off();
    expect(error).toMatchObject({
      code: "ERR_PLUGIN_QUARANTINED",
      message: expect.stringContaining("it took the sandbox down again while it was loaded"),
    });
    expect([status, circuit]).toMatchObject(["ready", { state: "closed", points: 0, kills: 0 }]);
    expect(await said(host)).toBe(" v1");
  });

  it("SECURITY: a gate that took it down before it was ever loaded stays shut", async () => {
    const dir = join(folder({}, QUICK), "state");
    const source = `export default async () => { console.log("loading"); await new Promise(() => {}); };`;
    await putInstalled(dir, "guard", source, { hooks: [{ hook: "before_tool_call", priority: 0 }], enabled: false });
    await using host = await open("process", { config: { stateDir: dir } });
    await openState(dir).transaction((tx) => tx.update("guard", { enabled: true }).id);
    killsLoading(host);
    expect((await host.reload("guard")).status).toBe("quarantined");
    expect(await host.run("before_tool_call", { toolName: "t", params: {} })).toMatchObject({ decision: "block", by: "guard" });
  });

  it("calls that an old version was at are made once more, by that version", async () => {
    const { host } = shared;
    write(root, { "p.js": version(3) });
    await host.reload("p");
    const running = host.run("message_sending", message("hold"), { channelId: "chat" });
    await host.run("message_sending", message(), { channelId: "chat" });
    write(root, { "p.js": version(4) });
    await host.reload("p");
    const restarted = next(host, "restart");
    process.kill(host.pids()[0]!, "SIGKILL");
    await restarted;
    expect((await running).result?.content).toBe("hold v3");
    expect(await said(host)).toBe(" v4");
  });
});
