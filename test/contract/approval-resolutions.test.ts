/**
 * What the plugin that asked for an approval hears of it: `onResolution` is called once, with the right word, however it ends.
 * What it heard is kept inside the cell, and asked for behind everything that went to it before.
 */
import { afterEach, describe, expect, it } from "vitest";
import type { ApprovalDecision, ApprovalQuestion, Host, OpenOptions, RequestApproval, SessionPatch } from "creel";
import { contract, next, open, plugin, recorder, sharedHost } from "../support/host.ts";
import type { Isolation, Line } from "../support/host.ts";

/** Asks before every tool, with what the event says; its onResolution keeps the decision, and then does what the event says. */
function asker(id: string, options: Parameters<typeof plugin>[2] = {}) {
  return plugin(
    id,
    `let heard = [];
     const boom = () => new Error("boom");
     const after = {
       throw() { throw boom(); },
       reject: () => Promise.reject(boom()),
       later: () => new Promise((_, reject) => setTimeout(() => reject(boom()), 5)),
       log: (decision) => api.logger.info("heard " + decision),
       patch: (decision) => new Promise((done) => setTimeout(done, 5)).then(() => api.session.patch({ key: "k", label: decision })),
     };
     api.on("before_tool_call", ({ request, deed, params }) => ({
       requireApproval: {
         title: "Search?",
         description: "It searches.",
         ...request,
         onResolution(decision) {
           heard.push((params.n ?? "") + decision);
           return after[deed]?.(decision);
         },
       },
     }));
     api.on("session:patch", () => {});
     api.on("message_sending", (event) => {
       if (event.content === "die") for (;;);
       const metadata = { heard };
       heard = [];
       return { metadata };
     });`,
    { ...options, hooks: { cpuMs: 200 } },
  );
}

/** What it has heard since it was last asked. */
async function heard(host: Host, id = "asker"): Promise<unknown> {
  return (await host.run("message_sending", { to: "u", content: "" }, { channelId: "chat" }, { plugin: id })).result?.metadata?.heard;
}

interface Asked {
  readonly request?: object;
  /** What onResolution does. */
  readonly deed?: string;
  readonly agentId?: string;
  readonly signal?: AbortSignal;
}

const run = (host: Host, { request, deed, agentId = "main", signal }: Asked = {}) =>
  host.run("before_tool_call", { toolName: "t", params: {}, request, deed }, { toolName: "t", agentId }, signal && { signal });

function withAsker(isolation: Isolation, requestApproval: RequestApproval | undefined, more: OpenOptions = {}): Promise<Host> {
  return open(isolation, { plugins: [asker("asker")], gateway: requestApproval ? { requestApproval } : {}, ...more });
}

const withTwo = (isolation: Isolation, requestApproval: RequestApproval | undefined) =>
  withAsker(isolation, requestApproval, { plugins: [asker("asker"), asker("second")] });
const bothHeard = async (host: Host) => [await heard(host), await heard(host, "second")];

/** A gateway that says when it was asked, and answers when it is told to. */
function held() {
  const asked = Promise.withResolvers<AbortSignal>();
  const answer = Promise.withResolvers<Awaited<ReturnType<RequestApproval>>>();
  const requestApproval: RequestApproval = (_, { signal }) => {
    asked.resolve(signal);
    return answer.promise;
  };
  return { requestApproval, asked: asked.promise, answer: answer.resolve };
}

const NOT_CALLED = /onResolution was not called|replaced meanwhile/;
const notCalled = (lines: readonly Line[]) => lines.filter((line) => NOT_CALLED.test(`${line.message} ${line.fields.text as string}`));

const never: RequestApproval = () => new Promise(() => {});

