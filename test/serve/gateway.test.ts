/** What a plugin asks of the gateway reaches the client that offers it, with its cause; a loop through the socket is found by its depth. */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { openHost } from "creel";
import type { ApprovalQuestion, Host, PluginSpec, SessionPatch } from "creel";
import { LIMITS } from "../../src/protocol/limits.ts";
import type { Served } from "../../src/serve/server.ts";
import { next, plugin, silent } from "../support/host.ts";
import { RawClient, served } from "../support/serve.ts";

const SESSION: Partial<PluginSpec> = { grants: { session: ["get", "patch"] } };
/** Answers a patch of every other label with one of its own: a plugin is not told of what it has done itself, so it takes two. */
const echo = (id: string, parity: number) =>
  plugin(
    id,
    `api.on("session:patch", (e) => {
      const label = Number(e.context.patch.label);
      if (label % 2 === ${parity}) return api.session.patch({ key: e.sessionKey, label: String(label + 1) });
    });`,
    SESSION,
  );
/** Two of them are less than an event may have, five are more than a frame may. */
const LARGE = Math.floor(LIMITS.serve.frameBytes / 4.5);
const PLUGINS = [
  plugin("reader", `api.on("message_sending", async (e) => ({ content: JSON.stringify(await api.session.get(e.content)) }));`, SESSION),
  echo("ping", 0),
  echo("pong", 1),
  plugin("asker", `api.on("before_tool_call", () => ({ requireApproval: { title: "Sure?", description: "really" } }));`),
  plugin("changer", `api.on("before_tool_call", () => ({ params: { path: "y" } }), { matcher: ["several"] });`),
  // Each puts another long text into the place of the one before: the question has all of them.
  ...["x", "y", "z"].map((letter) =>
    plugin(
      `large-${letter}`,
      `api.on("before_tool_call", () => ({ params: { text: "${letter}".repeat(${LARGE}) } }), { matcher: ["large"] });`,
      {
        limits: { bytesOut: LIMITS.call.eventBytes },
      },
    ),
  ),
  plugin(
    "guard",
    `api.on("before_tool_call", () => ({ requireApproval: { title: "DANGEROUS", description: "d", severity: "critical" } }), { matcher: ["several"] });`,
  ),
];

let server: Served;
beforeAll(async () => {
  server = await served({ plugins: PLUGINS });
});
afterAll(() => server.close());

const read = async (host: Host, key: string) =>
  (await host.run("message_sending", { to: "me", content: key }, { channelId: "chat" })).result?.content;
const tool = { toolName: "rm", params: { path: "x" } };

/** What a gateway does with its own session. */
async function use(host: Host, own: string): Promise<void> {
  expect(await read(host, own)).toBe(`{"of":"${own}"}`);
  expect(await host.patchSession({ key: own, label: "1" })).toEqual({ of: own });
  expect(await host.run("before_tool_call", { toolName: own, params: {} })).toMatchObject({ decision: "pass" });
}

