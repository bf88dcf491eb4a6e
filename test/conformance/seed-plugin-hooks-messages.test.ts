/** The rules of the seed document plugin-hooks: prompts and models, permissions, messages, installation, the gateway's life. */
import { expect, it } from "vitest";
import { CATALOG } from "creel";
import { agentEnd, ask, prompt, sending } from "../support/actors.ts";
import type { Script } from "../support/actors.ts";
import { contract, open, statuses } from "../support/host.ts";
import { fieldsOf, jsonSchema } from "../../src/protocol/rules/json-schema.ts";
import { agentStart, finalize, inbound, install, pair, player } from "./stage.ts";

/** The event fields that the catalog declares for a hook. */
const declared = (hook: keyof typeof CATALOG) => fieldsOf(jsonSchema(CATALOG[hook].event)).map(({ name }) => name);

it("'before_model_resolve receives only the current prompt and attachment metadata'", () => {
  expect(declared("before_model_resolve")).toEqual(["prompt", "attachments"]);
});

it("'model_call_started and model_call_ended should not receive raw prompts, history, responses, headers or request bodies'", () => {
  const content = /prompt|messages|history|texts|headers|body|response$|requestId$/i;
  for (const hook of ["model_call_started", "model_call_ended"] as const)
    expect(declared(hook).filter((name) => content.test(name))).toEqual([]);
  expect(declared("model_call_ended")).toEqual(
    expect.arrayContaining(["runId", "callId", "provider", "model", "api", "transport", "durationMs", "outcome", "upstreamRequestIdHash"]),
  );
});

const CONVERSATION = ["llm_input", "llm_output", "before_agent_finalize", "agent_end"] as const;
const on = ["before_prompt_build", "before_agent_start", "agent_end", "before_agent_finalize", "message_received", "inbound_claim"];

