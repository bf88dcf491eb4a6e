/** The hook catalog of the seed document plugin-hooks: each hook does what its line says. */
import { expect, it } from "vitest";
import { agentEnd, agentReply, ask, persist, prompt, sending, toolCall } from "../support/actors.ts";
import { contract } from "../support/host.ts";
import { agentStart, dispatch, finalize, inbound, install, modelResolve, pair, replyDispatch, spawning } from "./stage.ts";

const HOOKS = `before_model_resolve before_prompt_build before_agent_start before_agent_reply before_agent_finalize agent_end
  model_call_started model_call_ended llm_input llm_output before_tool_call after_tool_call tool_result_persist before_message_write
  inbound_claim message_received message_sending message_sent before_dispatch reply_dispatch session_start session_end
  before_compaction after_compaction before_reset subagent_spawning subagent_delivery_target subagent_spawned subagent_ended
  gateway_start gateway_stop before_install`.split(/\s+/);

const SAW = { a: `const { do: _, ...rest } = event; state.saw = rest` };

contract("seed: the catalog of plugin hooks", (isolation) => {
  const shared = pair(isolation, HOOKS, { gateway: { requestApproval: async () => "deny" } });
  /** What plugin a saw of the last event it observed. */
  const saw = () => ask(shared.host, "a", "state.saw");
  const reply = (answer: string) => shared.host.run("before_agent_reply", agentReply({ a: `return ${answer}` }));
  const tool = (answer: string) => shared.host.run("before_tool_call", toolCall({ a: `return ${answer}` }));
  const send = (answer: string) => shared.host.run("message_sending", sending({ a: `return ${answer}` }), { channelId: "chat" });

  it("before_model_resolve: 'override provider or model'", async () => {
    const answer = { modelOverride: "m", providerOverride: "p" };
    const { result } = await shared.host.run("before_model_resolve", modelResolve({ a: `return ${JSON.stringify(answer)}` }));
    expect(result).toEqual(answer);
  });

  it("before_prompt_build: 'add dynamic context or system-prompt text before the model call'", async () => {
    const answer = { prependContext: "c", systemPrompt: "s", prependSystemContext: "ps", appendSystemContext: "as" };
    const { result } = await shared.host.run("before_prompt_build", prompt({ a: `return ${JSON.stringify(answer)}` }));
    expect(result).toEqual(answer);
  });

  it("before_agent_start: 'compatibility-only combined phase'", async () => {
    const answer = { prependContext: "c", modelOverride: "m" };
    const { result } = await shared.host.run("before_agent_start", agentStart({ a: `return ${JSON.stringify(answer)}` }));
    expect(result).toEqual(answer);
  });

  it("before_agent_reply: 'short-circuit the model turn with a synthetic reply or silence'", async () => {
    expect(await reply(`{ handled: true, reply: { text: "t" } }`)).toMatchObject({ decision: "handled", result: { reply: { text: "t" } } });
    const silence = await reply(`{ handled: true }`);
    expect([silence.decision, silence.result?.reply]).toEqual(["handled", undefined]);
  });

  it("before_agent_finalize: 'inspect the natural final answer and request one more model pass'", async () => {
    const script = { a: `return { action: "revise", reason: "not " + event.lastAssistantMessage }` };
    const { result } = await shared.host.run("before_agent_finalize", { ...finalize(script), lastAssistantMessage: "done" });
    expect(result).toEqual({ action: "revise", reason: "not done" });
  });

  it("agent_end: 'observe final messages, success state, and run duration'", async () => {
    await shared.host.run("agent_end", { ...agentEnd(SAW), messages: ["m"], success: false, durationMs: 5 });
    expect(await saw()).toEqual({ messages: ["m"], success: false, durationMs: 5 });
  });

  it("model_call_started / model_call_ended: 'observe metadata, timing, outcome, and bounded request-id hashes'", async () => {
    const started = { runId: "r", callId: "c", provider: "p", model: "m" };
    await shared.host.run("model_call_started", { ...started, do: SAW });
    expect(await saw()).toEqual(started);
    const ended = { ...started, durationMs: 5, outcome: "completed" as const, upstreamRequestIdHash: "h" };
    await shared.host.run("model_call_ended", { ...ended, do: SAW });
    expect(await saw()).toEqual(ended);
  });

  const exchange = { runId: "r", sessionId: "s", provider: "p", model: "m" };

  it("llm_input: 'observe provider input (system prompt, prompt, history)'", async () => {
    const input = { ...exchange, systemPrompt: "s", prompt: "p", historyMessages: ["h"], imagesCount: 0 };
    await shared.host.run("llm_input", { ...input, do: SAW });
    expect(await saw()).toEqual(input);
  });

  it("llm_output: 'observe provider output'", async () => {
    const output = { ...exchange, assistantTexts: ["t"], usage: { total: 5 } };
    await shared.host.run("llm_output", { ...output, do: SAW });
    expect(await saw()).toEqual(output);
  });

  it("before_tool_call: 'rewrite tool params, block execution, or require approval'", async () => {
    expect((await tool(`{ params: { x: 1 } }`)).result?.params).toEqual({ x: 1 });
    expect((await tool(`{ block: true }`)).decision).toBe("block");
    expect((await tool(`{ requireApproval: { title: "t", description: "d" } }`)).approval).toMatchObject({
      pluginId: "a",
      resolution: "deny",
    });
  });

  it("after_tool_call: 'observe tool results, errors, and duration'", async () => {
    const call = { toolName: "exec", params: {}, result: "r", error: "e", durationMs: 5 };
    await shared.host.run("after_tool_call", { ...call, do: SAW });
    expect(await saw()).toEqual(call);
  });

  it("tool_result_persist: 'rewrite the message produced from a tool result'", () => {
    expect(shared.host.runSync("tool_result_persist", persist({ a: `return { message: { text: "new" } }` })).result).toEqual({
      message: { text: "new" },
    });
  });

  it("before_message_write: 'inspect or block an in-progress message write'", () => {
    const script = { a: `if (event.message.text === "orig") return { block: true }` };
    expect(shared.host.runSync("before_message_write", persist(script)).decision).toBe("block");
  });

  it("inbound_claim: 'claim an inbound message before agent routing (synthetic replies)'", async () => {
    const outcome = await shared.host.run("inbound_claim", inbound({ a: `return { handled: true, reply: { text: "t" } }` }));
    expect(outcome).toMatchObject({ decision: "handled", by: "a", result: { reply: { text: "t" } } });
  });

  it("message_sending: 'rewrite outbound content or cancel delivery'", async () => {
    expect((await send(`{ content: "new" }`)).result?.content).toBe("new");
    expect((await send(`{ cancel: true }`)).decision).toBe("cancel");
  });

  it("message_sent: 'observe outbound delivery success or failure'", async () => {
    const sent = { to: "t", content: "c", success: false, error: "e" };
    await shared.host.run("message_sent", { ...sent, do: SAW }, { channelId: "chat" });
    expect(await saw()).toEqual(sent);
  });

  it("before_dispatch: 'inspect or rewrite a dispatch before handoff'", async () => {
    const { result } = await shared.host.run("before_dispatch", dispatch({ a: `return { content: event.content + "!" }` }));
    expect(result?.content).toBe("c!");
  });

  it("reply_dispatch: 'participate in the final reply-dispatch pipeline'", async () => {
    const answer = { handled: true as const, queuedFinal: true, counts: { tool: 0, block: 0, final: 1 } };
    const outcome = await shared.host.run("reply_dispatch", replyDispatch({ a: `return ${JSON.stringify(answer)}` }));
    expect(outcome).toMatchObject({ decision: "handled", result: answer });
  });

  it("session_start / session_end: 'track session lifecycle boundaries'", async () => {
    await shared.host.run("session_start", { sessionId: "s", resumedFrom: "r", do: SAW });
    expect(await saw()).toEqual({ sessionId: "s", resumedFrom: "r" });
    await shared.host.run("session_end", { sessionId: "s", messageCount: 2, reason: "reset", do: SAW });
    expect(await saw()).toEqual({ sessionId: "s", messageCount: 2, reason: "reset" });
  });

  it("before_compaction / after_compaction: 'observe compaction cycles'", async () => {
    await shared.host.run("before_compaction", { messageCount: 9, do: SAW });
    expect(await saw()).toEqual({ messageCount: 9 });
    await shared.host.run("after_compaction", { messageCount: 2, compactedCount: 7, do: SAW });
    expect(await saw()).toEqual({ messageCount: 2, compactedCount: 7 });
  });

  it("before_reset: 'observe session-reset events'", async () => {
    await shared.host.run("before_reset", { reason: "reset", messages: ["m"], do: SAW });
    expect(await saw()).toEqual({ reason: "reset", messages: ["m"] });
  });

  it("subagent hooks: 'coordinate subagent routing and completion delivery'", async () => {
    const ok = { status: "ok" as const, threadBindingReady: true };
    expect((await shared.host.run("subagent_spawning", spawning({ a: `return ${JSON.stringify(ok)}` }))).result).toEqual(ok);
    const target = { childSessionKey: "c", requesterSessionKey: "r", expectsCompletionMessage: true };
    const script = { a: `return { origin: { channel: "chat", to: "t" } }` };
    const delivered = await shared.host.run("subagent_delivery_target", { ...target, do: script });
    expect(delivered.result).toEqual({ origin: { channel: "chat", to: "t" } });
    const { do: _, ...spawned } = spawning({});
    await shared.host.run("subagent_spawned", { ...spawned, runId: "r", do: SAW });
    expect(await saw()).toEqual({ ...spawned, runId: "r" });
    const ended = { targetSessionKey: "c", targetKind: "subagent" as const, reason: "done", outcome: "ok" as const };
    await shared.host.run("subagent_ended", { ...ended, do: SAW });
    expect(await saw()).toEqual(ended);
  });

  it("gateway_start / gateway_stop: 'start or stop plugin-owned services with the gateway'", async () => {
    await shared.host.run("gateway_start", { port: 1, do: { a: `state.timer = setInterval(() => {}, 1000); state.saw = event.port` } });
    expect(await saw()).toBe(1);
    await shared.host.run("gateway_stop", { reason: "r", do: { a: `clearInterval(state.timer); state.saw = event.reason` } });
    expect(await saw()).toBe("r");
  });

  it("before_install: 'inspect skill or plugin install scans and optionally block'", async () => {
    const script = { a: `return { block: event.builtinScan.scannedFiles === 1, blockReason: event.targetName }` };
    expect(await shared.host.run("before_install", install(script))).toMatchObject({ decision: "block", reason: "t" });
  });
});