describe("the gateway's client", () => {
  it("answers for sessions and approvals; without one there are none", async () => {
    await using onlooker = await openHost({ connect: server.socket, logger: silent });
    expect(await read(onlooker, "a")).toBeUndefined();
    expect(await onlooker.run("before_tool_call", tool)).toMatchObject({
      decision: "block",
      reason: expect.stringContaining("no approval route"),
    });
    const questions: ApprovalQuestion[] = [];
    const gateway = {
      getSession: async (key: string) => (key === "a" ? { name: "A" } : undefined),
      requestApproval: async (question: ApprovalQuestion) => {
        questions.push(question);
        return "allow-once" as const;
      },
    };
    await using joined = await openHost({ connect: server.socket, gateway, logger: silent });
    expect(await read(joined, "a")).toBe('{"name":"A"}');
    expect(await read(joined, "b")).toBe("null");
    expect(await joined.run("before_tool_call", tool)).toMatchObject({
      decision: "pass",
      approval: { pluginId: "asker", resolution: "allow-once" },
    });
    // Another gateway's answers are not for the onlooker.
    expect(await read(onlooker, "a")).toBeUndefined();
    expect(await onlooker.run("before_tool_call", tool)).toMatchObject({ decision: "block" });
    expect(questions).toMatchObject([{ pluginId: "asker", title: "Sure?", toolName: "rm", params: { path: "x" } }]);
  });

  it("two gateways on one host: each is asked about its own runs, sessions and approvals, and never about the other's", async () => {
    const asked: string[] = [];
    const gatewayOf = (name: string) => ({
      getSession: async (key: string) => (asked.push(`${name} get ${key}`), { of: name }),
      patchSession: async ({ key }: SessionPatch) => (asked.push(`${name} patch ${key}`), { sessionEntry: { of: name } }),
      requestApproval: async ({ toolName }: ApprovalQuestion) => (asked.push(`${name} approve ${toolName}`), "allow-once" as const),
    });
    await using first = await openHost({ connect: server.socket, gateway: gatewayOf("first"), logger: silent });
    await using second = await openHost({ connect: server.socket, gateway: gatewayOf("second"), logger: silent });
    await Promise.all([use(second, "second"), use(first, "first"), use(second, "second")]);
    expect(new Set(asked.map((line) => line.split(" ")).map(([who, , about]) => `${who} ${about}`))).toEqual(
      new Set(["first first", "second second"]),
    );
    expect(asked.filter((line) => line.includes("approve"))).toHaveLength(3);
  });

  it("a question with several requests and changes, and its answer with a name, travel as they are", async () => {
    const questions: ApprovalQuestion[] = [];
    const gateway = {
      requestApproval: async (question: ApprovalQuestion) => {
        questions.push(question);
        return { decision: "allow-always" as const, by: "alice" };
      },
    };
    await using host = await openHost({ connect: server.socket, gateway, logger: silent });
    const several = { ...tool, toolName: "several", toolCallId: "c1" };
    expect(await host.run("before_tool_call", several)).toMatchObject({
      decision: "pass",
      result: { params: { path: "y" } },
      approval: {
        requests: [
          { pluginId: "asker", title: "Sure?" },
          { pluginId: "guard", title: "DANGEROUS" },
        ],
        changes: [{ pluginId: "changer", params: ["path"] }],
        answeredBy: "alice",
      },
    });
    expect(questions).toMatchObject([
      {
        pluginId: "asker, guard",
        toolCallId: "c1",
        params: { path: "y" },
        requests: [{ pluginId: "asker" }, { pluginId: "guard", matcher: ["several"] }],
        changes: [{ pluginId: "changer", params: { path: "y" } }],
      },
    ]);
    const [, guard] = server.host.approvals();
    expect(server.host.approvals()).toEqual([
      { pluginId: "asker", toolName: "several", agentId: undefined, title: "Sure?" },
      { pluginId: "guard", toolName: "several", agentId: undefined, title: "DANGEROUS", matcher: ["several"] },
    ]);
    await vi.waitUntil(() => host.approvals().length === 2);
    expect(host.revokeApproval(guard!)).toBe(true);
    await vi.waitUntil(() => server.host.approvals().length === 1);
    expect(host.revokeApproval({ pluginId: "asker", toolName: "several", agentId: undefined })).toBe(true);
    await vi.waitUntil(() => server.host.approvals().length === 0);
  });

  it("answers for the approvals of its own runs, whoever else offers to, and remembers by itself", async () => {
    await using _other = await openHost({
      connect: server.socket,
      gateway: { requestApproval: async () => "deny" as const },
      logger: silent,
    });
    await using host = await openHost({ connect: server.socket, logger: silent });
    const asked: unknown[] = [];
    const outcomes = await Promise.all(
      ["one", "two"].map((toolCallId) =>
        host.run("before_tool_call", { ...tool, toolCallId }, undefined, {
          remember: false,
          requestApproval: async (question) => {
            asked.push([toolCallId, question.toolCallId]);
            return toolCallId === "one" ? "allow-always" : "deny";
          },
        }),
      ),
    );
    expect(outcomes.map(({ decision }) => decision)).toEqual(["pass", "block"]);
    expect(asked).toEqual(
      expect.arrayContaining([
        ["one", "one"],
        ["two", "two"],
      ]),
    );
    expect(server.host.approvals()).toEqual([]);
    expect(await host.run("before_tool_call", tool)).toMatchObject({
      decision: "block",
      reason: expect.stringContaining("no approval route"),
    });
  });

  it("a run that answers for itself and goes while it is asked is blocked or cancelled, and a question of no run is not answered", async () => {
    using raw = await RawClient.welcome(server.socket);
    raw.say({ id: 5, method: "run", params: { hook: "before_tool_call", event: tool, approvals: true } });
    const question = await raw.next("question");
    expect(question).toMatchObject({ ask: "requestApproval", run: 5, params: { pluginId: "asker" } });
    raw.say({ answer: question!.question, ok: { decision: "allow-once", by: 7 } });
    expect(await raw.next("id")).toMatchObject({
      id: 5,
      ok: { decision: "block", reason: expect.stringContaining("gateway unavailable") },
    });
    raw.say({ method: "run", params: { hook: "before_tool_call", event: tool, approvals: true } });
    raw.say({ id: 6, method: "has", params: { hook: "before_tool_call" } });
    expect(await raw.next("id")).toMatchObject({ id: 6, ok: true });
  });

  it("a question that is too large to be sent blocks the call at once", async () => {
    await using host = await openHost({
      connect: server.socket,
      gateway: { requestApproval: async () => "allow-once" as const },
      logger: silent,
    });
    const path = "x".repeat(LARGE);
    expect(await host.run("before_tool_call", { toolName: "large", params: { path } })).toMatchObject({
      decision: "block",
      reason: expect.stringContaining("gateway unavailable"),
    });
  });

  it("what no client has caused is asked of the first that offers it; when it goes, of the next", async () => {
    const first = await openHost({ connect: server.socket, gateway: { getSession: async () => ({ from: 1 }) }, logger: silent });
    await using second = await openHost({ connect: server.socket, gateway: { getSession: async () => ({ from: 2 }) }, logger: silent });
    expect(await read(server.host, "a")).toBe('{"from":1}');
    await first.close();
    await vi.waitUntil(async () => (await read(server.host, "a")) === '{"from":2}');
    expect(await read(second, "a")).toBe('{"from":2}');
  });

  it("a client that goes while it is asked, refuses, or answers nonsense fails the question and nothing else", async () => {
    using raw = await RawClient.welcome(server.socket, { offers: ["getSession", "requestApproval"] });
    const params = { hook: "message_sending", event: { to: "me", content: "a" }, ctx: { channelId: "chat" } };
    const told = next(server.host, "run", ({ outcome }) => outcome.hook === "before_tool_call");
    raw.say({ id: 1, method: "run", params });
    raw.say({ answer: (await raw.next("question"))!.question, error: { message: "no" } });
    expect(await raw.next("id")).toMatchObject({ id: 1, ok: { decision: "pass", calls: [{ plugin: "reader", status: "failed" }] } });
    raw.say({ id: 2, method: "run", params });
    raw.say({ answer: (await raw.next("question"))!.question, ok: "a text" });
    expect(await raw.next("id")).toMatchObject({ id: 2, ok: { decision: "pass", calls: [{ plugin: "reader", status: "failed" }] } });
    // Without an id: the end of the connection does not cancel it.
    raw.say({ method: "run", params: { hook: "before_tool_call", event: tool } });
    expect(await raw.next("question")).toMatchObject({ ask: "requestApproval", cause: expect.any(String), params: { pluginId: "asker" } });
    raw.socket.destroy();
    expect((await told).outcome).toMatchObject({ decision: "block", reason: expect.stringContaining("gateway unavailable") });
  });

  it("is told when its answer is not wanted any more", async () => {
    const asked = Promise.withResolvers<AbortSignal>();
    const gateway = {
      requestApproval: (_: ApprovalQuestion, { signal }: { signal: AbortSignal }) => {
        asked.resolve(signal);
        return new Promise<never>(() => {});
      },
    };
    await using host = await openHost({ connect: server.socket, gateway, logger: silent });
    const stop = new AbortController();
    const running = host.run("before_tool_call", tool, undefined, { signal: stop.signal });
    const signal = await asked.promise;
    const withdrawn = new Promise((resolve) => signal.addEventListener("abort", resolve));
    stop.abort(new Error("enough"));
    await expect(running).rejects.toThrow("enough");
    await withdrawn;
    expect(signal.aborted).toBe(true);
  });
});

