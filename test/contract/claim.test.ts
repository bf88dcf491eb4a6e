/** Claim hooks: the first `handled: true` wins and ends the run. Facts 79, 80 and 82. */
import { expect, it } from "vitest";
import { actor, agentReply } from "../support/actors.ts";
import type { Script } from "../support/actors.ts";
import { contract, sharedHost, statuses } from "../support/host.ts";

contract("claim", (isolation) => {
  const shared = sharedHost(isolation, { lanes: 2, plugins: [actor("a", { priority: 10 }), actor("b", { priority: 5 }), actor("c")] });
  const claim = (script: Script) => shared.host.run("before_agent_reply", agentReply(script));

  it("the first handled: true wins, gives the reply, and the next handler is not called", async () => {
    const outcome = await claim({
      b: `return { handled: true, reply: { text: "hi" }, reason: "r" }`,
      c: `return { handled: true, reply: { text: "no" } }`,
    });
    expect(outcome).toMatchObject({
      decision: "handled",
      by: "b",
      reason: "r",
      result: { handled: true, reply: { text: "hi" }, reason: "r" },
    });
    expect(statuses(outcome)).toEqual(["a:ok", "b:ok", "c:skipped"]);
  });

  it("handled: false leaves it to the next, and nothing it said counts", async () => {
    const outcome = await claim({
      a: `return { handled: false, reply: { text: "no" }, reason: "no" }`,
      c: `return { handled: true, reply: { text: "c" } }`,
    });
    expect(outcome).toMatchObject({ decision: "handled", by: "c", reason: undefined });
    expect(outcome.result).toEqual({ handled: true, reply: { text: "c" } });
  });

  it("when nobody claims, there is no result", async () => {
    const outcome = await claim({ a: `return { handled: false }`, b: `return null` });
    expect(outcome).toMatchObject({ decision: "pass", by: undefined, result: undefined, reason: undefined });
    expect(statuses(outcome)).toEqual(["a:ok", "b:ok", "c:ok"]);
  });

  it("a handler that throws or answers garbage is passed over", async () => {
    const outcome = await claim({ a: `throw "no"`, b: `return { handled: 1 }`, c: `async return { handled: true }` });
    expect(outcome).toMatchObject({ decision: "handled", by: "c", result: { handled: true } });
    expect(statuses(outcome)).toEqual(["a:failed", "b:failed", "c:ok"]);
  });
});
