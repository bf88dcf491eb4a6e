/** The bridge against a stand-in for OpenClaw's API, with a real host and a real sandbox. The real gateway is in live.test.ts. */
import { afterEach, describe, expect, it } from "vitest";
import { shim } from "../../src/openclaw/bridge.ts";
import type { GatewayApi } from "../../src/openclaw/gateway-api.ts";
import type { ShimFacts } from "../../src/openclaw/shim-facts.ts";
import { putInstalled } from "../support/installed.ts";
import { folder, QUICK } from "../support/files.ts";

type Handler = (event: object, ctx: object) => unknown;
type Fake = {
  api: GatewayApi;
  on: Map<string, Handler>;
  lines: string[];
  config: object;
  dispose(): Promise<void>;
  start(): Promise<void>;
};

const open: Fake[] = [];
afterEach(async () => {
  for (const fake of open.splice(0)) await fake.dispose();
});

function gateway(id: string, config: object = {}): Fake {
  const on = new Map<string, Handler>();
  const lines: string[] = [];
  const disposers: (() => void | Promise<void>)[] = [];
  const services: { start(): Promise<void> }[] = [];
  const log = (line: string) => void lines.push(line);
  const fake: Fake = {
    on,
    lines,
    config: { gateway: { auth: { token: "gateway-token" } }, plugins: { entries: { [id]: config } } },
    api: {
      id,
      registrationMode: "full",
      logger: { info: log, warn: log, error: log },
      runtime: { config: { current: () => fake.config } },
      lifecycle: { onDispose: (dispose) => disposers.push(dispose) },
      on: (hook, handler) => void on.set(hook, handler as Handler),
      registerHook: (key, handler) => void on.set(key, handler as Handler),
      registerTool: () => {},
      registerCommand: () => {},
      registerGatewayMethod: () => {},
      registerService: (service) => void services.push(service),
    },
    dispose: async () => {
      for (const dispose of disposers.splice(0)) await dispose();
    },
    start: async () => {
      for (const service of services) await service.start();
    },
  };
  open.push(fake);
  return fake;
}

const factsOf = (id: string, stateDir: string, hooks: ShimFacts["hooks"]): ShimFacts => ({
  version: 1,
  id,
  name: id,
  creel: "0.1.0",
  bridge: "/unused",
  stateDir,
  hooks,
  functions: [],
});

const hook = (name: string, priority = 0) => ({ hook: name, priority, options: {}, wallMs: 5_000 });
const sdk = () => Promise.reject(new Error("not here"));

async function installed(id: string, body: string, hooks: { hook: string; priority: number }[]): Promise<string> {
  const stateDir = folder({}, QUICK);
  await putInstalled(stateDir, id, `export default (api) => { ${body} };`, { hooks });
  return stateDir;
}

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