describe("causes", () => {
  it("a loop of patches through the socket stops at the depth limit", async () => {
    const patches: SessionPatch[] = [];
    const gateway = {
      patchSession: async (patch: SessionPatch) => {
        patches.push(patch);
        return { sessionEntry: { ...patch } };
      },
    };
    await using joined = await openHost({ connect: server.socket, gateway, logger: silent });
    const stopped = next(joined, "recursion");
    await joined.patchSession({ key: "s", label: "0" });
    expect(await stopped).toMatchObject({ limit: "depth", sessionKey: "s", chain: { depth: LIMITS.causality.recursionDepth + 1 } });
    expect(patches).toHaveLength(LIMITS.causality.recursionDepth + 1);
  });

  it("so does one whose gateway answers a question with a patch of its own: the cause goes along by itself", async () => {
    const keys: string[] = [];
    let client: Host | undefined;
    const gateway = {
      patchSession: async ({ key, label }: SessionPatch, { plugin: by }: { plugin?: string }) => {
        keys.push(key);
        // Without the cause this would be a new beginning.
        if (by !== undefined && key === "t") {
          await client!.patchSession({ key: "u", label });
          throw new Error("u was patched instead");
        }
        return { sessionEntry: {} };
      },
    };
    client = await openHost({ connect: server.socket, gateway, logger: silent });
    const stopped = next(client, "recursion", ({ sessionKey }) => sessionKey === "u");
    await client.patchSession({ key: "t", label: "0" });
    expect((await stopped).chain).toMatchObject({
      depth: LIMITS.causality.recursionDepth + 1,
      path: expect.arrayContaining(["ping:session:patch"]),
    });
    // The gateway's is as deep as the plugin's that it answered; seven more of plugins fit below the limit.
    expect(keys.filter((key) => key === "u")).toHaveLength(LIMITS.causality.recursionDepth);
    await client.close();
  });

  it("is a token that the client gives back; one that is not the host's changes nothing", async () => {
    using raw = await RawClient.welcome(server.socket, { offers: ["patchSession"] });
    let depth = 0;
    const stopped = next(server.host, "recursion", ({ sessionKey }) => sessionKey?.startsWith("r") === true);
    raw.say({ id: "p", method: "patchSession", params: { patch: { key: "r", label: "0" } }, cause: "not.a-token" });
    raw.say({ answer: (await raw.next("question"))!.question, ok: { sessionEntry: {} } });
    for (let isOver = false; !isOver; depth += 1) {
      const question = await Promise.race([raw.next("question"), stopped.then(() => undefined)]);
      isOver = question === undefined;
      if (question) raw.say({ answer: question.question, ok: { sessionEntry: {} } });
    }
    expect((await stopped).chain.depth).toBe(LIMITS.causality.recursionDepth + 1);
    expect(depth).toBe(LIMITS.causality.recursionDepth + 1);
  });
});