contract("seed: prompts, messages, installation, gateway", (isolation) => {
  const shared = pair(isolation, [...on, "before_install", "gateway_start", "gateway_stop"], {
    plugins: [
      player("stranger", [...CONVERSATION, "before_agent_start"], { hooks: { allowConversationAccess: false } }),
      player("harmless", ["before_prompt_build", "before_agent_start"], { hooks: { allowPromptInjection: false } }),
    ],
  });
  const saw = (expression = "state.saw") => ask(shared.host, "a", expression);
  const send = (script: Script) => shared.host.run("message_sending", sending(script, "orig"), { channelId: "chat" });
  const end = async (answer: string) => (await shared.host.run("before_agent_finalize", finalize({ a: `return ${answer}` }))).result;
  const installing = (script: Script) => shared.host.run("before_install", install(script));

  it("'before_prompt_build receives the current prompt and session messages'", async () => {
    await shared.host.run("before_prompt_build", { ...prompt({ a: `state.saw = [event.prompt, event.messages]` }), messages: ["m"] });
    expect(await saw()).toEqual(["p", ["m"]]);
  });

  it("'before_agent_start and agent_end include event.runId; the same value is also available on ctx.runId'", async () => {
    const script = { a: `state.saw = [event.runId, ctx.runId]` };
    await shared.host.run("before_agent_start", agentStart(script), { runId: "r" });
    expect(await saw()).toEqual(["r", "r"]);
    await shared.host.run("agent_end", agentEnd(script), { runId: "r2" });
    expect(await saw()).toEqual(["r2", "r2"]);
  });

  it("'return revise to ask for one more model pass, finalize to force finalization, or omit a result to continue'", async () => {
    expect(await end(`{ action: "revise", reason: "r" }`)).toEqual({ action: "revise", reason: "r" });
    expect(await end(`{ action: "finalize" }`)).toEqual({ action: "finalize" });
    expect(await end(`undefined`)).toBeUndefined();
  });

  it("'plugins that need llm_input, llm_output, before_agent_finalize or agent_end must set allowConversationAccess'", () => {
    const { hooks, diagnostics } = shared.host.inspect("stranger");
    expect(hooks.map(({ hook }) => hook)).toEqual(["before_agent_start", "message_sending"]);
    expect(diagnostics).toHaveLength(CONVERSATION.length);
    for (const text of diagnostics) expect(text).toContain("plugins.entries.stranger.hooks.allowConversationAccess");
    expect(shared.host.inspect("a").hooks.map(({ hook }) => hook)).toContain("agent_end");
  });

  it("'prompt-mutating hooks can be disabled per plugin with allowPromptInjection=false'", async () => {
    const { hooks, diagnostics } = shared.host.inspect("harmless");
    expect(hooks.map(({ hook }) => hook)).not.toContain("before_prompt_build");
    expect(diagnostics).toEqual([expect.stringContaining("plugins.entries.harmless.hooks.allowPromptInjection")]);
    const script = { harmless: `return { systemPrompt: "s", modelOverride: "m" }` };
    expect((await shared.host.run("before_agent_start", agentStart(script))).result).toEqual({ modelOverride: "m" });
  });

  it("'allowConversationAccess' may stand in plugins.entries of the configuration", async () => {
    const { hooks: _, ...silent } = player("stranger", ["agent_end"]);
    await using host = await open(isolation, {
      config: { plugins: { entries: { stranger: { hooks: { allowConversationAccess: true } } } } },
      plugins: [silent],
    });
    expect(host.has("agent_end")).toBe(true);
  });

  it("'message_received: observe inbound content, sender, threadId, messageId, senderId, run/session correlation, and metadata'", async () => {
    const message = {
      from: "f",
      content: "c",
      threadId: 7,
      messageId: "m",
      senderId: "s",
      runId: "r",
      sessionKey: "k",
      metadata: { x: 1 },
    };
    await shared.host.run(
      "message_received",
      { ...message, do: { a: `const { do: _, ...rest } = event; state.saw = rest` } },
      { channelId: "chat" },
    );
    expect(await saw()).toEqual(message);
  });

  it("'message hook contexts expose stable correlation fields'", async () => {
    const trace = { trace: { traceId: "t" }, traceId: "t", spanId: "s", parentSpanId: "p", callDepth: 1 };
    const ctx = { channelId: "chat", sessionKey: "k", runId: "r", messageId: "m", senderId: "s", ...trace };
    await shared.host.run("message_sending", sending({ a: `state.saw = ctx` }), ctx);
    expect(await saw()).toEqual(ctx);
  });

  it("'prefer typed threadId and replyToId fields'", async () => {
    await shared.host.run(
      "message_sending",
      {
        ...sending({ a: `state.saw = [event.threadId, event.replyToId]` }),
        threadId: 7,
        replyToId: "m",
      },
      { channelId: "chat" },
    );
    expect(await saw()).toEqual([7, "m"]);
  });

  it("'message_sending with cancel: true is terminal'", async () => {
    const outcome = await send({ a: `return { cancel: true }`, b: `return { content: "b" }` });
    expect(outcome).toMatchObject({ decision: "cancel", by: "a", result: { cancel: true } });
    expect(statuses(outcome).slice(0, 2)).toEqual(["a:ok", "b:skipped"]);
  });

  it("'message_sending with cancel: false is treated as no decision'", async () => {
    expect((await send({ a: `return { cancel: false }`, b: `return { content: "b" }` })).result?.content).toBe("b");
  });

  it("'rewritten content continues to lower-priority hooks unless a later hook cancels delivery'", async () => {
    const append = `return { content: event.content + "+" + api.id }`;
    expect((await send({ a: append, b: append })).result?.content).toBe("orig+a+b");
    expect((await send({ a: append, b: `return { cancel: event.content === "orig+a" }` })).decision).toBe("cancel");
  });

  it("'before_install: return additional findings or { block: true, blockReason } to stop the install'", async () => {
    const finding = { ruleId: "r", severity: "warn", file: "f", line: 1, message: "m" };
    const add = `return { findings: [${JSON.stringify(finding)}] }`;
    expect((await installing({ a: add, b: add })).result?.findings).toEqual([finding, finding]);
    expect(await installing({ a: `return { block: true, blockReason: "r" }` })).toMatchObject({ decision: "block", reason: "r" });
  });

  it("before_install: 'block: true is terminal, block: false is treated as no decision'", async () => {
    expect(statuses(await installing({ a: `return { block: true }`, b: `return {}` }))).toEqual(["a:ok", "b:skipped"]);
    expect(await installing({ a: `return { block: false }` })).toMatchObject({ decision: "pass", by: undefined });
  });

  it("gateway_start: 'the context exposes ctx.config, ctx.workspaceDir and ctx.getCron?.()', which is absent here", async () => {
    const ctx = { config: { x: 1 }, workspaceDir: "/w", getCron: () => ({}) };
    await shared.host.run("gateway_start", { port: 1, do: { a: `state.saw = [ctx, ctx.getCron?.() ?? "absent"]` } }, ctx);
    expect(await saw()).toEqual([{ config: { x: 1 }, workspaceDir: "/w" }, "absent"]);
  });

  it("'read BodyForAgent instead of parsing flat envelope text'", async () => {
    await shared.host.run("inbound_claim", { ...inbound({ a: `state.saw = event.bodyForAgent` }), bodyForAgent: "text" });
    expect(await saw()).toBe("text");
  });
});
