/** An installed plugin that only listens to hooks sleeps until one of them is run; nobody notices but by the time that takes. */
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { defineHook } from "creel";
import * as z from "zod";
import { folder, QUICK } from "../support/files.ts";
import { putInstalled, tamper } from "../support/installed.ts";
import { contract, next, open, recorder, silent } from "../support/host.ts";
import type { Isolation } from "../support/host.ts";

const NO_FUNCTIONS = { functions: [] };
const hooks = (...names: string[]) => ({ ...NO_FUNCTIONS, hooks: names.map((hook) => ({ hook, priority: 0 })) });
const says = (what: string, priority = 0) => `export default (api) => {
  console.log("${what} was loaded");
  api.on("message_sending", (event) => ({ content: event.content + " ${what}" }), { priority: ${priority} });
};`;

contract("an installed plugin that only listens to hooks", (isolation) => {
  const stateDir = join(folder({}, QUICK), "state");
  const files = new Map<string, string>();
  const put = async (id: string, ...rest: [string, object]) => files.set(id, await putInstalled(stateDir, id, ...rest));
  beforeAll(async () => {
    await put("first", says("first"), NO_FUNCTIONS);
    await put("urgent", says("urgent", 5), { ...NO_FUNCTIONS, hooks: [{ hook: "message_sending", priority: 5 }] });
    await put("family", `export default (api) => { api.on("command", (event) => console.log("heard", event.action)); };`, hooks("command"));
    await put("guard", `export default (api) => { api.on("before_tool_call", () => {}); };`, hooks("before_tool_call"));
    await put("other", `export default (api) => { api.on("session_end", () => {}); };`, hooks("session_end"));
    await put("tool", `export default (api) => { api.on("session_start", () => {}); };`, {
      ...hooks("session_start"),
      functions: [{ kind: "tool", name: "weather" }],
    });
    await put("sync", `export default (api) => { api.on("tool_result_persist", () => {}); };`, hooks("tool_result_persist"));
    await put("plans", `export default (api) => { api.on("session_start", () => {}); };`, {
      ...hooks("session_start"),
      grants: { schedule: true },
    });
    await put(
      "inward",
      `export default async (api) => {
        api.on("message_sent", () => {});
        await api.session.patch({ key: "agent:main:main", label: "x" });
        console.log("inward was loaded");
      };`,
      { ...hooks("message_sent"), grants: { session: ["patch"] } },
    );
  });
  const fresh = (more: Parameters<typeof open>[1] = {}) =>
    open(isolation, { logger: silent, ...more, config: { stateDir, ...(more.config as object) } });

  it("is loaded when one of them is first run, once, and the run has its answer; the rest sleep on, and the log says who", async () => {
    const { logger, lines } = recorder();
    await using host = await fresh({ logger });
    expect(statuses(host)).toEqual({
      family: "asleep",
      first: "asleep",
      guard: "asleep",
      inward: "asleep",
      other: "asleep",
      plans: "ready",
      sync: "ready",
      tool: "ready",
      urgent: "asleep",
    });
    expect(lines.find(({ fields }) => fields.asleep !== undefined)?.fields).toEqual({ loaded: ["plans", "sync", "tool"], asleep: 6 });
    expect(host.inspect("urgent").hooks).toMatchObject([{ hook: "message_sending", priority: 5, budget: { wallMs: {} } }]);
    expect([host.has("message_sending"), host.has("command:new"), host.has("llm_input")]).toEqual([true, true, false]);

    const event = { to: "x", content: "said" };
    const runs = [
      host.run("message_sending", event, { channelId: "chat" }),
      host.run("message_sending", event, { channelId: "chat" }),
      host.run("message_sending", event, { channelId: "chat" }),
    ];
    event.content = "changed by the caller meanwhile";
    for (const { result, calls } of await Promise.all(runs)) {
      expect(result?.content).toBe("said urgent first");
      expect(calls).toHaveLength(2);
    }
    expect(statuses(host)).toMatchObject({ first: "ready", urgent: "ready", family: "asleep", guard: "asleep", other: "asleep" });
    expect(lines.filter(({ fields }) => String(fields.text).endsWith("was loaded"))).toHaveLength(2);

    const heard = next(host, "log", ({ text }) => text === "heard new");
    await host.run("command:new", { type: "command", action: "new", context: {}, sessionKey: "agent:main:main" });
    await heard;
    expect(statuses(host)).toMatchObject({ family: "ready", guard: "asleep", other: "asleep" });
  });

  it("is not waited for by what it does itself while it is loaded", async () => {
    const decisions: string[] = [];
    await using host = await fresh({
      gateway: {
        patchSession: async ({ key }) => {
          decisions.push((await host.run("message_sent", { to: "x", content: "y", success: true }, { channelId: "chat" })).decision);
          return { sessionKey: key } as never;
        },
      },
    });
    const { calls } = await host.run("message_sent", { to: "x", content: "y", success: true }, { channelId: "chat" });
    expect(calls.map(({ plugin, status }) => [plugin, status])).toEqual([["inward", "ok"]]);
    expect(decisions).toEqual(["pass"]);
  });

  it("is loaded by a reload, and not any more once it is disabled", async () => {
    await using host = await fresh();
    expect(await host.reload("other")).toMatchObject({ status: "ready" });
    host.disable("first");
    host.disable("urgent");
    expect(host.has("message_sending")).toBe(false);
    expect(await host.run("message_sending", { to: "x", content: "said" }, { channelId: "chat" })).toMatchObject({
      calls: [],
      result: undefined,
    });
  });

  it("does not make a caller wait who has gone: the run rejects with the signal's reason", async () => {
    await using host = await fresh();
    const caller = new AbortController();
    const run = host.run("message_sending", { to: "x", content: "said" }, { channelId: "chat" }, { signal: caller.signal });
    caller.abort(new Error("gone"));
    await expect(run).rejects.toThrow("gone");
  });

  it("sleeps through the death of its sandbox", async () => {
    await using host = await fresh();
    for (const pid of host.pids()) {
      const restarted = next(host, "restart");
      process.kill(pid, "SIGKILL");
      await restarted;
    }
    expect((await host.run("message_sending", { to: "x", content: "said" }, { channelId: "chat" })).result?.content).toBe(
      "said urgent first",
    );
  });

  it("blocks when it is a gate and was changed after the host had opened", async () => {
    await using host = await fresh();
    tamper(join(files.get("guard")!, "bundle.js"), (code) => `${code} `);
    expect(await host.run("before_tool_call", { toolName: "x", params: {} })).toMatchObject({ decision: "block", by: "guard" });
    expect(host.inspect("guard")).toMatchObject({ status: "failed", error: { code: "ERR_STATE_CHANGED" } });
  });
});

describe("nobody sleeps", () => {
  const isolation: Isolation = "thread";
  const stateDir = join(folder({}, QUICK), "state");
  beforeAll(() => putInstalled(stateDir, "first", says("first"), NO_FUNCTIONS));

  it("where plugins.load.lazy is false", async () => {
    await using host = await open(isolation, { config: { stateDir, plugins: { load: { lazy: false } } } });
    expect(statuses(host)).toEqual({ first: "ready" });
  });

  it("where the gateway has hooks of its own, which nobody knew when the plugin was accepted", async () => {
    const own = defineHook({
      name: "own_hook",
      kind: "observe",
      summary: "of the gateway",
      result: z.unknown(),
      event: z.looseObject({}),
      context: z.looseObject({}),
    });
    await using host = await open(isolation, { config: { stateDir }, hooks: { own_hook: own } });
    expect(statuses(host)).toEqual({ first: "ready" });
  });
});

function statuses(host: { plugins(): { id: string; status: string }[] }): Record<string, string> {
  return Object.fromEntries(host.plugins().map(({ id, status }) => [id, status]));
}
