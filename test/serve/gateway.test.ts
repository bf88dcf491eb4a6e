/** What a plugin asks of the gateway reaches the client that offers it, with its cause; a loop through the socket is found by its depth. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
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
const PLUGINS = [
  plugin("reader", `api.on("message_sending", async (e) => ({ content: JSON.stringify(await api.session.get(e.content)) }));`, SESSION),
  echo("ping", 0),
  echo("pong", 1),
  plugin("asker", `api.on("before_tool_call", () => ({ requireApproval: { title: "Sure?", description: "really" } }));`),
];

let server: Served;
beforeAll(async () => {
  server = await served({ plugins: PLUGINS });
});
afterAll(() => server.close());

const read = async (host: Host, key: string) => (await host.run("message_sending", { to: "me", content: key })).result?.content;
const tool = { toolName: "rm", params: { path: "x" } };

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
    expect(await read(onlooker, "a")).toBe('{"name":"A"}');
    expect(await read(joined, "b")).toBe("null");
    expect(await onlooker.run("before_tool_call", tool)).toMatchObject({
      decision: "pass",
      approval: { pluginId: "asker", resolution: "allow-once" },
    });
    expect(questions).toMatchObject([{ pluginId: "asker", title: "Sure?", toolName: "rm", params: { path: "x" } }]);
  });

  it("of several the first has it; when it goes, the next", async () => {
    const first = await openHost({ connect: server.socket, gateway: { getSession: async () => ({ from: 1 }) }, logger: silent });
    await using second = await openHost({ connect: server.socket, gateway: { getSession: async () => ({ from: 2 }) }, logger: silent });
    expect(await read(second, "a")).toBe('{"from":1}');
    await first.close();
    expect(await read(second, "a")).toBe('{"from":2}');
  });

  it("a client that goes while it is asked, refuses, or answers nonsense fails the question and nothing else", async () => {
    await using onlooker = await openHost({ connect: server.socket, logger: silent });
    using raw = await RawClient.welcome(server.socket, { offers: ["getSession", "requestApproval"] });
    const refused = read(onlooker, "a");
    raw.say({ answer: (await raw.next("question"))!.question, error: { message: "no" } });
    expect(await refused).toBeUndefined();
    const nonsense = read(onlooker, "a");
    raw.say({ answer: (await raw.next("question"))!.question, ok: "a text" });
    expect(await nonsense).toBeUndefined();
    const left = onlooker.run("before_tool_call", tool);
    expect(await raw.next("question")).toMatchObject({ ask: "requestApproval", cause: expect.any(String), params: { pluginId: "asker" } });
    raw.socket.destroy();
    expect(await left).toMatchObject({ decision: "block", reason: expect.stringContaining("gateway unavailable") });
  });

  it("is told when its answer is not wanted any more", async () => {
    await using onlooker = await openHost({ connect: server.socket, logger: silent });
    const asked = Promise.withResolvers<AbortSignal>();
    const gateway = {
      requestApproval: (_: ApprovalQuestion, { signal }: { signal: AbortSignal }) => {
        asked.resolve(signal);
        return new Promise<never>(() => {});
      },
    };
    await using _gateway = await openHost({ connect: server.socket, gateway, logger: silent });
    const stop = new AbortController();
    const running = onlooker.run("before_tool_call", tool, undefined, { signal: stop.signal });
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
    expect(await stopped).toMatchObject({ limit: "depth", sessionKey: "s", chain: { depth: LIMITS.recursionDepth + 1 } });
    expect(patches).toHaveLength(LIMITS.recursionDepth + 1);
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
    expect((await stopped).chain).toMatchObject({ depth: LIMITS.recursionDepth + 1, path: expect.arrayContaining(["ping:session:patch"]) });
    // The gateway's is as deep as the plugin's that it answered; seven more of plugins fit below the limit.
    expect(keys.filter((key) => key === "u")).toHaveLength(LIMITS.recursionDepth);
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
    expect((await stopped).chain.depth).toBe(LIMITS.recursionDepth + 1);
    expect(depth).toBe(LIMITS.recursionDepth + 1);
  });
});
