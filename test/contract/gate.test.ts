/** Gate hooks: a terminal result ends the run, rewrites reach the handlers behind, a failure means what the policy says. Facts 11–28 and 43–47. */
import { describe, expect, it } from "vitest";
import { actor, ask, sending, toolCall } from "../support/actors.ts";
import type { Script } from "../support/actors.ts";
import { contract, open, plugin, sharedHost, statuses } from "../support/host.ts";

const APPROVE = `requireApproval: { title: "t", description: "d" }`;

contract("gate", (isolation) => {
  describe.each([1, 3])("on %i lanes", (lanes) => {
    const shared = sharedHost(isolation, {
      lanes,
      plugins: [actor("a", { priority: 10 }), actor("b", { priority: 5 }), actor("c")],
      gateway: { requestApproval: async () => "allow-once" },
    });
    const tool = (script: Script, params?: Record<string, unknown>) => shared.host.run("before_tool_call", toolCall(script, params));
    const send = (script: Script, content?: string) => shared.host.run("message_sending", sending(script, content), { channelId: "chat" });

    it("block: true ends the run, names who and why, and skips the rest", async () => {
      const outcome = await tool({ b: `return { block: true, blockReason: "no" }`, c: `state.wasCalled = true` });
      expect(outcome).toMatchObject({ decision: "block", by: "b", reason: "no", result: { block: true, blockReason: "no" } });
      expect(statuses(outcome)).toEqual(["a:ok", "b:ok", "c:skipped"]);
      expect(await ask(shared.host, "c", "state.wasCalled")).toBeNull();
    });

    it("cancel: true ends the run of message_sending in the same way", async () => {
      const outcome = await send({
        a: `return { cancel: true, cancelReason: "r", content: "g" }`,
        b: `return { cancel: false, content: "m" }`,
      });
      expect(outcome).toMatchObject({
        decision: "cancel",
        by: "a",
        reason: "r",
        result: { cancel: true, cancelReason: "r", content: "g" },
      });
      expect(statuses(outcome)).toEqual(["a:ok", "b:skipped", "c:skipped"]);
    });

    it("an asynchronous block ends the run just as well", async () => {
      const outcome = await tool({
        a: `async await new Promise((r) => setTimeout(r, 1)); return { block: true }`,
        b: `return { params: { x: 1 } }`,
      });
      expect(outcome).toMatchObject({ decision: "block", by: "a", reason: undefined, result: { block: true } });
      expect(statuses(outcome)).toEqual(["a:ok", "b:skipped", "c:skipped"]);
    });

    it("false is no decision", async () => {
      const outcome = await tool({ a: `return { block: false, blockReason: "unused" }`, c: `return { params: { x: 1 } }` });
      expect(outcome).toMatchObject({ decision: "pass", by: undefined, reason: undefined });
      expect(outcome.result?.params).toEqual({ x: 1 });
      expect((await send({ a: `return { cancel: false }` })).decision).toBe("pass");
    });

    it("a false behind a true cannot take it back, because it does not run", async () => {
      const outcome = await tool({ a: `return { block: true, blockReason: "r1" }`, b: `return { block: false }` });
      expect(outcome.result).toEqual({ block: true, blockReason: "r1" });
    });

    it("a lower-priority handler sees the parameters as those before it left them", async () => {
      const outcome = await tool(
        { a: `return { params: { x: 1 } }`, b: `return { params: { b: { ...event.params } } }`, c: `return { params: { x: 2 } }` },
        { orig: true },
      );
      expect(outcome.result?.params).toEqual({ orig: true, x: 2, b: { orig: true, x: 1 } });
    });

    it("a guard judges what will really run", async () => {
      const outcome = await tool(
        {
          a: `return { params: { path: "/etc/shadow" } }`,
          c: `if (event.params.path !== "/tmp") return { block: true, blockReason: event.params.path }`,
        },
        { path: "/tmp" },
      );
      expect(outcome).toMatchObject({ decision: "block", by: "c", reason: "/etc/shadow" });
    });

    it("rewritten content continues to lower-priority handlers", async () => {
      const outcome = await send(
        { a: `return { content: event.content + "+a" }`, b: `return { content: event.content + "+b" }`, c: `return { cancel: true }` },
        "o",
      );
      expect(outcome).toMatchObject({ decision: "cancel", by: "c", result: { content: "o+a+b", cancel: true } });
    });

    it("what a handler does to its event in place reaches nobody", async () => {
      const event = toolCall(
        {
          a: `event.params.x = 1; event.toolName = "evil"; delete event.params.orig`,
          b: `return { params: { saw: { ...event.params }, name: event.toolName } }`,
        },
        { orig: true },
      );
      const outcome = await shared.host.run("before_tool_call", event);
      expect(outcome.result?.params).toEqual({ orig: true, saw: { orig: true }, name: "web_search" });
      expect(event.params).toEqual({ orig: true });
      expect(event.toolName).toBe("web_search");
    });

    it("parameters named like members of Object.prototype are data", async () => {
      const outcome = await tool({
        a: `return { params: JSON.parse('{"__proto__": {"polluted": 1}, "constructor": 2}') }`,
        b: `return { params: { saw: Object.keys(event.params) } }`,
      });
      expect(outcome.decision).toBe("pass");
      expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
      expect(outcome.result?.params?.["polluted"]).toBeUndefined();
      expect(outcome.result?.params?.["constructor"]).toBe(2);
    });

    it("a later handler sees what the one that asked for an approval made of the parameters, and can change them", async () => {
      const outcome = await tool(
        {
          a: `return { params: { x: 9 }, ${APPROVE} }`,
          b: `return { params: { x: 0, y: 0 } }`,
          c: `return { params: { saw: event.params.x } }`,
        },
        { orig: true },
      );
      expect(outcome.result?.params).toEqual({ orig: true, x: 0, y: 0, saw: 0 });
      expect(outcome.approval?.changes).toEqual([
        { pluginId: "b", params: ["x", "y"] },
        { pluginId: "c", params: ["saw"] },
      ]);
    });

    it("a guard behind a request for approval judges what another plugin made of the parameters since", async () => {
      const outcome = await tool(
        { a: `return { ${APPROVE} }`, b: `return { params: { x: 0 } }`, c: `if (event.params.x !== undefined) return { block: true }` },
        { orig: true },
      );
      expect(outcome).toMatchObject({ decision: "block", by: "c" });
    });

    it("a lower-priority block still wins after an approval was requested", async () => {
      const outcome = await tool({ a: `return { ${APPROVE} }`, c: `return { block: true, blockReason: "no" }` });
      expect(outcome).toMatchObject({ decision: "block", by: "c", reason: "no" });
      expect(outcome.approval).toBeUndefined();
    });

    it("every request for approval counts, stamped with the plugin's id whatever it wrote there, and none is left in the result", async () => {
      const outcome = await tool({
        b: `return { requireApproval: { title: "B", description: "d", pluginId: "evil" } }`,
        c: `return { requireApproval: { title: "C", description: "d" } }`,
      });
      expect(outcome.result).toEqual({});
      expect(outcome.approval).toEqual({
        pluginId: "b",
        resolution: "allow-once",
        requests: [
          { pluginId: "b", title: "B", resolution: "allow-once" },
          { pluginId: "c", title: "C", resolution: "allow-once" },
        ],
      });
    });

    it("a handler of before_tool_call that fails blocks the tool, named, and the rest does not run", async () => {
      const outcome = await tool({ a: `return { params: { x: 1 } }`, b: `throw new Error("boom")` });
      expect(outcome).toMatchObject({ decision: "block", by: "b" });
      expect(outcome.reason).toBe("before_tool_call handler of b failed: the handler threw: boom");
      expect(outcome.result).toMatchObject({ block: true, blockReason: outcome.reason, params: { x: 1 } });
      expect(statuses(outcome)).toEqual(["a:ok", "b:failed", "c:skipped"]);
    });

    it("an answer that is not of the hook's type fails closed just like a throw", async () => {
      const outcome = await tool({ b: `return { block: "yes" }` });
      expect(outcome).toMatchObject({ decision: "block", by: "b" });
      expect(outcome.reason).toContain('not valid at "block"');
    });

    it("a handler of message_sending that fails is skipped, and the others' results stand", async () => {
      const outcome = await send({
        a: `return { content: "a" }`,
        b: `throw new Error("boom")`,
        c: `return { content: event.content + "c" }`,
      });
      expect(outcome).toMatchObject({ decision: "pass", by: undefined, result: { content: "ac" } });
      expect(statuses(outcome)).toEqual(["a:ok", "b:failed", "c:ok"]);
    });

    it("a block by a handler whose turn also answered another run still skips the rest", async () => {
      const waiting = tool({ a: `async await new Promise((go) => { state.go = go; }); return { params: { waited: true } }` });
      const blocked = await tool({ a: `async state.go(); return { block: true }`, b: `state.leaked = true`, c: `state.leaked = true` });
      expect(statuses(blocked)).toEqual(["a:ok", "b:skipped", "c:skipped"]);
      expect((await waiting).result?.params).toEqual({ waited: true });
      expect(await ask(shared.host, "b", "state.leaked")).toBeNull();
    });
  });

  it("the operator can make a failure open or closed per hook", async () => {
    await using host = await open(isolation, {
      config: { hooks: { failure: { before_tool_call: "open", message_sending: "closed" } } },
      plugins: [actor("a", { priority: 1 }), actor("b")],
    });
    const tool = await host.run("before_tool_call", toolCall({ a: `throw new Error("boom")`, b: `return { params: { x: 1 } }` }));
    expect(tool).toMatchObject({ decision: "pass", by: undefined, result: { params: { x: 1 } } });
    const send = await host.run("message_sending", sending({ a: `throw new Error("boom")`, b: `return { content: "b" }` }), {
      channelId: "chat",
    });
    expect(send).toMatchObject({ decision: "cancel", by: "a", reason: "message_sending handler of a failed: the handler threw: boom" });
    expect(statuses(send)).toEqual(["a:failed", "b:skipped"]);
  });

  it("a handler with a matcher is called for its tools only, in any case of letters, and skipped for others", async () => {
    await using host = await open(isolation, {
      plugins: [
        plugin("picky", `api.on("before_tool_call", () => ({ block: true }), { matcher: ["Read", "write"] });`),
        plugin("any", `api.on("before_tool_call", () => ({ params: { any: true } }), { priority: -1 });`),
      ],
    });
    expect(await host.run("before_tool_call", { toolName: "READ", params: {} })).toMatchObject({ decision: "block", by: "picky" });
    const other = await host.run("before_tool_call", { toolName: "exec", params: {} });
    expect(other.result?.params).toEqual({ any: true });
    expect(statuses(other)).toEqual(["picky:skipped", "any:ok"]);
  });
});
