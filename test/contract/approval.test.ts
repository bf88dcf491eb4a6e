/** Approvals: the host asks through the gateway, and nothing but an allowing answer in time lets the tool run. Facts 33–42. */
import { afterEach, expect, it, vi } from "vitest";
import type { RequestApproval } from "creel";
import { actor, toolCall } from "../support/actors.ts";
import { contract, open, sharedHost } from "../support/host.ts";

const request = (more = "") => `return { requireApproval: { title: "Search?", description: "It searches.", severity: "warning" ${more} } }`;

contract("approval", (isolation) => {
  const gateway = vi.fn<RequestApproval>();
  afterEach(() => gateway.mockReset());
  const shared = sharedHost(isolation, {
    plugins: [actor("asker", { priority: 5 }), actor("later")],
    gateway: { requestApproval: gateway },
  });
  // "Always" is remembered for an agent: every run is another agent's.
  let agents = 0;
  const context = () => ({ toolName: "web_search", agentId: `agent-${agents++}`, sessionKey: "s" });
  const run = (more = "", params: Record<string, unknown> = { q: "x" }, signal?: AbortSignal) =>
    shared.host.run("before_tool_call", toolCall({ asker: request(more) }, params), context(), signal && { signal });

  it.each(["allow-once", "allow-always"] as const)("%s lets the tool run", async (decision) => {
    gateway.mockResolvedValue(decision);
    const outcome = await run();
    expect(outcome).toMatchObject({ decision: "pass", by: undefined, approval: { pluginId: "asker", resolution: decision } });
    expect(outcome.result).toEqual({});
  });

  it("the question carries the request, who asks, and the parameters that will run", async () => {
    gateway.mockResolvedValue("allow-once");
    const outcome = await shared.host.run(
      "before_tool_call",
      {
        ...toolCall({ asker: `return { params: { q: "y" }, requireApproval: { title: "T", description: "D" } }` }, { q: "x", n: 1 }),
        toolCallId: "call-7",
      },
      { toolName: "web_search", agentId: "main", sessionKey: "s" },
    );
    expect(gateway).toHaveBeenCalledOnce();
    const [question] = gateway.mock.calls[0]!;
    expect(question).toEqual({
      title: "T",
      description: "D",
      pluginId: "asker",
      hook: "before_tool_call",
      runId: outcome.runId,
      toolName: "web_search",
      toolCallId: "call-7",
      agentId: "main",
      sessionKey: "s",
      params: { q: "y", n: 1 },
      requests: [{ pluginId: "asker", title: "T", description: "D" }],
      changes: [],
      timeoutMs: 120_000,
      timeoutBehavior: "deny",
      allowedDecisions: ["allow-once", "allow-always", "deny"],
    });
    expect(outcome.result).toEqual({ params: question.params });
  });

  it("a gateway that changes the question's parameters does not change what runs", async () => {
    gateway.mockImplementation(async (question) => {
      (question.params.deep as { x: number }).x = 666;
      return "allow-once";
    });
    const params = { deep: { x: 1 } };
    const outcome = await shared.host.run(
      "before_tool_call",
      toolCall({ asker: `return { params: { more: 1 }, requireApproval: { title: "T", description: "D" } }` }, params),
    );
    expect(outcome.result?.params).toEqual({ deep: { x: 1 }, more: 1 });
    expect(params).toEqual({ deep: { x: 1 } });
  });

  it("parameters that JSON leaves out, such as functions, do not make the run reject", async () => {
    gateway.mockResolvedValue("allow-once");
    const outcome = await run("", { q: "x", callback() {} });
    expect(outcome.decision).toBe("pass");
    expect(gateway.mock.calls[0]?.[0].params).toEqual({ q: "x" });
  });

  it("deny blocks, in the name of the plugin that asked", async () => {
    gateway.mockResolvedValue("deny");
    expect(await run()).toMatchObject({
      decision: "block",
      by: "asker",
      reason: "Denied by user",
      result: { block: true, blockReason: "Denied by user" },
      approval: { pluginId: "asker", resolution: "deny" },
    });
  });

  it("nobody answering counts as a timeout and blocks", async () => {
    gateway.mockResolvedValue(null);
    expect(await run()).toMatchObject({
      decision: "block",
      by: "asker",
      reason: "Approval timed out",
      approval: { resolution: "timeout" },
    });
  });

  it("no answer within the request's timeoutMs blocks, with its own reason, and the gateway hears that the host gave up", async () => {
    const signals: AbortSignal[] = [];
    gateway.mockImplementation((_, { signal }) => {
      signals.push(signal);
      return new Promise(() => {});
    });
    expect(await run(`, timeoutMs: 30, timeoutReason: "too late"`)).toMatchObject({
      decision: "block",
      reason: "too late",
      approval: { resolution: "timeout" },
    });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });

  it("timeoutBehavior allow is not honoured unless the operator permits it", async () => {
    gateway.mockResolvedValue(null);
    expect(await run(`, timeoutBehavior: "allow"`)).toMatchObject({ decision: "block", approval: { resolution: "timeout" } });
  });

  it("a request for an hour is cut to the host's maximum", async () => {
    gateway.mockResolvedValue("allow-once");
    await run(`, timeoutMs: 3600000`);
    expect(gateway.mock.calls[0]?.[0].timeoutMs).toBe(600_000);
  });

  it("a decision outside allowedDecisions counts as a timeout, but deny is always heard", async () => {
    gateway.mockResolvedValueOnce("allow-always").mockResolvedValueOnce("deny").mockResolvedValueOnce("allow-once");
    const only = `, allowedDecisions: ["allow-once"]`;
    expect(await run(only)).toMatchObject({ decision: "block", approval: { resolution: "timeout" } });
    expect(await run(only)).toMatchObject({ decision: "block", approval: { resolution: "deny" } });
    expect(await run(only)).toMatchObject({ decision: "pass", approval: { resolution: "allow-once" } });
  });

  it.each([true, "yes", {}])("an answer that is no decision (%o) blocks", async (answer) => {
    gateway.mockResolvedValue(answer as never);
    expect(await run()).toMatchObject({ decision: "block", by: "asker", approval: { resolution: "timeout" } });
  });

  it("a gateway with nobody to ask says so with undefined, and the tool is blocked as cancelled", async () => {
    gateway.mockResolvedValue(undefined);
    expect(await run()).toMatchObject({ decision: "block", by: "asker", approval: { resolution: "cancelled" } });
  });

  it("a gateway that rejects, or throws, blocks as cancelled", async () => {
    gateway.mockRejectedValueOnce(new Error("RPC down"));
    const expected = { decision: "block", reason: "Plugin approval required (gateway unavailable)", approval: { resolution: "cancelled" } };
    expect(await run()).toMatchObject(expected);
    gateway.mockImplementationOnce(() => {
      throw new Error("RPC down");
    });
    expect(await run()).toMatchObject(expected);
  });

  it("an abort while the user is asked rejects the run and tells the gateway", async () => {
    const asked = Promise.withResolvers<AbortSignal>();
    gateway.mockImplementation((_, { signal }) => {
      asked.resolve(signal);
      return new Promise(() => {});
    });
    const controller = new AbortController();
    const running = run("", {}, controller.signal);
    const signal = await asked.promise;
    controller.abort(new Error("the user left"));
    await expect(running).rejects.toThrow("the user left");
    expect(signal.aborted).toBe(true);
  });

  it("a block means that nobody is asked", async () => {
    const outcome = await shared.host.run("before_tool_call", toolCall({ asker: request(), later: `return { block: true }` }), context());
    expect(outcome).toMatchObject({ decision: "block", by: "later" });
    expect(gateway).not.toHaveBeenCalled();
  });

  it.each([`title: ""`, `title: "x".repeat(81)`, `description: "x".repeat(513)`, `severity: "fatal"`, `timeoutMs: -1`])(
    "a request with %s is the handler's failure, and blocks",
    async (field) => {
      const outcome = await run(`, ${field}`);
      expect(outcome).toMatchObject({ decision: "block", by: "asker" });
      expect(outcome.calls[0]).toMatchObject({ status: "failed", error: { code: "ERR_CALL_RESULT" } });
      expect(outcome.reason).toContain(`requireApproval.${field.split(":")[0]}`);
      expect(gateway).not.toHaveBeenCalled();
    },
  );

  it("without an approval route the tool is blocked as cancelled", async () => {
    await using host = await open(isolation, { plugins: [actor("asker")] });
    expect(await host.run("before_tool_call", toolCall({ asker: request() }))).toMatchObject({
      decision: "block",
      by: "asker",
      reason: "Plugin approval unavailable (no approval route)",
      approval: { pluginId: "asker", resolution: "cancelled" },
    });
  });
});
