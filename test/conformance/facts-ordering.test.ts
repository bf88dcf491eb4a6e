/** Facts 1 to 10: order, observers, and what is no result. */
import { expect, it } from "vitest";
import { agentEnd, ask, prompt } from "../support/actors.ts";
import { contract, plugin, statuses } from "../support/host.ts";
import { dispatch, pair } from "./stage.ts";

const PRIORITIES = plugin(
  "priorities",
  `const append = (name) => (event) => ({ content: event.content + " " + name });
   api.on("before_dispatch", append("-1"), { priority: -1 });
   api.on("before_dispatch", append("unset"));
   api.on("before_dispatch", append("1"), { priority: 1 });
   api.on("before_dispatch", append("0"), { priority: 0 });`,
);

/** The one that starts first can only end when the one that starts last has run. */
const OBSERVERS = plugin(
  "observers",
  `const started = [];
   let release;
   const released = new Promise((resolve) => (release = resolve));
   api.on("session_start", () => { started.push("low"); release(); }, { priority: 1 });
   api.on("session_start", async () => { started.push("high"); await released; }, { priority: 9, timeoutMs: 5000 });
   api.on("before_agent_reply", () => ({ handled: true, reason: started.slice(0, 2).join() }));`,
  { hooks: { allowConversationAccess: true } },
);

contract("facts: ordering and general", (isolation) => {
  const shared = pair(isolation, ["agent_end", "before_prompt_build"], { plugins: [PRIORITIES, OBSERVERS] });

  it("1. higher priorities run first, unset is 0, and ties keep registration order", async () => {
    const { result } = await shared.host.run("before_dispatch", dispatch({}, "start"));
    expect(result?.content).toBe("start 1 unset 0 -1");
  });

  it("3. observers run side by side", async () => {
    const outcome = await shared.host.run("session_start", { sessionId: "s" });
    expect(statuses(outcome)).toEqual(["observers:ok", "observers:ok"]);
  });

  it("4. observers are started high priority first", async () => {
    await shared.host.run("session_start", { sessionId: "s" });
    expect((await shared.host.run("before_agent_reply", { cleanedBody: "" })).reason).toBe("high,low");
  });

  it("5. an observer that throws keeps no other from running, and nobody hears of it", async () => {
    const outcome = await shared.host.run("agent_end", agentEnd({ a: `throw new Error("no")`, b: `state.ran = true` }));
    expect(outcome).toMatchObject({ decision: "pass", result: undefined });
    expect(statuses(outcome)).toEqual(["a:failed", "b:ok"]);
    expect(await ask(shared.host, "b", "state.ran")).toBe(true);
  });

  it("6. what observers return is ignored", async () => {
    const outcome = await shared.host.run("agent_end", agentEnd({ a: `return { block: true }`, b: `return 5` }));
    expect(outcome).toMatchObject({ decision: "pass", result: undefined, by: undefined });
  });

  it("7. overridden: observers do not share the event, each has its own copy", async () => {
    const event = agentEnd({ a: `event.messages.push("mine")`, b: `state.saw = event.messages` });
    await shared.host.run("agent_end", event);
    expect(await ask(shared.host, "b", "state.saw")).toEqual([]);
    expect(event.messages).toEqual([]);
  });

  it("9. null is no result", async () => {
    const outcome = await shared.host.run("before_prompt_build", prompt({ a: `return null`, b: `return { systemPrompt: "b" }` }));
    expect(outcome.result).toEqual({ systemPrompt: "b" });
  });

  it("10. when no handler returns anything the result is undefined", async () => {
    expect((await shared.host.run("before_prompt_build", prompt({ a: `return undefined` }))).result).toBeUndefined();
  });
});
