/** `caller` walks up the stack through sloppy functions. The bootstrap has none, so it shows a plugin nothing of ours. */
import { expect, it, vi } from "vitest";
import { agentEnd, agentReply, persist, sending, toolCall } from "../support/actors.ts";
import { contract, open } from "../support/host.ts";

/** Functions of every kind that the bootstrap calls, each of which looks who called it. */
const BODY = `
const seen = {};
function spy(name, act = () => {}) {
  return function self(...args) {
    try { seen[name] = String(self.caller); } catch (error) { seen[name] = error.name; }
    return act(...args);
  };
}
const plugin = { register: spy("register", (api) => {
  const result = { toJSON: spy("toJSON", () => ({})) };
  api.on("message_sending", spy("handler", () => ({ then: spy("then", (resolve) => resolve(result)) })));
  api.on("before_tool_call", spy("thrower", () => { throw Object.defineProperty(new Error(), "message", { get: spy("message", () => "m") }); }));
  api.on("agent_end", spy("observer", () => { setTimeout(spy("timer"), 1); queueMicrotask(spy("microtask")); Promise.resolve().then(spy("reaction")); }));
  api.on("tool_result_persist", spy("sync", () => Object.defineProperty({}, "message", { enumerable: true, get: spy("getter", () => ({ ok: 1 })) })));
  api.on("before_agent_reply", () => ({ handled: true, reason: JSON.stringify(seen) }));
}) };
`;
const NAMES = "register handler then toJSON thrower message observer timer microtask reaction sync getter".split(" ");

contract("the caller of a plugin's function", (isolation) => {
  it.each([
    ["null, to a sloppy plugin", `${BODY} module.exports = plugin;`, "null"],
    ["a TypeError, to a strict one", `${BODY} export default plugin;`, "TypeError"],
  ])("is %s, wherever the bootstrap calls it", async (_, source, answer) => {
    await using host = await open(isolation, { plugins: [{ id: "p", source, hooks: { allowConversationAccess: true, cpuMs: 2_000 } }] });
    await host.run("message_sending", sending({}), { channelId: "chat" });
    await host.run("before_tool_call", toolCall({}));
    await host.run("agent_end", agentEnd({}));
    host.runSync("tool_result_persist", persist({}));
    await vi.waitFor(async () => {
      const { reason } = await host.run("before_agent_reply", agentReply({}));
      expect(JSON.parse(reason!)).toEqual(Object.fromEntries(NAMES.map((name) => [name, answer])));
    });
  });
});
