/** Approvals that wait: operators see and answer them beside the gateway; the first valid answer wins, and only for what was shown. */
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Facts, PendingApproval, RequestApproval } from "creel";
import { LIMITS } from "../../src/protocol/limits.ts";
import { actor, toolCall } from "../support/actors.ts";
import { contract, next, open, sharedHost } from "../support/host.ts";

const request = (more = "") => `return { requireApproval: { title: "Search?", description: "It searches.", severity: "warning" ${more} } }`;
const reply = ({ id, digest }: PendingApproval, decision: "allow-once" | "allow-always" | "deny" = "allow-once") => ({
  id,
  digest,
  decision,
});

contract("the desk", (isolation) => {
  const gateway = vi.fn<RequestApproval>();
  afterEach(() => gateway.mockReset());
  const shared = sharedHost(isolation, {
    plugins: [actor("asker", { priority: 5 }), actor("later")],
    gateway: { requestApproval: gateway },
  });
  // "Always" is remembered for an agent: every run is another agent's.
  let agents = 0;
  const context = () => ({ toolName: "web_search", agentId: `agent-${agents++}`, sessionKey: "s" });
  const run = (more = "", params: Record<string, unknown> = { q: "x" }, options = {}) =>
    shared.host.run("before_tool_call", toolCall({ asker: request(more) }, params), context(), options);
  /** Starts a run whose gateway never answers, and gives what waits then. */
  const waiting = async (more = "", params?: Record<string, unknown>) => {
    const aborted = Promise.withResolvers<void>();
    gateway.mockImplementation(async (_, { signal }) => {
      signal.addEventListener("abort", () => aborted.resolve(), { once: true });
      return new Promise<never>(() => {});
    });
    const asked = next(shared.host, "approval", ({ what }) => what === "asked");
    const outcome = run(more, params);
    const { pending } = await asked;
    return { outcome, pending: pending!, gatewayTold: aborted.promise };
  };

  it("what waits is listed with its parameters as they would run, its requests, the answers that count, and its time by the host's clock", async () => {
    const before = Date.now();
    gateway.mockImplementation(() => new Promise(() => {}));
    const asked = next(shared.host, "approval");
    const outcome = shared.host.run(
      "before_tool_call",
      toolCall(
        {
          asker: `return { params: { q: "y" }, ...(() => { ${request(`, timeoutMs: 5000, allowedDecisions: ["allow-once", "deny"]`)} })() }`,
        },
        { q: "x", n: 1 },
      ),
      { toolName: "web_search", agentId: "main", sessionKey: "s" },
    );
    await asked;
    const [pending, ...others] = await shared.host.pendingApprovals();
    expect(others).toEqual([]);
    expect(pending).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}$/),
      runId: expect.any(String),
      toolName: "web_search",
      agentId: "main",
      sessionKey: "s",
      params: { q: "y", n: 1 },
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      requests: [{ pluginId: "asker", title: "Search?", description: "It searches.", severity: "warning" }],
      allowed: ["allow-once", "deny"],
      askedAt: expect.any(Number),
      expiresAt: pending!.askedAt + 5000,
    });
    expect(pending!.askedAt).toBeGreaterThanOrEqual(before);
    await shared.host.answerApproval(reply(pending!, "deny"));
    expect((await outcome).runId).toBe(pending!.runId);
    expect(await shared.host.pendingApprovals()).toEqual([]);
  });

  it("an operator's answer decides beside a gateway that is still asked, and the gateway is told", async () => {
    const { outcome, pending, gatewayTold } = await waiting();
    const receipt = await shared.host.answerApproval({ ...reply(pending), by: "alice" }, "console");
    expect(receipt).toEqual({ status: "accepted", resolution: "allow-once", by: "alice" });
    expect(await outcome).toMatchObject({ decision: "pass", approval: { resolution: "allow-once", answeredBy: "alice" } });
    await gatewayTold;
    const [entry] = await shared.host.approvalLedger();
    expect(entry).toEqual({
      seq: expect.any(Number),
      at: expect.any(Number),
      id: pending.id,
      runId: pending.runId,
      toolName: "web_search",
      plugins: ["asker"],
      titles: ["Search?"],
      digest: pending.digest,
      resolution: "allow-once",
      by: "alice",
      from: "console",
      waitedMs: expect.any(Number),
    });
  });

  it("the first answer wins; the others learn how it ended, and so does the gateway's own late answer", async () => {
    const { outcome, pending } = await waiting();
    const answers = await Promise.all([
      shared.host.answerApproval(reply(pending, "deny")),
      shared.host.answerApproval(reply(pending, "allow-once")),
      shared.host.answerApproval(reply(pending, "allow-always")),
    ]);
    expect(answers.map(({ status }) => status)).toEqual(["accepted", "settled", "settled"]);
    expect(answers[1]).toEqual({ status: "settled", resolution: "deny" });
    expect(await outcome).toMatchObject({ decision: "block", reason: "Denied by user", approval: { resolution: "deny" } });
    expect(shared.host.approvals()).toEqual([]);
  });

  it("an answer to other parameters, to an unknown id, or that a request does not permit, decides nothing", async () => {
    const { outcome, pending } = await waiting(`, allowedDecisions: ["allow-once", "deny"]`);
    const { host } = shared;
    expect(await host.answerApproval({ ...reply(pending), digest: "0".repeat(64) })).toEqual({ status: "changed" });
    expect(await host.answerApproval({ ...reply(pending), digest: pending.digest.slice(0, 12) })).toEqual({ status: "changed" });
    expect(await host.answerApproval({ ...reply(pending), id: "ffffffff" })).toEqual({ status: "unknown" });
    expect(await host.answerApproval({ ...reply(pending), id: "__proto__" })).toEqual({ status: "unknown" });
    expect(await host.answerApproval(reply(pending, "allow-always"))).toEqual({ status: "refused" });
    expect(await host.answerApproval({ ...reply(pending), decision: "yes" as never })).toEqual({ status: "refused" });
    expect(await host.pendingApprovals()).toHaveLength(1);
    expect(await host.answerApproval(reply(pending, "deny"))).toMatchObject({ status: "accepted" });
    await outcome;
  });

  it("the digest is of tool and parameters: the order of keys does not change it, any value does", async () => {
    const digests: string[] = [];
    for (const params of [{ a: 1, b: { c: 2, d: [1, 2] } }, { b: { d: [1, 2], c: 2 }, a: 1 }, { a: 1, b: { c: 2, d: [2, 1] } }, { a: 1 }]) {
      const { outcome, pending } = await waiting("", params);
      digests.push(pending.digest);
      await shared.host.answerApproval(reply(pending, "deny"));
      await outcome;
    }
    expect(digests[1]).toBe(digests[0]);
    expect(new Set(digests).size).toBe(3);
  });

  it("facts tell asked, settled and expired, each once", async () => {
    const facts: Facts["approval"][] = [];
    const off = shared.host.on("approval", (fact) => facts.push(fact));
    const { outcome, pending } = await waiting();
    await shared.host.answerApproval({ ...reply(pending), by: "bob" }, "cli");
    await outcome;
    gateway.mockImplementation(() => new Promise(() => {}));
    await run(", timeoutMs: 20");
    off();
    const [runId, toolName] = [pending.runId, "web_search"];
    expect(facts).toMatchObject([
      { what: "asked", id: pending.id, runId, toolName, plugins: ["asker"], pending },
      { what: "settled", id: pending.id, runId, resolution: "allow-once", by: "bob", from: "cli" },
      { what: "asked" },
      { what: "expired", resolution: "timeout", from: "none" },
    ]);
    expect(facts).toHaveLength(4);
  });

  it("an answer after the time is over is late, even if the host's timer has not fired yet", async () => {
    const { outcome, pending } = await waiting(", timeoutMs: 60000");
    const clock = vi.spyOn(Date, "now").mockReturnValue(pending.expiresAt);
    try {
      expect(await shared.host.answerApproval(reply(pending))).toEqual({ status: "settled", resolution: "timeout" });
    } finally {
      clock.mockRestore();
    }
    expect(await outcome).toMatchObject({ decision: "block", reason: "Approval timed out", approval: { resolution: "timeout" } });
  });

  it("a run that is aborted leaves nothing that waits", async () => {
    const stop = new AbortController();
    gateway.mockImplementation(() => new Promise(() => {}));
    const asked = next(shared.host, "approval");
    const outcome = run("", { q: "x" }, { signal: stop.signal });
    const { id } = await asked;
    stop.abort(new Error("enough"));
    await expect(outcome).rejects.toThrow("enough");
    expect(await shared.host.pendingApprovals()).toEqual([]);
    expect(await shared.host.answerApproval({ id, digest: "", decision: "deny" })).toEqual({ status: "settled", resolution: "cancelled" });
  });

  it("a run whose caller answers by itself is listed, and no operator can answer it", async () => {
    const asked = next(shared.host, "approval");
    const decided = Promise.withResolvers<"allow-once">();
    const outcome = run("", { q: "x" }, { requestApproval: () => decided.promise });
    const { pending } = await asked;
    expect(pending!.allowed).toEqual([]);
    expect(await shared.host.answerApproval(reply(pending!, "deny"))).toEqual({ status: "refused" });
    decided.resolve("allow-once");
    expect(await outcome).toMatchObject({ decision: "pass" });
    expect(gateway).not.toHaveBeenCalled();
  });

  it("parameters that are too large to be shown can be denied by an operator, not allowed", async () => {
    const { outcome, pending } = await waiting("", { text: "x".repeat(LIMITS.approval.shownBytes) });
    expect(pending).toMatchObject({ isCut: true, params: {}, allowed: ["deny"] });
    expect(await shared.host.answerApproval(reply(pending))).toEqual({ status: "refused" });
    expect(await shared.host.answerApproval(reply(pending, "deny"))).toMatchObject({ status: "accepted" });
    expect(await outcome).toMatchObject({ decision: "block" });
  });

  it.each([undefined, null, "maybe"] as const)(
    "a gateway that answers %s does not end it while somebody offers to answer",
    async (nothing) => {
      const leave = shared.host.offerAnswers();
      try {
        gateway.mockResolvedValue(nothing as never);
        const asked = next(shared.host, "approval");
        const outcome = run();
        const { pending } = await asked;
        expect(await shared.host.answerApproval(reply(pending!))).toMatchObject({ status: "accepted" });
        expect(await outcome).toMatchObject({ decision: "pass" });
      } finally {
        leave();
      }
    },
  );

  it("a gateway that fails does not end it while somebody offers to answer", async () => {
    const leave = shared.host.offerAnswers();
    gateway.mockRejectedValue(new Error("broken"));
    const asked = next(shared.host, "approval");
    const outcome = run();
    const { pending } = await asked;
    await shared.host.answerApproval(reply(pending!));
    leave();
    expect(await outcome).toMatchObject({ decision: "pass" });
    expect(await run()).toMatchObject({ decision: "block", reason: "Plugin approval required (gateway unavailable)" });
  });

  describe("a gateway without a user to ask", () => {
    const plugins = [actor("asker")];
    const call = toolCall({ asker: request(", timeoutMs: 30") });

    it("blocks at once; with an offer a call waits until it expires; after the last offer it blocks at once again", async () => {
      await using host = await open(isolation, { plugins });
      const blocked = { decision: "block", reason: "Plugin approval unavailable (no approval route)" };
      expect(await host.run("before_tool_call", call)).toMatchObject(blocked);
      const [first, second] = [host.offerAnswers(), host.offerAnswers()];
      first();
      first();
      expect(await host.run("before_tool_call", call)).toMatchObject({ decision: "block", reason: "Approval timed out" });
      second();
      expect(await host.run("before_tool_call", call)).toMatchObject(blocked);
      // What no person could see is no entry.
      expect((await host.approvalLedger()).map(({ resolution, from }) => `${resolution} ${from}`)).toEqual(["timeout none"]);
    });

    it("waits without an offer if approvals.plugin.answerable says so", async () => {
      await using host = await open(isolation, { plugins, config: { approvals: { plugin: { answerable: true } } } });
      const asked = next(host, "approval");
      const outcome = host.run("before_tool_call", toolCall({ asker: request() }));
      const { pending } = await asked;
      await host.answerApproval(reply(pending!));
      expect(await outcome).toMatchObject({ decision: "pass" });
    });
  });
});
