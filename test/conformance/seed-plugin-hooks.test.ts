/**
 * The rules of the seed document plugin-hooks: registration, tool policy, approvals, persistence. Each test quotes its sentence.
 * Not tested are sentences about what only OpenClaw's own code does: its `/approve` command, TTS captions, when its harness ends.
 */
import { afterEach, expect, it, vi } from "vitest";
import { CATALOG, persistToolResult, stripDetails } from "creel";
import type { RequestApproval } from "creel";
import { ask, toolCall } from "../support/actors.ts";
import type { Script } from "../support/actors.ts";
import { contract, next, plugin, statuses } from "../support/host.ts";
import { dispatch, pair } from "./stage.ts";

const words = (text: string) => text.trim().split(/\s+/);
const deciding = (names: string[]) => names.filter((name) => CATALOG[name as keyof typeof CATALOG].kind !== "observe");

/** The seed's quick start, word for word. */
const QUICK_START = `import { definePluginEntry } from "openclaw/plugin-sdk/plugin-entry";

export default definePluginEntry({
  id: "tool-preflight",
  name: "Tool Preflight",
  register(api) {
    api.on(
      "before_tool_call",
      async (event) => {
        if (event.toolName !== "web_search") {
          return;
        }

        return {
          requireApproval: {
            title: "Run web search",
            description: \`Allow search query: \${String(event.params.query ?? "")}\`,
            severity: "info",
            timeoutMs: 60_000,
            timeoutBehavior: "deny",
          },
        };
      },
      { priority: 50 },
    );
  },
});`;

const ORDERED = plugin(
  "ordered",
  `const append = (name, ms) => async (event) => {
     if (ms) await new Promise((resolve) => setTimeout(resolve, ms));
     return { content: event.content + name };
   };
   api.on("before_dispatch", append("c"), { priority: 1 });
   api.on("before_dispatch", append("a", 5), { priority: 9 });
   api.on("before_dispatch", append("b", 2), { priority: 5 });
   api.on("before_dispatch", append("d"), { priority: 1 });`,
);

const WRITER = plugin(
  "writer",
  `api.on("before_message_write", ({ message }) => {
     if (message.content === "grow when written") return { message: { ...message, details: { big: "x".repeat(100000) } } };
   });`,
);

const approval = (more = "") => `requireApproval: { title: "t", description: "d" ${more} }`;

it("'names in bold accept a decision result, all others are observation-only'", () => {
  const bold = words(`before_agent_reply before_agent_finalize before_tool_call tool_result_persist before_message_write inbound_claim
    message_sending before_dispatch reply_dispatch before_install`);
  const others = words(`before_model_resolve before_prompt_build before_agent_start agent_end model_call_started model_call_ended llm_input
    llm_output after_tool_call message_received message_sent session_start session_end before_compaction after_compaction before_reset
    subagent_spawning subagent_delivery_target subagent_spawned subagent_ended gateway_start gateway_stop`);
  expect(deciding(bold)).toEqual(bold);
  // These give something back in OpenClaw's code, and the document's own list says what.
  expect(deciding(others)).toEqual(
    words("before_model_resolve before_prompt_build before_agent_start subagent_spawning subagent_delivery_target"),
  );
});

