/** Facts 33 to 42: approvals. */
import { getEventListeners } from "node:events";
import { afterEach, expect, it, vi } from "vitest";
import type { RequestApproval } from "creel";
import { toolCall } from "../support/actors.ts";
import { contract, next } from "../support/host.ts";
import { pair } from "./stage.ts";

const asking = (more = "") =>
  `return { params: { a: 9 }, requireApproval: { title: "t", description: "d", onResolution: (decision) => console.log("resolved", decision) ${more} } }`;

contract("facts: approvals", (isolation) => {
  const requestApproval = vi.fn<RequestApproval>();
  afterEach(() => requestApproval.mockReset());
  const gateway = { requestApproval };
  const shared = pair(isolation, ["before_tool_call"], { gateway });
  const permitting = pair(isolation, ["before_tool_call"], { gateway, config: { approvals: { plugin: { allowOnTimeout: true } } } });

  /** The run, and what onResolution was told. */
  async function run(more = "", { host } = shared) {
    const told = next(host, "log", ({ text }) => text.startsWith("resolved "));
    const outcome = await host.run("before_tool_call", toolCall({ a: asking(more) }, { a: 1 }));
    return { ...outcome, told: (await told).text.slice("resolved ".length) };
  }

  it("33. allow-once: the gateway is asked once, and the call goes on", async () => {
    requestApproval.mockResolvedValue("allow-once");
    expect(await run()).toMatchObject({ decision: "pass", result: { params: { a: 9 } }, told: "allow-once" });
    expect(requestApproval).toHaveBeenCalledOnce();
  });

  it("34. deny: blocked, denied by the user", async () => {
    requestApproval.mockResolvedValue("deny");
    expect(await run()).toMatchObject({ decision: "block", reason: "Denied by user", told: "deny" });
  });

  it("35. no decision: timed out, and blocked", async () => {
    requestApproval.mockResolvedValue(null);
    expect(await run()).toMatchObject({ decision: "block", reason: "Approval timed out", told: "timeout" });
  });

  it("36. overridden: timeoutBehavior allow does not let the call run, unless the operator permits it", async () => {
    requestApproval.mockResolvedValue(null);
    const more = `, timeoutBehavior: "allow"`;
    expect(await run(more)).toMatchObject({ decision: "block", reason: "Approval timed out", told: "timeout" });
    expect(await run(more, permitting)).toMatchObject({ decision: "pass", result: { params: { a: 9 } }, told: "timeout" });
  });

  it("38. a gateway that fails to ask: blocked, cancelled", async () => {
    requestApproval.mockRejectedValue(new Error("RPC down"));
    expect(await run()).toMatchObject({
      decision: "block",
      reason: "Plugin approval required (gateway unavailable)",
      told: "cancelled",
    });
  });

  it("40. overridden: an abort while the user is asked rejects the run, as any abort does; cancelled, and no listener is left", async () => {
    const asked = Promise.withResolvers<AbortSignal>();
    requestApproval.mockImplementation((_, { signal }) => {
      asked.resolve(signal);
      return new Promise(() => {});
    });
    const told = next(shared.host, "log", ({ text }) => text.startsWith("resolved "));
    const controller = new AbortController();
    const running = shared.host.run("before_tool_call", toolCall({ a: asking() }), undefined, { signal: controller.signal });
    const heard = await asked.promise;
    controller.abort(new Error("the run was aborted"));
    await expect(running).rejects.toThrow("the run was aborted");
    expect(heard.aborted).toBe(true);
    expect((await told).text).toBe("resolved cancelled");
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
  });

  it("42. a decision outside allowedDecisions counts as a timeout, but deny is always allowed", async () => {
    const more = `, allowedDecisions: ["allow-once"]`;
    requestApproval.mockResolvedValueOnce("allow-always").mockResolvedValueOnce("deny");
    expect(await run(more)).toMatchObject({ decision: "block", told: "timeout" });
    expect(await run(more)).toMatchObject({ decision: "block", told: "deny" });
  });
});
