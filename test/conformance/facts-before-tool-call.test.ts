/** Facts 11 to 31: before_tool_call. */
import { afterEach, expect, it, vi } from "vitest";
import type { RequestApproval } from "creel";
import { ask, toolCall } from "../support/actors.ts";
import type { Script } from "../support/actors.ts";
import { contract, plugin, silent, statuses } from "../support/host.ts";
import { pair } from "./stage.ts";

const APPROVAL = `requireApproval: { title: "t", description: "d" }`;

/** Both handlers are one plugin's. */
const TWICE = plugin(
  "twice",
  `api.on("before_tool_call", () => ({ params: { a: 9 }, ${APPROVAL} }), { priority: 10, matcher: ["twice"] });
   api.on("before_tool_call", () => ({ params: { a: 0 } }), { matcher: ["twice"] });`,
);
const SLOW = plugin("slow", `api.on("before_tool_call", () => new Promise(() => {}), { timeoutMs: 50, matcher: ["slow"] });`);
const READER = plugin("reader", `api.on("before_tool_call", () => ({ block: true }), { matcher: ["read"] });`);

contract("facts: before_tool_call", (isolation) => {
  const requestApproval = vi.fn<RequestApproval>(async () => "allow-once");
  afterEach(() => requestApproval.mockClear());
  const options = { plugins: [TWICE, SLOW, READER], gateway: { requestApproval } };
  const firstWins = pair(isolation, ["before_tool_call"], {
    ...options,
    logger: silent,
    config: { approvals: { plugin: { compat: "first-wins" } } },
  });
  const shared = pair(isolation, ["before_tool_call"], options);
  const likeOpenClaw = pair(isolation, ["before_tool_call"], { ...options, rewrites: "isolated" });

  const run = (script: Script, params?: Record<string, unknown>, toolName?: string, { host } = shared) =>
    host.run("before_tool_call", toolCall(script, params, toolName));
  const called = (outcome: Awaited<ReturnType<typeof run>>) => statuses(outcome).filter((status) => !status.endsWith(":skipped"));

  it("11. a block stands against a later block: false", async () => {
    const { result } = await run({ a: `return { block: true, blockReason: "r1" }`, b: `return { block: false }` });
    expect(result).toEqual({ block: true, blockReason: "r1" });
  });

  it("13. the last handler can block, too", async () => {
    const outcome = await run({ a: `return {}`, b: `return { block: true, blockReason: "r" }` });
    expect(outcome).toMatchObject({ decision: "block", by: "b", reason: "r" });
  });

  it("14. behind a block no handler is called", async () => {
    const outcome = await run({ a: `return { block: true }`, b: `state.wasCalled = true; return { params: { a: 1 } }` });
    expect(called(outcome)).toEqual(["a:ok"]);
    expect(await ask(shared.host, "b", "state.wasCalled")).toBeNull();
  });

  const rewrites = { a: `return { params: { a: 9 } }`, b: `return { params: { b: 8, saw: event.params.a } }` };
  const original = { a: 1, c: 1 };

  it("15. overridden: parameters of several handlers are laid over each other", async () => {
    expect((await run(rewrites, original)).result?.params).toMatchObject({ a: 9, b: 8 });
  });

  it("15. rewrites isolated: the last handler's parameters replace those before them", async () => {
    expect((await run(rewrites, original, undefined, likeOpenClaw)).result?.params).toEqual({ b: 8, saw: 1 });
  });

  it("16. overridden: the result holds all that will run, with the original parameters below", async () => {
    expect((await run(rewrites, original)).result?.params).toEqual({ a: 9, b: 8, c: 1, saw: 9 });
  });

  it("16. rewrites isolated: what runs, and what the user is asked about, is the last rewrite over the original", async () => {
    await run({ ...rewrites, b: `return { params: { b: 8 }, ${APPROVAL} }` }, original, undefined, likeOpenClaw);
    expect(requestApproval.mock.calls[0]?.[0].params).toEqual({ a: 1, b: 8, c: 1 });
  });

  it("17. overridden: a later handler sees the rewritten parameters, so that a guard judges what will run", async () => {
    expect((await run(rewrites, original)).result?.params?.["saw"]).toBe(9);
  });

  it("17. rewrites isolated: every handler sees the original parameters", async () => {
    expect((await run(rewrites, original, undefined, likeOpenClaw)).result?.params?.["saw"]).toBe(1);
  });

  it("18. a handler does not see what another did to the parameters in place", async () => {
    const { result } = await run({ a: `event.params.a = 9`, b: `return { params: { saw: event.params.a } }` }, { a: 1 });
    expect(result?.params).toEqual({ a: 1, saw: 1 });
  });

  it("19. parameters changed in place do not change the caller's", async () => {
    const params = { a: 1 };
    const { result } = await run({ a: `event.params.a = 9` }, params);
    expect([params, result]).toEqual([{ a: 1 }, undefined]);
  });

  it("20. an approval request carries the id of the plugin that registered the handler", async () => {
    expect((await run({ b: `return { ${APPROVAL} }` })).approval?.pluginId).toBe("b");
    expect(requestApproval.mock.calls[0]?.[0]).toMatchObject({ pluginId: "b", requests: [{ pluginId: "b" }] });
  });

  it("21. a pluginId of the plugin's own making is overwritten", async () => {
    await run({ a: `return { requireApproval: { title: "t", description: "d", pluginId: "evil" } }` });
    expect(requestApproval.mock.calls[0]?.[0]).toMatchObject({ pluginId: "a", requests: [{ pluginId: "a" }] });
  });

  const both = { a: `return { ${APPROVAL} }`, b: `return { ${APPROVAL} }` };
  const rewritten = { a: `return { params: { a: 9 }, ${APPROVAL} }`, b: `return { params: { a: 0 } }` };

  it("22. overridden: of two approval requests both are asked, in one question", async () => {
    expect((await run(both)).approval?.requests.map(({ pluginId }) => pluginId)).toEqual(["a", "b"]);
    expect(requestApproval).toHaveBeenCalledOnce();
  });

  it("22. first wins: of two approval requests the first one's is asked", async () => {
    const { approval } = await run(both, undefined, undefined, firstWins);
    expect(approval?.requests.map(({ pluginId }) => pluginId)).toEqual(["a"]);
    expect(requestApproval).toHaveBeenCalledOnce();
    expect(requestApproval.mock.calls[0]?.[0].requests).toHaveLength(1);
  });

  it("23. overridden: what another plugin changes after an approval was requested is part of the question, and runs", async () => {
    const { result } = await run(rewritten, { a: 1 });
    expect(result?.params).toEqual({ a: 0 });
    expect(requestApproval.mock.calls[0]?.[0]).toMatchObject({ params: { a: 0 }, changes: [{ pluginId: "b", params: { a: 0 } }] });
  });

  it("23. first wins: after an approval was requested, another plugin cannot change the parameters", async () => {
    const { result, approval } = await run(rewritten, { a: 1 }, undefined, firstWins);
    expect(result?.params).toEqual({ a: 9 });
    expect(approval?.changes).toBeUndefined();
    expect(requestApproval.mock.calls[0]?.[0]).toMatchObject({ params: { a: 9 }, changes: [] });
  });

  it("24. overridden: so is what the plugin that requested it changes afterwards", async () => {
    const outcome = await run({}, { a: 1 }, "twice");
    expect(outcome.result?.params).toEqual({ a: 0 });
    expect(requestApproval.mock.calls[0]?.[0]).toMatchObject({ params: { a: 0 }, changes: [{ pluginId: "twice", params: { a: 0 } }] });
  });

  it("24. first wins: nor can the plugin that requested it", async () => {
    const outcome = await run({}, { a: 1 }, "twice", firstWins);
    expect(outcome.result?.params).toEqual({ a: 9 });
    expect(called(outcome)).toEqual(["a:ok", "twice:ok", "b:ok", "twice:ok"]);
  });

  it("27. a block after an approval request wins, and nobody is asked", async () => {
    const outcome = await run({ a: `return { ${APPROVAL} }`, b: `return { block: true }` });
    expect(outcome).toMatchObject({ decision: "block", by: "b", result: { block: true } });
    expect(outcome.approval).toBeUndefined();
    expect(requestApproval).not.toHaveBeenCalled();
  });

  const boom = { a: `throw new Error("boom")`, b: `return { params: { a: 1 } }` };

  it("28. a handler that throws blocks the call, is named with its error, and lower handlers do not run", async () => {
    const outcome = await run(boom);
    expect(outcome).toMatchObject({ decision: "block", by: "a" });
    expect(outcome.reason).toMatch(/^before_tool_call handler of a failed: .*boom$/);
    expect(called(outcome)).toEqual(["a:failed"]);
  });

  it("29. overridden: the caller's reason is that very text, not a general one", async () => {
    const outcome = await run(boom);
    expect(outcome.result?.blockReason).toBe(outcome.reason);
    expect(outcome.reason).toContain(outcome.calls[0]!.error!.message);
  });

  it("30. a handler that is slower than its timeoutMs is given up, and the call blocked", async () => {
    const outcome = await run({}, {}, "slow");
    expect(outcome).toMatchObject({ decision: "block", by: "slow" });
    expect(outcome.calls.find(({ plugin: id }) => id === "slow")).toMatchObject({
      status: "timeout",
      error: { message: "the handler did not settle within 50 ms" },
    });
  });

  it("31. a handler with a matcher is not called for other tools", async () => {
    expect(called(await run({}, {}, "exec"))).toEqual(["a:ok", "b:ok"]);
    expect(await run({}, {}, "read")).toMatchObject({ decision: "block", by: "reader" });
  });
});
