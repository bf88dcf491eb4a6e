/** Hosts and plugins over time: reload (more of it in reload.test.ts), disable, has, close. Nothing that was in flight is lost or left hanging. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { actor, ask, patched, sending } from "../support/actors.ts";
import { contract, next, open, plugin, sharedHost, statuses } from "../support/host.ts";
import { folder, write } from "../support/files.ts";
import { putInstalled } from "../support/installed.ts";

const SLOW = `async await new Promise((r) => setTimeout(r, 150)); return { content: "done" }`;

contract("lifecycle", (isolation) => {
  describe("open", () => {
    it("plugins are loaded in their order, though a later one is there sooner", async () => {
      const tell = `const at = Date.now(); api.on("message_sending", (e) => ({ content: e.content + at + " " }));`;
      // What is installed was bundled long ago; what is named comes first, and is bundled now.
      const stateDir = join(folder({}), "state");
      for (const id of ["a", "b"]) await putInstalled(stateDir, id, `export default (api) => { ${tell} };`);
      const config = { stateDir, plugins: { load: { lazy: false } } };
      await using host = await open(isolation, { plugins: [plugin("c", tell)], config });
      const { result } = await host.run("message_sending", { to: "x", content: "" }, { channelId: "chat" });
      const loaded = result!.content!.trim().split(" ").map(Number);
      expect(loaded).toHaveLength(3);
      expect(loaded).toEqual(loaded.toSorted((a, b) => a - b));
    });

    it("rejects when its plugins cannot be found, and leaves nothing behind", async () => {
      await expect(open(isolation, { plugins: [{ path: `${folder({})}/nowhere` }] })).rejects.toMatchObject({
        code: "ERR_PLUGINS_FAILED",
        message: expect.stringContaining('"nowhere" (the plugin at "'),
      });
      await expect(open(isolation, { plugins: [plugin("a", ""), plugin("a", "")] })).rejects.toMatchObject({
        code: "ERR_PLUGIN_DUPLICATE",
      });
    });
  });

  describe("reload", () => {
    it("picks up the changed source file", async () => {
      const root = folder({ "greet.ts": `export default (api: any) => { api.on("message_sending", () => ({ content: "one" })); };` });
      await using host = await open(isolation, { plugins: [{ path: `${root}/greet.ts` }] });
      expect((await host.run("message_sending", sending({}), { channelId: "chat" })).result?.content).toBe("one");
      write(root, {
        "greet.ts": `export default (api: any) => { api.on("session:patch", () => {}); api.on("message_sending", () => ({ content: "two" })); };`,
      });
      expect((await host.run("message_sending", sending({}), { channelId: "chat" })).result?.content).toBe("one");
      const report = await host.reload("greet");
      expect(report).toMatchObject({ status: "ready", hooks: [{ hook: "session:patch" }, { hook: "message_sending" }] });
      expect((await host.run("message_sending", sending({}), { channelId: "chat" })).result?.content).toBe("two");
      expect(host.has("session:patch")).toBe(true);
    });

    it("starts the plugin's state afresh and leaves its neighbours' alone", async () => {
      await using host = await open(isolation, { plugins: [actor("a"), actor("b")] });
      const before = [await ask(host, "a", "state.born"), await ask(host, "b", "state.born")];
      await host.reload("a");
      const after = [await ask(host, "a", "state.born"), await ask(host, "b", "state.born")];
      expect(after[0]).not.toBe(before[0]);
      expect(after[1]).toBe(before[1]);
    });

    it("a plugin that is disabled meanwhile stays disabled, and the reload ends", async () => {
      await using host = await open(isolation, { plugins: [actor("a")] });
      const reloading = host.reload("a");
      host.disable("a");
      expect((await reloading).status).toBe("disabled");
      expect(host.has("message_sending")).toBe(false);
    });
  });

  describe("disable", () => {
    it("ends a plugin's listening at once, and the others go on", async () => {
      await using host = await open(isolation, { plugins: [actor("a"), actor("b")] });
      const told = next(host, "plugin");
      host.disable("a");
      expect(await told).toMatchObject({ plugin: "a", status: "disabled" });
      expect(host.inspect("a")).toMatchObject({ status: "disabled", hooks: [] });
      const outcome = await host.run("message_sending", sending({ a: `return { content: "a" }`, b: `return { content: "b" }` }), {
        channelId: "chat",
      });
      expect(statuses(outcome)).toEqual(["b:ok"]);
      host.disable("b");
      expect(host.has("message_sending")).toBe(false);
      expect(await host.run("message_sending", sending({}), { channelId: "chat" })).toMatchObject({ decision: "pass", calls: [] });
    });

    it("answers the calls that are in flight at once", async () => {
      await using host = await open(isolation, { plugins: [actor("a"), actor("b", { priority: -1 })] });
      const running = host.run("message_sending", sending({ a: `return new Promise(() => {})`, b: `return { content: "b" }` }), {
        channelId: "chat",
      });
      await host.run("message_sending", sending({}), { channelId: "chat" });
      host.disable("a");
      const outcome = await running;
      expect(statuses(outcome)).toEqual(["a:crashed", "b:ok"]);
      expect(outcome.result?.content).toBe("b");
    });

    it("can be undone with reload", async () => {
      await using host = await open(isolation, { plugins: [actor("a")] });
      host.disable("a");
      expect((await host.reload("a")).status).toBe("ready");
      expect((await host.run("message_sending", sending({ a: `return { content: "back" }` }), { channelId: "chat" })).result?.content).toBe(
        "back",
      );
    });
  });

  describe("has", () => {
    const shared = sharedHost(isolation, { plugins: [plugin("p", `api.on("message_sending", () => {}); api.on("session", () => {});`)] });

    it("is true where somebody listens, by family too, and false elsewhere", () => {
      expect(shared.host.has("message_sending")).toBe(true);
      expect(shared.host.has("session:patch")).toBe(true);
      expect(shared.host.has("before_tool_call")).toBe(false);
      expect(shared.host.has("no_such" as never)).toBe(false);
    });

    it("a run that nobody listens to passes with no calls and no result", async () => {
      expect(await shared.host.run("before_tool_call", { toolName: "t", params: {} })).toMatchObject({
        hook: "before_tool_call",
        decision: "pass",
        result: undefined,
        calls: [],
      });
      expect(shared.host.runSync("tool_result_persist", { message: {} })).toMatchObject({ decision: "pass", calls: [] });
    });

    it("every run has an id of its own", async () => {
      const outcomes = await Promise.all(
        Array.from({ length: 10 }, () => shared.host.run("message_sending", sending({}), { channelId: "chat" })),
      );
      expect(new Set(outcomes.map(({ runId }) => runId)).size).toBe(10);
    });
  });

  describe("close", () => {
    it("lets runs and emitted events in flight finish", async () => {
      const host = await open(isolation, { plugins: [actor("a")] });
      const emitted = next(host, "run", ({ outcome }) => outcome.hook === "session:patch");
      const runs = Array.from({ length: 5 }, () => host.run("message_sending", sending({ a: SLOW }), { channelId: "chat" }));
      host.emit("session:patch", patched({ a: SLOW }));
      const closing = host.close();
      await expect(host.run("message_sending", sending({}), { channelId: "chat" })).rejects.toMatchObject({ code: "ERR_HOST_CLOSED" });
      expect((await Promise.all(runs)).map(({ result }) => result?.content)).toEqual(Array(5).fill("done"));
      expect(statuses((await emitted).outcome)).toEqual(["a:ok"]);
      await closing;
    });

    it("gives up on what does not finish: it is settled, not left hanging", async () => {
      const host = await open(isolation, { plugins: [actor("a")] });
      const running = host.run("message_sending", sending({ a: `return new Promise(() => {})` }), { channelId: "chat" });
      await host.close();
      expect((await running).calls[0]).toMatchObject({ status: "crashed", error: { code: "ERR_SANDBOX_DIED" } });
    });

    it("twice is once", async () => {
      const host = await open(isolation, { plugins: [actor("a")] });
      await Promise.all([host.close(), host.close()]);
      await host.close();
      expect(host.pids()).toEqual([]);
    });

    it("await using closes", async () => {
      let kept;
      {
        await using host = await open(isolation, { plugins: [actor("a")] });
        kept = host;
      }
      await expect(kept.run("message_sending", sending({}), { channelId: "chat" })).rejects.toMatchObject({ code: "ERR_HOST_CLOSED" });
    });

    it("a host without plugins opens and closes", async () => {
      await using host = await open(isolation);
      expect(host.plugins()).toEqual([]);
      expect(await host.run("message_sending", sending({}), { channelId: "chat" })).toMatchObject({ decision: "pass" });
    });
  });

  it("two hosts in one process do not hear of each other", async () => {
    await using one = await open(isolation, { plugins: [actor("a")] });
    await using two = await open(isolation, { plugins: [actor("a")] });
    const heard: string[] = [];
    one.on("run", ({ outcome }) => heard.push(outcome.runId));
    const mine = await one.run("message_sending", sending({}), { channelId: "chat" });
    await two.run("message_sending", sending({}), { channelId: "chat" });
    expect(heard).toEqual([mine.runId]);
    expect(one.id).not.toBe(two.id);
  });
});