contract("resolutions", (isolation) => {
  let gateway: RequestApproval = never;
  const shared = sharedHost(isolation, {
    gateway: { requestApproval: (...asked) => gateway(...asked) },
    plugins: [asker("asker")],
  });
  afterEach(async () => {
    await heard(shared.host);
    for (const approval of shared.host.approvals()) shared.host.revokeApproval(approval);
  });

  describe("once, with the right word", () => {
    it.each<[string, RequestApproval, object, string, string]>([
      ["the user allows it once", async () => "allow-once", {}, "allow-once", "pass"],
      ["the user allows it for always", async () => "allow-always", {}, "allow-always", "pass"],
      ["the user denies it", async () => "deny", {}, "deny", "block"],
      ["nobody answers", async () => null, {}, "timeout", "block"],
      ["nobody answers in time", never, { timeoutMs: 20 }, "timeout", "block"],
      ["the decision is not one of those allowed", async () => "allow-always", { allowedDecisions: ["allow-once"] }, "timeout", "block"],
      ["the answer is no decision", async () => "perhaps" as never, {}, "timeout", "block"],
      ["the gateway has nobody to ask", async () => undefined, {}, "cancelled", "block"],
      ["the gateway fails", () => Promise.reject(new Error("RPC down")), {}, "cancelled", "block"],
      [
        "the gateway throws",
        () => {
          throw new Error("RPC down");
        },
        {},
        "cancelled",
        "block",
      ],
    ])("when %s", async (_, requestApproval, request, resolution, decision) => {
      gateway = requestApproval;
      expect(await run(shared.host, { request })).toMatchObject({ decision, approval: { pluginId: "asker", resolution } });
      expect(await heard(shared.host)).toEqual([resolution]);
    });

    it("when the gateway cannot ask", async () => {
      await using host = await withAsker(isolation, undefined);
      expect(await run(host)).toMatchObject({ decision: "block", approval: { resolution: "cancelled" } });
      expect(await heard(host)).toEqual(["cancelled"]);
    });

    it("when the operator lets a timeout pass", async () => {
      const config = { approvals: { plugin: { allowOnTimeout: true } } };
      await using host = await withAsker(isolation, async () => null, { config });
      const request = { timeoutBehavior: "allow" };
      expect(await run(host, { request })).toMatchObject({ decision: "pass", approval: { resolution: "timeout" } });
      expect(await heard(host)).toEqual(["timeout"]);
    });

    it("when the run is aborted", async () => {
      const { requestApproval, asked, answer } = held();
      gateway = requestApproval;
      const controller = new AbortController();
      const running = run(shared.host, { signal: controller.signal });
      const signal = await asked;
      controller.abort(new Error("the user left"));
      await expect(running).rejects.toThrow("the user left");
      expect(signal.reason).toMatchObject({ message: "the user left" });
      expect(await heard(shared.host)).toEqual(["cancelled"]);
      // What the user says afterwards changes nothing, and is not remembered.
      answer("allow-always");
      expect(await heard(shared.host)).toEqual([]);
      expect(shared.host.approvals()).toEqual([]);
    });

    it("when the answer comes after the time was over", async () => {
      const { requestApproval, answer } = held();
      gateway = requestApproval;
      expect(await run(shared.host, { request: { timeoutMs: 20 } })).toMatchObject({ decision: "block" });
      expect(await heard(shared.host)).toEqual(["timeout"]);
      answer("allow-always");
      expect(await heard(shared.host)).toEqual([]);
      expect(shared.host.approvals()).toEqual([]);
    });

    it("when a thousand are asked at once: each hears its own", async () => {
      const everyone = Promise.withResolvers<void>();
      let asked = 0;
      gateway = async ({ params }) => {
        asked += 1;
        if (asked === 1_000) everyone.resolve();
        await everyone.promise;
        return Number(params.n) % 3 === 0 ? "deny" : "allow-once";
      };
      await Promise.all(
        Array.from({ length: 1_000 }, (_, n) => shared.host.run("before_tool_call", { toolName: "t", params: { n: String(n) } })),
      );
      const words = (await heard(shared.host)) as string[];
      expect(words.toSorted()).toEqual(Array.from({ length: 1_000 }, (_, n) => `${n}${n % 3 === 0 ? "deny" : "allow-once"}`).toSorted());
    });
  });

  describe("of several plugins that asked", () => {
    it.each<[string, RequestApproval | undefined, string]>([
      ["allow-once", async () => "allow-once", "pass"],
      ["allow-always", async () => "allow-always", "pass"],
      ["deny", async () => "deny", "block"],
      ["timeout", async () => null, "block"],
      ["cancelled", undefined, "block"],
    ])("each hears %s, once", async (resolution, requestApproval, decision) => {
      await using host = await withTwo(isolation, requestApproval);
      expect(await run(host)).toMatchObject({ decision, approval: { resolution, requests: [{ resolution }, { resolution }] } });
      expect(await bothHeard(host)).toEqual([[resolution], [resolution]]);
    });

    it("each hears that the run was aborted", async () => {
      const { requestApproval, asked } = held();
      await using host = await withTwo(isolation, requestApproval);
      const controller = new AbortController();
      const running = run(host, { signal: controller.signal });
      await asked;
      controller.abort(new Error("the user left"));
      await expect(running).rejects.toThrow("the user left");
      expect(await bothHeard(host)).toEqual([["cancelled"], ["cancelled"]]);
    });

    it("one whose request is remembered hears allow-always, whatever the user says to the other", async () => {
      const questions: ApprovalQuestion[] = [];
      let answer: ApprovalDecision = "allow-always";
      await using host = await withTwo(isolation, async (question) => {
        questions.push(question);
        return answer;
      });
      await run(host);
      host.revokeApproval({ pluginId: "second", toolName: "t", agentId: "main" });
      await bothHeard(host);
      answer = "deny";
      expect(await run(host)).toMatchObject({
        decision: "block",
        by: "second",
        approval: {
          pluginId: "second",
          resolution: "deny",
          requests: [
            { pluginId: "asker", resolution: "allow-always", isRemembered: true },
            { pluginId: "second", resolution: "deny" },
          ],
        },
      });
      expect(await bothHeard(host)).toEqual([["allow-always"], ["deny"]]);
      expect(questions.map(({ requests }) => requests.map(({ pluginId }) => pluginId))).toEqual([["asker", "second"], ["second"]]);
    });
  });

  it("a request that another plugin's block made idle is not asked, and not resolved", async () => {
    const block = plugin("guard", `api.on("before_tool_call", () => ({ block: true }));`);
    await using host = await withAsker(isolation, never, { plugins: [asker("asker"), block] });
    expect(await run(host)).toMatchObject({ decision: "block", by: "guard" });
    expect(await heard(host)).toEqual([]);
  });

  describe("always", () => {
    it("is remembered per plugin, tool, agent and title, listed, and forgotten when it is revoked", async () => {
      const { host } = shared;
      const asked: string[] = [];
      gateway = async ({ toolName, agentId }) => {
        asked.push(`${toolName} ${agentId}`);
        return "allow-always";
      };
      const main = { pluginId: "asker", toolName: "t", agentId: "main", title: "Search?" };
      await run(host);
      expect(await run(host)).toMatchObject({ decision: "pass", approval: { pluginId: "asker", resolution: "allow-always" } });
      expect(asked).toEqual(["t main"]);
      expect(await heard(host)).toEqual(["allow-always", "allow-always"]);
      expect(host.approvals()).toEqual([main]);

      await run(host, { agentId: "other" });
      await host.run("before_tool_call", { toolName: "exec", params: {} }, { toolName: "exec", agentId: "main" });
      await host.run("before_tool_call", { toolName: "t", params: {} });
      expect(asked).toEqual(["t main", "t other", "exec main", "t undefined"]);
      expect(host.approvals()).toHaveLength(4);

      expect(host.revokeApproval(main)).toBe(true);
      expect(host.revokeApproval(main)).toBe(false);
      expect(host.approvals()).toHaveLength(3);
      await run(host);
      expect(asked).toHaveLength(5);
      expect(await heard(host)).toEqual(Array(4).fill("allow-always"));
    });

    it("is not used when the plugin does not allow it this time", async () => {
      const decisions = ["allow-always", "deny"] as const;
      let asked = 0;
      gateway = async () => decisions[asked++];
      await run(shared.host);
      const outcome = await run(shared.host, { request: { allowedDecisions: ["allow-once", "deny"] } });
      expect(outcome).toMatchObject({ decision: "block", approval: { resolution: "deny" } });
      expect(await run(shared.host)).toMatchObject({ decision: "pass" });
      expect(await heard(shared.host)).toEqual(["allow-always", "deny", "allow-always"]);
    });

    it.each(["allow-once", "deny", null, undefined] as const)("%s is asked again", async (decision) => {
      let asked = 0;
      gateway = async () => ((asked += 1), decision);
      await run(shared.host);
      await run(shared.host);
      expect(asked).toBe(2);
      expect(await heard(shared.host)).toHaveLength(2);
      expect(shared.host.approvals()).toEqual([]);
    });
  });

  describe("while the user is asked", () => {
    it("a reload: the decision counts, the old function is gone with its cell, the new cell is not called, the log says so", async () => {
      const { requestApproval, asked, answer } = held();
      const { logger, lines } = recorder();
      await using host = await withAsker(isolation, requestApproval, { logger });
      const running = run(host);
      await asked;
      expect((await host.reload("asker")).status).toBe("ready");
      // Once the new version has answered, the cell of the old one is gone: nothing but a user was waited for there.
      expect(await heard(host)).toEqual([]);
      answer("allow-once");
      expect(await running).toMatchObject({ decision: "pass", approval: { pluginId: "asker", resolution: "allow-once" } });
      expect(await heard(host)).toEqual([]);
      expect(notCalled(lines)).toMatchObject([{ level: "warn", fields: { plugin: "asker", resolution: "allow-once" } }]);
      // The new cell's own requests are resolved as ever.
      expect(await run(host)).toMatchObject({ decision: "pass" });
      expect(await heard(host)).toEqual(["allow-once"]);
    });

    it("a cell that is lost to its budget: the same, and deny still denies", async () => {
      const { requestApproval, asked, answer } = held();
      const { logger, lines } = recorder();
      await using host = await withAsker(isolation, requestApproval, { logger });
      const running = run(host);
      await asked;
      expect((await host.run("message_sending", { to: "u", content: "die" }, { channelId: "chat" })).calls[0]?.status).not.toBe("ok");
      expect(await heard(host)).toEqual([]);
      answer("deny");
      expect(await running).toMatchObject({ decision: "block", reason: "Denied by user", approval: { resolution: "deny" } });
      expect(await heard(host)).toEqual([]);
      expect(notCalled(lines)).toHaveLength(1);
    });

    it("disabled: the decision counts, and nobody is called, not even after it is loaded again", async () => {
      const { requestApproval, asked, answer } = held();
      const { logger, lines } = recorder();
      await using host = await withAsker(isolation, requestApproval, { logger });
      const running = run(host);
      await asked;
      host.disable("asker");
      answer("deny");
      expect(await running).toMatchObject({ decision: "block", by: "asker", approval: { resolution: "deny" } });
      expect(notCalled(lines)).toMatchObject([{ level: "warn", fields: { plugin: "asker", resolution: "deny" } }]);
      await host.reload("asker");
      expect(await heard(host)).toEqual([]);
    });

    it("a host that closes waits as for any run, then cancels: the gateway is told, the call blocked, the plugin hears of it", async () => {
      const { requestApproval, asked } = held();
      const host = await withAsker(isolation, requestApproval);
      const lines: string[] = [];
      host.on("log", ({ text }) => lines.push(text));
      const running = run(host, { deed: "log" });
      const signal = await asked;
      await host.close();
      expect(signal.aborted).toBe(true);
      expect(await running).toMatchObject({
        decision: "block",
        by: "asker",
        reason: "Approval cancelled (the host was closed)",
        approval: { pluginId: "asker", resolution: "cancelled" },
      });
      expect(lines).toEqual(["heard cancelled"]);
    });

    it("a host that closes lets a user who answers in time answer", async () => {
      const { requestApproval, asked, answer } = held();
      const host = await withAsker(isolation, requestApproval);
      const lines: string[] = [];
      host.on("log", ({ text }) => lines.push(text));
      const running = run(host, { deed: "log" });
      await asked;
      const closing = host.close();
      answer("allow-once");
      expect(await running).toMatchObject({ decision: "pass", approval: { resolution: "allow-once" } });
      await closing;
      expect(lines).toEqual(["heard allow-once"]);
    });
  });

  describe("an onResolution", () => {
    it.each([
      ["throws", "throw"],
      ["rejects", "reject"],
      ["rejects later", "later"],
    ])("that %s is logged with its run, and disturbs nothing", async (_, deed) => {
      gateway = async () => "allow-once";
      const logged = next(shared.host, "log", ({ text }) => text.includes("boom"));
      const outcome = await run(shared.host, { deed });
      expect(outcome).toMatchObject({ decision: "pass", approval: { resolution: "allow-once" } });
      expect(await logged).toMatchObject({ plugin: "asker", level: "error", runId: outcome.runId });
      expect(await heard(shared.host)).toEqual(["allow-once"]);
    });

    it("is not waited for, and what it does later is still the doing of its run", async () => {
      const applied: SessionPatch[] = [];
      await using host = await open(isolation, {
        gateway: {
          requestApproval: async () => "allow-once",
          patchSession: async (patch) => {
            applied.push(patch);
            return { sessionEntry: {} };
          },
        },
        plugins: [asker("asker", { grants: { session: ["patch"] } })],
      });
      const patched = next(host, "run", ({ outcome }) => outcome.hook === "session:patch");
      expect(await run(host, { deed: "patch" })).toMatchObject({ decision: "pass" });
      // It is not called for its own patch, which knows where it comes from.
      const [call] = (await patched).outcome.calls;
      expect(call).toMatchObject({
        plugin: "asker",
        status: "recursion",
        error: { message: expect.stringContaining("(asker:before_tool_call)") },
      });
      expect(applied).toEqual([{ key: "k", label: "allow-once" }]);
    });
  });
});

it("a sandbox process that dies while the user is asked: the decision counts, the new cell is not called, the log says so", async () => {
  const { requestApproval, asked, answer } = held();
  const { logger, lines } = recorder();
  await using host = await withAsker("process", requestApproval, { logger });
  const running = run(host);
  await asked;
  const restarted = next(host, "restart");
  process.kill(host.pids()[0]!, "SIGKILL");
  await restarted;
  expect(await heard(host)).toEqual([]);
  answer("allow-once");
  expect(await running).toMatchObject({ decision: "pass", approval: { resolution: "allow-once" } });
  expect(await heard(host)).toEqual([]);
  expect(notCalled(lines)).toHaveLength(1);
});
