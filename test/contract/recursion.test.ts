/**
 * Loops, whichever way they go: each stops at its limit, is reported once with its chain, and neither other sessions nor other
 * plugins are disturbed. What was applied is counted to the last patch: a limit that is off by one fails here.
 */
import { EventEmitter, on } from "node:events";
import { expect, it } from "vitest";
import type { Facts, Host, PluginSpec, SessionPatch } from "creel";
import { LIMITS } from "../../src/protocol/limits.ts";
import { contract, next, offered, open, plugin, statuses, until } from "../support/host.ts";

const KEY = "agent:main:loop";
const HERE = { channelId: "c" };
const OTHER = "agent:main:other";
/** Patches of a loop whose chain is intact: one per depth. */
const DEPTH = LIMITS.causality.recursionDepth;
const RATE = LIMITS.causality.patchesPerWindow;

/** A gateway that keeps what was applied, and then does what the test wants it to. */
function store(react: (patch: SessionPatch) => unknown = () => {}) {
  const applied: SessionPatch[] = [];
  const calm = Promise.withResolvers<void>();
  return {
    applied,
    /** Resolves when a plugin has answered the label "once". */
    calm: calm.promise,
    to: (key: string) => applied.filter((patch) => patch.key === key),
    patchSession: async (patch: SessionPatch) => {
      applied.push(patch);
      if (patch.label === "calm") calm.resolve();
      await react(patch);
      return { sessionEntry: { patches: applied.length } };
    },
  };
}

/** Answers an event with a patch, in `how`; a refusal is a log line that starts with its code. */
function patcher(id: string, hook: string, options = "{}", how = "await patch()"): PluginSpec {
  return plugin(
    id,
    `api.on("${hook}", async (event) => {
       if (event.context.patch?.label === "calm") return;
       const label = event.context.patch?.label === "once" ? "calm" : api.id;
       const patch = () => api.session.patch({ key: event.sessionKey, label }).catch((error) => api.logger.error(error.code + " " + error.message));
       ${how};
     }, ${options});`,
    { grants: { session: ["patch"] } },
  );
}

/** Counts the events it sees: what is emitted must arrive. */
const witness = plugin(
  "witness",
  `let seen = 0;
   api.on("session:patch", () => { seen += 1; });
   api.on("message_sending", () => ({ content: String(seen) }));`,
);
const witnessed = async (host: Host) =>
  Number((await host.run("message_sending", { to: "u", content: "" }, { channelId: "chat" })).result?.content);

/** Everything of a kind, from now on. */
function all<K extends keyof Facts>(host: Pick<Host, "on">, name: K): Facts[K][] {
  const facts: Facts[K][] = [];
  host.on(name, (fact) => facts.push(fact));
  return facts;
}

/** Resolves when so many patches were refused: every branch of a loop ends in one. */
function refused(host: Pick<Host, "on">, count: number): Promise<unknown> {
  let left = count;
  return next(host, "log", ({ text }) => text.startsWith("ERR_RECURSION") && --left === 0);
}

/** A session that has nothing to do with it: it is patched, and the plugin may patch it in answer. */
async function stillPatches(host: Host, gateway: ReturnType<typeof store>): Promise<void> {
  expect(gateway.to(OTHER)).toEqual([]);
  await host.patchSession({ key: OTHER, label: "once" });
  await gateway.calm;
  expect(gateway.to(OTHER)[0]).toMatchObject({ label: "once" });
}

const ended = (key: string) => ({
  type: "session" as const,
  action: "end" as const,
  sessionKey: key,
  sessionId: "s",
  context: { stopReason: "stop" as const },
});

