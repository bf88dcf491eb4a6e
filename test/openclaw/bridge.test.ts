/** The bridge against a stand-in for OpenClaw's API, with a real host and a real sandbox. The real gateway is in live.test.ts. */
import { setImmediate } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import { shim } from "../../src/openclaw/bridge.ts";
import { putInstalled } from "../support/installed.ts";
import { folder, QUICK } from "../support/files.ts";
import { factsOf, gateway, hook, installed, sdk } from "./support/fake-gateway.ts";
import type { Fake } from "./support/fake-gateway.ts";

async function reason({ on }: Fake): Promise<string> {
  const answer = await on.get("before_tool_call")!({ toolName: "exec", params: {} }, { toolName: "exec" });
  return (answer as { blockReason: string }).blockReason;
}

describe("the bridge", () => {
  it("runs a gate in the sandbox, shows no configuration of the gateway, and reads settings from it", async () => {
    const body = `api.on("before_tool_call", (event, ctx) => ({ block: true, blockReason: JSON.stringify([api.pluginConfig.word, ctx, api.config]) }));`;
    const stateDir = await installed("guard", body, [{ hook: "before_tool_call", priority: 0 }]);
    const fake = gateway("guard", { config: { word: "tide" } });
    shim(factsOf("guard", stateDir, [hook("before_tool_call")]), fake.api, sdk);
    const ctx = { toolName: "exec", sessionKey: "main", config: { token: "gateway-token" }, cfg: { token: "gateway-token" } };
    const answer = (await fake.on.get("before_tool_call")!({ toolName: "exec", params: {} }, ctx)) as {
      block: boolean;
      blockReason: string;
    };
    expect(answer.block).toBe(true);
    expect(answer.blockReason).toContain("tide");
    expect(answer.blockReason).toContain("sessionKey");
    expect(answer.blockReason).not.toContain("gateway-token");
  });

  it("opens no host while it registers, one host for two shims, and closes it with the last", async () => {
    const stateDir = folder({}, QUICK);
    const source = `export default (api) => { api.on("message_sending", (event) => ({ content: event.content + "!" })); };`;
    for (const id of ["a", "b"]) await putInstalled(stateDir, id, source);
    const fakes = ["a", "b"].map((id) => gateway(id));
    for (const fake of fakes) shim(factsOf(fake.api.id, stateDir, [hook("message_sending")]), fake.api, sdk);
    const opened = () => fakes.flatMap(({ lines }) => lines.filter((line) => / open in /.test(line)));
    expect(opened()).toEqual([]);
    for (const fake of fakes) await fake.start();
    for (const fake of fakes)
      expect(await fake.on.get("message_sending")!({ to: "x", content: "o" }, { channelId: "c" })).toEqual({ content: "o!" });
    expect(opened()).toHaveLength(1);
    await fakes[0]!.dispose();
    expect(await fakes[1]!.on.get("message_sending")!({ to: "x", content: "o" }, { channelId: "c" })).toEqual({ content: "o!" });
    await fakes[1]!.dispose();
    expect(await fakes[1]!.on.get("message_sending")!({ to: "x", content: "o" }, { channelId: "c" })).toBeUndefined();
  });

  it("keeps a gate shut when the instance is gone, and when the plugin is not installed", async () => {
    const stateDir = await installed("guard", `api.on("before_tool_call", () => {});`, [{ hook: "before_tool_call", priority: 0 }]);
    const fake = gateway("guard");
    shim(factsOf("guard", stateDir, [hook("before_tool_call")]), fake.api, sdk);
    const call = () => fake.on.get("before_tool_call")!({ toolName: "exec", params: {} }, { toolName: "exec" });
    expect(await call()).toBeUndefined();
    await fake.dispose();
    await expect(call()).rejects.toThrow('"guard" was unloaded');
    const missing = gateway("missing");
    shim(factsOf("missing", stateDir, [hook("before_tool_call")]), missing.api, sdk);
    const answer = await missing.on.get("before_tool_call")!({ toolName: "exec", params: {} }, { toolName: "exec" });
    expect(answer).toMatchObject({ block: true, blockReason: expect.stringContaining('no plugin "missing"') as string });
  });

  it("is not brought back by an older instance that OpenClaw still has: what it found before the plugin was disabled is refused", async () => {
    const stateDir = await installed("guard", `api.on("before_tool_call", () => {});`, [{ hook: "before_tool_call", priority: 0 }]);
    const [found, live] = [gateway("guard"), gateway("guard")];
    const discovery = { ...found.api, registrationMode: "tool-discovery" };
    for (const api of [discovery, live.api]) shim(factsOf("guard", stateDir, [hook("before_tool_call")]), api, sdk);
    const call = () => found.on.get("before_tool_call")!({ toolName: "exec", params: {} }, { toolName: "exec" });
    expect(await call()).toBeUndefined();
    await live.dispose();
    await expect(call()).rejects.toThrow('"guard" was unloaded');
  });

  it("refuses a shim whose plugin is in another state folder than the host of this process: the gate stays shut, both are named", async () => {
    const [here, there] = [folder({}, QUICK), folder({}, QUICK)];
    for (const [dir, id] of [
      [here, "a"],
      [there, "b"],
    ] as const)
      await putInstalled(dir, id, `export default () => {};`);
    const [a, b] = [gateway("a"), gateway("b")];
    shim(factsOf("a", here, []), a.api, sdk);
    expect(() => shim(factsOf("b", there, [hook("before_tool_call")]), b.api, sdk)).toThrow(new RegExp(`${there}.*${here}`));
    expect(b.on.size).toBe(0);
    await a.dispose();
    shim(factsOf("b", there, [hook("before_tool_call")]), b.api, sdk);
    expect(b.on.size).toBe(1);
  });

  it("two versions of it in one process share the host of the first, which the log says of the second", async () => {
    const stateDir = folder({}, QUICK);
    const source = `export default (api) => { api.on("message_sending", (event) => ({ content: event.content + "!" })); };`;
    for (const id of ["a", "b"]) await putInstalled(stateDir, id, source);
    const [a, b] = [gateway("a"), gateway("b")];
    shim({ ...factsOf("a", stateDir, [hook("message_sending")]), bridge: "/first" }, a.api, sdk);
    vi.resetModules();
    const second = await import("../../src/openclaw/bridge.ts");
    expect(second.shim).not.toBe(shim);
    second.shim({ ...factsOf("b", stateDir, [hook("message_sending")]), bridge: "/second" }, b.api, sdk);
    expect(b.lines).toContain("creel: b was moved by /second; /first serves it until the gateway is restarted");
    for (const { on } of [a, b])
      expect(await on.get("message_sending")!({ to: "x", content: "o" }, { channelId: "c" })).toEqual({ content: "o!" });
    expect([...a.lines, ...b.lines].filter((line) => / open in /.test(line))).toHaveLength(1);
  });

  it("handles every promise when the gateway disposes of a plugin while the sandbox opens, and the next instance is served", async () => {
    const unhandled: unknown[] = [];
    const hear = (error: unknown) => void unhandled.push(error);
    process.on("unhandledRejection", hear);
    try {
      const stateDir = await installed("slow", `api.on("before_tool_call", () => new Promise(() => {}));`, [
        { hook: "before_tool_call", priority: 0 },
      ]);
      const fake = gateway("slow");
      shim(factsOf("slow", stateDir, [hook("before_tool_call"), hook("message_received"), hook("session:end")]), fake.api, sdk);
      const call = () => fake.on.get("before_tool_call")!({ toolName: "exec", params: {} }, { toolName: "exec" });
      // While the sandbox opens: OpenClaw may give up on a reload at any time.
      const ends = Promise.allSettled([call(), call()]);
      void fake.on.get("message_received")!({ from: "x", content: "o" }, { channelId: "c" });
      void fake.on.get("session_end")!({ sessionId: "s", sessionKey: "main", messageCount: 0, reason: "reset" }, {});
      await fake.dispose();
      for (const end of await ends)
        expect(end.status === "rejected" || (end.value as { block?: boolean } | undefined)?.block === true).toBe(true);
      // The next instance has a host that is open.
      const next = gateway("slow");
      shim(factsOf("slow", stateDir, [hook("before_agent_run")]), next.api, sdk);
      expect(await next.on.get("before_agent_run")!({ prompt: "hi", messages: [] }, { runId: "r", agentId: "main" })).toBeUndefined();
      await setImmediate();
      expect(unhandled).toEqual([]);
    } finally {
      process.off("unhandledRejection", hear);
    }
  });

  it("takes new settings with a registration, while the gate stays shut", async () => {
    const body = `api.on("before_tool_call", () => ({ block: true, blockReason: api.pluginConfig.word }));`;
    const stateDir = await installed("guard", body, [{ hook: "before_tool_call", priority: 0 }]);
    const facts = factsOf("guard", stateDir, [hook("before_tool_call")]);
    const [first, second] = [gateway("guard", { config: { word: "one" } }), gateway("guard", { config: { word: "two" } })];
    shim(facts, first.api, sdk);
    expect(await reason(first)).toBe("one");
    shim(facts, second.api, sdk);
    expect(await reason(second)).toBe("two");
  });

  it("returns to OpenClaw as soon as the plugin asks, and tells the plugin what the user decided", async () => {
    const body = `api.on("before_tool_call", (event) => ({ params: { ...event.params, safe: true }, requireApproval: { title: "May it?", description: "d", onResolution: (d) => { api.logger.warn("heard " + d); } } }));`;
    const stateDir = await installed("guard", body, [{ hook: "before_tool_call", priority: 0 }]);
    const fake = gateway("guard");
    shim(factsOf("guard", stateDir, [hook("before_tool_call")]), fake.api, sdk);
    const answer = (await fake.on.get("before_tool_call")!({ toolName: "exec", params: { a: 1 } }, { toolName: "exec" })) as {
      params: object;
      requireApproval: { title: string; onResolution(decision: string): void };
    };
    expect(answer.params).toEqual({ a: 1, safe: true });
    expect(answer.requireApproval.title).toBe("May it?");
    answer.requireApproval.onResolution("allow-once");
    await expect.poll(() => fake.lines.some((line) => line.includes("heard allow-once"))).toBe(true);
  });

  it("keeps the result of before_agent_run to the keys that OpenClaw knows", async () => {
    const body = `api.on("before_agent_run", () => ({ outcome: "block", reason: "no", message: "sorry" }));`;
    const stateDir = await installed("guard", body, [{ hook: "before_agent_run", priority: 0 }]);
    const fake = gateway("guard", { hooks: { allowConversationAccess: true } });
    shim(factsOf("guard", stateDir, [hook("before_agent_run")]), fake.api, sdk);
    const answer = await fake.on.get("before_agent_run")!({ prompt: "hi", messages: [] }, { runId: "r", agentId: "main" });
    expect(answer).toEqual({ outcome: "block", reason: "no", message: "sorry" });
  });

  it("makes the events of sessions and turns that OpenClaw does not have from those that it has", async () => {
    const names = ["session:start", "session:end", "beforeTurn", "afterTurn", "onTurnError"];
    const body = `for (const name of ${JSON.stringify(names)}) api.on(name, (event) => { api.logger.warn("told " + name + " " + (event.context?.stopReason ?? event.usage?.total ?? "")); });`;
    const stateDir = await installed(
      "guard",
      body,
      names.map((one) => ({ hook: one, priority: 0 })),
    );
    const fake = gateway("guard", { hooks: { allowConversationAccess: true } });
    shim(
      factsOf(
        "guard",
        stateDir,
        names.map((one) => hook(one)),
      ),
      fake.api,
      sdk,
    );
    const told = () => fake.lines.flatMap((line) => /told ([\w:]+ ?\w*)/.exec(line)?.[1]?.trim() ?? []);
    const tell = (name: string, event: object, ctx: object) =>
      Promise.all(fake.all.map((one) => (one.hook === name ? one.handler(event, ctx) : undefined)));
    const [session, ctx] = [
      { sessionId: "s", sessionKey: "main" },
      { runId: "r", sessionId: "s", sessionKey: "main", agentId: "main" },
    ];
    await tell("session_start", session, ctx);
    await tell("before_agent_run", { prompt: "hi", messages: [] }, ctx);
    await tell("agent_end", { messages: [], success: true }, ctx);
    await tell("llm_output", { usage: { total: 15 } }, ctx);
    await expect.poll(told).toEqual(["session:start", "beforeTurn", "afterTurn 15"]);
    await tell("session_end", { ...session, messageCount: 2, reason: "reset" }, ctx);
    await expect.poll(() => told().at(-1)).toBe("session:end stop");
  });

  it("runs before_agent_start once a turn: its model before the model is chosen, its context when the prompt is built", async () => {
    const body = `let runs = 0; api.on("before_agent_start", (event) => { runs += 1; return { modelOverride: "m" + runs, prependContext: event.prompt + runs }; });`;
    const stateDir = await installed("guard", body, [{ hook: "before_agent_start", priority: 0 }]);
    const fake = gateway("guard", { hooks: { allowConversationAccess: true, allowPromptInjection: true } });
    shim(factsOf("guard", stateDir, [hook("before_agent_start")]), fake.api, sdk);
    const ctx = { runId: "r1", agentId: "main" };
    expect(await fake.on.get("before_model_resolve")!({ prompt: "hi" }, ctx)).toEqual({ modelOverride: "m1" });
    expect(await fake.on.get("before_prompt_build")!({ prompt: "hi", messages: [] }, ctx)).toEqual({ prependContext: "hi1" });
    const later = { runId: "r2", agentId: "main" };
    expect(await fake.on.get("before_prompt_build")!({ prompt: "ho", messages: [] }, later)).toEqual({ prependContext: "ho2" });
  });
});