contract("seed: plugin hooks", (isolation) => {
  const requestApproval = vi.fn<RequestApproval>(async () => "allow-once");
  afterEach(() => requestApproval.mockReset().mockResolvedValue("allow-once"));
  const shared = pair(isolation, ["before_tool_call", "tool_result_persist", "before_message_write"], {
    gateway: { requestApproval },
    plugins: [{ id: "tool-preflight", source: QUICK_START }, ORDERED, WRITER],
  });
  const tool = (script: Script, params?: Record<string, unknown>, toolName = "exec") =>
    shared.host.run("before_tool_call", toolCall(script, params, toolName));

  it("'register typed plugin hooks with api.on from your plugin entry': the quick start asks before a search, and only then", async () => {
    const search = await tool({}, { query: "creels" }, "web_search");
    expect(search).toMatchObject({ decision: "pass", approval: { pluginId: "tool-preflight", resolution: "allow-once" } });
    expect(requestApproval.mock.calls[0]?.[0]).toMatchObject({
      title: "Run web search",
      description: "Allow search query: creels",
      severity: "info",
      timeoutMs: 60_000,
    });
    expect((await tool({})).approval).toBeUndefined();
  });

  it("'hook handlers run sequentially in descending priority', 'same-priority hooks keep registration order'", async () => {
    expect((await shared.host.run("before_dispatch", dispatch({}, ""))).result?.content).toBe("abcd");
  });

  it("'before_tool_call receives toolName, params, runId, toolCallId, and context fields'", async () => {
    const event = { ...toolCall({ a: `state.saw = [event, ctx]` }, { x: 1 }, "exec"), runId: "r", toolCallId: "c" };
    const ctx = { toolName: "exec", agentId: "main", sessionKey: "k", sessionId: "s", trace: { traceId: "t" } };
    await shared.host.run("before_tool_call", event, ctx);
    expect(await ask(shared.host, "a", "state.saw")).toEqual([event, ctx]);
  });

  it("'block: true is terminal and skips lower-priority handlers'", async () => {
    const outcome = await tool({ a: `return { block: true, blockReason: "r" }`, b: `return { params: {} }` });
    expect(outcome).toMatchObject({ decision: "block", by: "a", reason: "r" });
    expect(statuses(outcome)).toEqual(["tool-preflight:ok", "a:ok", "b:skipped"]);
  });

  it("'block: false is treated as no decision'", async () => {
    expect(await tool({ a: `return { block: false }`, b: `return { params: { x: 1 } }` })).toMatchObject({
      decision: "pass",
      result: { params: { x: 1 } },
    });
  });

  it("'params rewrites the tool parameters for execution'", async () => {
    expect((await tool({ a: `return { params: { x: 2 } }` }, { x: 1, y: 1 })).result?.params).toEqual({ x: 2, y: 1 });
  });

  it("'requireApproval pauses the agent run and asks the user'", async () => {
    const asked = Promise.withResolvers<void>();
    const decided = Promise.withResolvers<"allow-once">();
    requestApproval.mockImplementation(() => {
      asked.resolve();
      return decided.promise;
    });
    const ended = vi.fn<() => void>();
    const running = tool({ a: `return { ${approval()} }` }).finally(ended);
    await asked.promise;
    expect(ended).not.toHaveBeenCalled();
    decided.resolve("allow-once");
    expect((await running).decision).toBe("pass");
  });

  it("'a lower-priority block: true can still block after a higher-priority hook requested approval'", async () => {
    expect(await tool({ a: `return { ${approval()} }`, b: `return { block: true }` })).toMatchObject({ decision: "block", by: "b" });
    expect(requestApproval).not.toHaveBeenCalled();
  });

  it("'onResolution receives the resolved decision: allow-once, allow-always, deny, timeout, or cancelled'", async () => {
    const answers = ["allow-once", "deny", null, undefined, "allow-always"] as const;
    const heard: string[] = [];
    for (const answer of answers) {
      requestApproval.mockResolvedValueOnce(answer);
      const told = next(shared.host, "log", ({ text }) => text.startsWith("resolved "));
      await tool({ a: `return { ${approval(`, onResolution: (decision) => console.log("resolved", decision)`)} }` });
      heard.push((await told).text.slice("resolved ".length));
    }
    expect(heard).toEqual(["allow-once", "deny", "timeout", "cancelled", "allow-always"]);
  });

  it("'strips toolResult.details before provider replay and compaction input'", () => {
    const messages = [
      { role: "user", content: "u" },
      { role: "toolResult", content: "r", details: { x: 1 } },
    ];
    expect(stripDetails(messages)).toEqual([messages[0], { role: "toolResult", content: "r" }]);
  });

  const persisted = (event: { content: string; details: unknown; do?: Script }) =>
    persistToolResult(shared.host, { message: { role: "toolResult", content: event.content, details: event.details }, do: event.do });
  const TRUNCATED = { blocked: false, message: { details: { persistedDetailsTruncated: true } } };

  it("'oversized details are replaced with a compact summary and persistedDetailsTruncated: true'", () => {
    expect(persisted({ content: "r", details: { x: 1 } })).toMatchObject({ message: { details: { x: 1 } } });
    const written = persisted({ content: "r", details: { big: "x".repeat(100_000) } });
    expect(written).toMatchObject(TRUNCATED);
    expect(JSON.stringify(written).length).toBeLessThan(1_000);
  });

  it("'tool_result_persist and before_message_write run before the final persistence cap'", () => {
    const grow = `return { message: { ...event.message, details: { big: "x".repeat(100000) } } }`;
    expect(persisted({ content: "r", details: {}, do: { a: grow } })).toMatchObject(TRUNCATED);
    expect(persisted({ content: "grow when written", details: {} })).toMatchObject(TRUNCATED);
  });
});