contract("recursion", (isolation) => {
  it("a loop that lost its chain in a queue of the gateway's stops at the rate of its plugin and session", async () => {
    const queue = new EventEmitter();
    const gateway = store((patch) => queue.emit("patched", patch));
    await using host = await open(isolation, { gateway: offered(gateway), plugins: [patcher("echo", "session:patch"), witness] });
    const loops = all(host, "recursion");
    const stop = new AbortController();
    // Started here, outside of every chain.
    const worker = (async () => {
      for await (const [patch] of on(queue, "patched", stop) as AsyncIterable<[SessionPatch]>)
        host.emit("session:patch", {
          type: "session",
          action: "patch",
          sessionKey: patch.key,
          context: { sessionEntry: {}, patch },
        });
    })().catch(() => {});
    const over = refused(host, 1);
    host.emit("session:patch", { type: "session", action: "patch", sessionKey: KEY, context: { sessionEntry: {}, patch: { key: KEY } } });
    await over;
    expect(gateway.to(KEY)).toHaveLength(RATE);
    expect(loops).toEqual([
      expect.objectContaining({
        plugin: "echo",
        sessionKey: KEY,
        limit: "rate",
        chain: expect.objectContaining({ depth: 1, path: ["echo:session:patch"] }),
      }),
    ]);
    // The first event, and two for every patch: the host's and the queue's.
    expect(await witnessed(host)).toBe(1 + 2 * RATE);
    // Of this session no more in this window; it is the same loop and not reported again. Others are free.
    const again = refused(host, 1);
    await host.patchSession({ key: KEY, label: "go" });
    await again;
    expect(gateway.to(KEY)).toHaveLength(RATE + 1);
    await stillPatches(host, gateway);
    expect(loops).toHaveLength(1);
    stop.abort();
    await worker;
  });

  it.each([
    ["at once", (act: () => void) => act()],
    ["in a timer", (act: () => void) => void setTimeout(act, 0)],
  ])("a loop through an event that the gateway emits for a patch, %s, stops at the depth limit", async (_, later) => {
    const gateway = store((patch) => later(() => host.emit("session:end", ended(patch.key))));
    await using host: Host = await open(isolation, { gateway: offered(gateway), plugins: [patcher("echo", "session:end"), witness] });
    const loops = all(host, "recursion");
    const over = refused(host, 1);
    host.emit("session:end", ended(KEY));
    await over;
    expect(gateway.to(KEY)).toHaveLength(DEPTH);
    expect(loops).toMatchObject([
      { plugin: "echo", sessionKey: KEY, limit: "depth", chain: { depth: DEPTH + 1, path: Array(DEPTH + 1).fill("echo:session:end") } },
    ]);
    expect(await witnessed(host)).toBe(DEPTH);
    await host.patchSession({ key: OTHER, label: "x" });
    expect(gateway.to(OTHER)).not.toEqual([]);
  });

  it("a loop through detached promises stops at the depth limit", async () => {
    const gateway = store();
    const how = `void (async () => { await null; await new Promise((resolve) => setTimeout(resolve, 1)); await patch(); })()`;
    await using host = await open(isolation, {
      gateway: offered(gateway),
      plugins: [patcher("echo", "session:patch", "{ reentrant: true }", how), witness],
    });
    const loops = all(host, "recursion");
    const over = refused(host, 1);
    await host.patchSession({ key: KEY, label: "go" });
    await over;
    expect(gateway.to(KEY)).toHaveLength(1 + DEPTH);
    expect(loops).toMatchObject([{ plugin: "echo", limit: "depth", chain: { path: Array(DEPTH + 1).fill("echo:session:patch") } }]);
    expect(await witnessed(host)).toBe(1 + DEPTH);
    await stillPatches(host, gateway);
  });

  it("two plugins that opted in, and answer their own patches too, are stopped at their rates and reported once", async () => {
    const gateway = store();
    const plugins = ["ping", "pong"].map((id) => patcher(id, "session:patch", "{ reentrant: true }"));
    await using host = await open(isolation, { gateway: offered(gateway), plugins: [...plugins, witness] });
    const loops = all(host, "recursion");
    // Every event calls both, so there are two attempts per patch that was applied.
    const over = refused(host, 2 * (1 + 2 * RATE) - 2 * RATE);
    await host.patchSession({ key: KEY, label: "go" });
    await over;
    const labels = gateway.to(KEY).map(({ label }) => label);
    expect(labels).toHaveLength(1 + 2 * RATE);
    expect(labels.filter((label) => label === "ping")).toHaveLength(RATE);
    expect(loops).toHaveLength(1);
    expect(loops[0]).toMatchObject({
      sessionKey: KEY,
      chain: { path: expect.arrayContaining([expect.stringMatching(/^p[io]ng:session:patch$/)]) },
    });
    expect(await witnessed(host)).toBe(1 + 2 * RATE);
    await stillPatches(host, gateway);
  });

  it("loops that begin while a plugin loads, in its timers, are each reported", async () => {
    const gateway = store();
    await using host = await open(isolation, {
      gateway: offered(gateway),
      plugins: [
        plugin(
          "starter",
          `let sessions = 0;
           setInterval(() => api.session.patch({ key: "agent:main:" + sessions++, label: "go" }).catch(() => {}), 20);
           api.on("session:patch", async (event) => { await api.session.patch({ key: event.sessionKey, label: "x" }).catch((error) => api.logger.error(error.code)); }, { reentrant: true });`,
          { grants: { session: ["patch"] } },
        ),
      ],
    });
    const [one, two] = [next(host, "recursion"), next(host, "recursion", ({ chain }) => chain.rootRunId !== first)];
    let first = "";
    first = (await one).chain.rootRunId;
    expect((await two).chain.path[0]).toBe("starter:load");
  });

  it("a handler that awaits its patch does not keep its own cell from being entered: awaited, emitted or synchronously", async () => {
    const seen: unknown[] = [];
    const gateway = store(async () => {
      seen.push(host.runSync("tool_result_persist", { message: { text: "sync" } }).result);
      seen.push((await host.run("message_sending", { to: "u", content: "inner" }, { channelId: "chat" })).result);
    });
    await using host: Host = await open(isolation, {
      gateway: offered(gateway),
      plugins: [
        plugin(
          "cell",
          `let inside = 0;
           api.on("message_sending", async (event) => {
             inside += 1;
             if (event.content === "outer") await api.session.patch({ key: "${KEY}", label: "x" });
             return { content: event.content + " " + inside-- };
           });
           api.on("tool_result_persist", () => ({ message: { inside } }));`,
          { grants: { session: ["patch"] } },
        ),
      ],
    });
    expect((await host.run("message_sending", { to: "u", content: "outer" }, { channelId: "chat" })).result).toEqual({
      content: "outer 1",
    });
    expect(seen).toEqual([{ message: { inside: 1 } }, { content: "inner 2" }]);
  });

  it("a loop of awaited runs unwinds: the innermost patch fails in its plugin, every run around it goes on", async () => {
    const results: (string | undefined)[] = [];
    const gateway = store(async () => {
      const { result, calls } = await host.run("message_sending", { to: "u", content: "" }, { channelId: "chat" });
      results.push(`${calls[0]?.status} ${result?.content}`);
    });
    await using host: Host = await open(isolation, {
      gateway: offered(gateway),
      plugins: [
        plugin(
          "nest",
          `api.on("message_sending", async () => {
             try { await api.session.patch({ key: "${KEY}", label: "x" }); } catch (error) { return { content: error.code }; }
             return { content: "applied" };
           });`,
          { grants: { session: ["patch"] } },
        ),
      ],
    });
    const loops = all(host, "recursion");
    expect((await host.run("message_sending", { to: "u", content: "" }, { channelId: "chat" })).result?.content).toBe("applied");
    expect(results).toEqual(["ok ERR_RECURSION_DEPTH", ...Array<string>(DEPTH - 1).fill("ok applied")]);
    expect(gateway.applied).toHaveLength(DEPTH);
    expect(loops).toMatchObject([{ plugin: "nest", limit: "depth", chain: { depth: DEPTH + 1 } }]);
  });

  it(
    "1,000 sessions that loop at once all stop at their limit, each is reported once, and nobody else's calls wait for that",
    { timeout: 120_000 },
    async () => {
      const SESSIONS = 1_000;
      const applied = new Map<string, number>();
      const gateway = {
        patchSession: async ({ key }: SessionPatch) => {
          applied.set(key, (applied.get(key) ?? 0) + 1);
          return { sessionEntry: {} };
        },
      };
      await using host = await open(isolation, {
        gateway,
        plugins: [patcher("ping", "session:patch"), patcher("pong", "session:patch"), witness],
      });
      const loops = all(host, "recursion");
      const failures = all(host, "run");
      const order: string[] = [];
      // Each of the two answers the first event and then the other's patches: two chains per session, each as deep as may be.
      const over = refused(host, 2 * SESSIONS).then(() => order.push("the loops are over"));
      const keys = Array.from({ length: SESSIONS }, (_, i) => `agent:main:${i}`);
      await Promise.all(keys.map((key) => host.patchSession({ key, label: "go" })));
      const call = () => host.run("message_sending", { to: "u", content: "" }, { ...HERE, sessionKey: "agent:main:elsewhere" });
      const calls = await Promise.all(Array.from({ length: 100 }, call));
      order.push("other calls were answered");
      await until(over, async () => void calls.push(await call()));
      expect(order).toEqual(["other calls were answered", "the loops are over"]);
      expect(new Set(calls.flatMap(statuses))).toEqual(new Set(["witness:ok"]));

      expect([...new Set(applied.values())]).toEqual([1 + 2 * DEPTH]);
      expect(applied.size).toBe(SESSIONS);
      expect(await witnessed(host)).toBe(SESSIONS * (1 + 2 * DEPTH));
      expect(new Set(loops.map(({ sessionKey }) => sessionKey))).toEqual(new Set(keys));
      expect(loops).toHaveLength(SESSIONS);
      expect(new Set(loops.map(({ chain }) => `${chain.rootRunId.startsWith(host.id)} ${chain.depth}`))).toEqual(
        new Set([`true ${DEPTH + 1}`]),
      );
      // A handler that is not called for its own patch says so; nothing else went wrong.
      const other = failures.flatMap(({ outcome }) => outcome.calls).filter(({ error }) => error && error.code !== "ERR_RECURSION_OWN");
      expect(other).toEqual([]);
    },
  );

  it("a run that is aborted in the middle of its loop rejects at once; what it had caused goes on to its limit", async () => {
    const third = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const gateway = store(async () => {
      if (gateway.applied.length === 3) {
        third.resolve();
        await gate.promise;
      }
    });
    await using host = await open(isolation, {
      gateway: offered(gateway),
      plugins: [
        plugin(
          "root",
          `api.on("message_sending", async () => { await api.session.patch({ key: "${KEY}", label: "go" }); await new Promise(() => {}); });`,
          {
            grants: { session: ["patch"] },
          },
        ),
        patcher("echo", "session:patch", "{ reentrant: true }"),
      ],
    });
    const loops = all(host, "recursion");
    const controller = new AbortController();
    const running = host.run("message_sending", { to: "u", content: "" }, HERE, { signal: controller.signal });
    await third.promise;
    controller.abort(new Error("the user left"));
    await expect(running).rejects.toThrow("the user left");
    const over = refused(host, 1);
    gate.resolve();
    await over;
    expect(gateway.applied).toHaveLength(DEPTH);
    expect(loops).toMatchObject([
      { plugin: "echo", limit: "depth", chain: { path: ["root:message_sending", ...Array(DEPTH).fill("echo:session:patch")] } },
    ]);
    await stillPatches(host, gateway);
  });

  it("an abort that the gateway passes on ends the loop where it is: nothing further is applied, nothing hangs", async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const gateway = store(async () => {
      if (gateway.applied.length === 3) controller.abort(new Error("the user left"));
      await host.run("message_sending", { to: "u", content: "again" }, HERE, { signal });
    });
    await using host: Host = await open(isolation, {
      gateway: offered(gateway),
      plugins: [
        plugin(
          "nest",
          `api.on("message_sending", async (event) => { if (event.content === "again") await api.session.patch({ key: "${KEY}", label: "x" }); return { content: "calm" }; });`,
          { grants: { session: ["patch"] } },
        ),
      ],
    });
    const loops = all(host, "recursion");
    await expect(host.run("message_sending", { to: "u", content: "again" }, HERE, { signal })).rejects.toThrow("the user left");
    expect((await host.run("message_sending", { to: "u", content: "" }, { channelId: "chat" })).result?.content).toBe("calm");
    // Nothing is left that a closing host would wait for.
    await host.close();
    expect(gateway.applied).toHaveLength(3);
    expect(loops).toEqual([]);
  });
});
