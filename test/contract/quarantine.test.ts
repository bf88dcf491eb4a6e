/**
 * Quarantine: a plugin that keeps failing is not called any more, its gates follow their failure policy in its name, everybody else goes
 * on, and one call after a while, the operator, or new code lets it back. Only the breaker reads the faked clock.
 */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Facts, Host } from "creel";
import { actor, agentReply, ask, patched, persist, sending, toolCall } from "../support/actors.ts";
import { folder, write } from "../support/files.ts";
import { contract, next, open, plugin, recorder, sharedHost, statuses } from "../support/host.ts";

const THROW = `throw new Error("boom")`;
const LOOP = `for (;;);`;
const NEVER = `return new Promise(() => {})`;

const ACTORS = [
  actor("a", { priority: 10 }),
  actor("bad", { priority: 5, hooks: { cpuMs: 100, timeoutMs: 1_000 } }),
  actor("c", { on: ["message_sending", "before_tool_call", "tool_result_persist", "session:patch"] }),
];

const FILE = { path: "SKILL.md", content: "", encoding: "utf8" as const, sha256: "x", sizeBytes: 0 };
const PROPOSAL = {
  proposal: { id: "p", revision: 1, revisionSha256: "x", kind: "create" as const },
  skill: { name: "s", skillKey: "s", description: "" },
  candidate: { skillMd: FILE, files: [], treeSha256: "x" },
  reason: "created" as const,
};

/** Failures in a row that open it, and a few. */
const MOST = 20;

const add = (text: string) => `return { message: { text: event.message.text + "${text}" } }`;
const pass = (seconds: number) => void vi.setSystemTime(Date.now() + seconds * 1_000);
const state = (host: Pick<Host, "inspect">, id = "bad") => host.inspect(id).circuit.state;

async function fail(host: Host, times: number, code = THROW): Promise<void> {
  for (let time = 0; time < times; time++) await host.run("message_sending", sending({ bad: code }), { channelId: "chat" });
}

/** Calls it until its breaker has changed, and says how often. On a busy machine a call may end for want of a CPU, which counts less, or for nothing. */
async function callsUntil(host: Host, wanted: string, code: string): Promise<number> {
  for (let calls = 1; calls <= MOST; calls++) {
    await fail(host, 1, code);
    if (state(host) === wanted) return calls;
  }
  throw new Error(`its breaker is ${state(host)} after ${MOST} calls`);
}

/** Opens, is tried, opens, is tried, and that is enough. */
async function quarantine(host: Host): Promise<void> {
  await fail(host, 15);
  pass(30);
  await fail(host, 1);
  pass(60);
  await fail(host, 1);
}

function changes(host: Pick<Host, "on">): string[] {
  const seen: string[] = [];
  host.on("quarantine", ({ plugin: id, state: now }) => seen.push(`${id}:${now}`));
  return seen;
}

contract("quarantine", (isolation) => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"] }));
  afterEach(() => void vi.useRealTimers());

  describe.each([1, 2])("on %i lanes", (lanes) => {
    const shared = sharedHost(isolation, { lanes, plugins: ACTORS });

    it.each([
      ["throwing", THROW],
      ["answering garbage", `return 5`],
      ["looping", LOOP],
      ["never settling", NEVER],
    ])("%s opens the breaker: then the handler is not called, and the others are", async (_, code) => {
      const { host } = shared;
      const told = next(host, "quarantine");
      await callsUntil(host, "open", code);
      const script = { a: `return { content: "a" }`, bad: code, c: `return { content: event.content + "c" }` };
      const outcome = await host.run("message_sending", sending(script), { channelId: "chat" });
      expect(statuses(outcome)).toEqual(["a:ok", "bad:quarantined", "c:ok"]);
      expect(outcome).toMatchObject({ decision: "pass", result: { content: "ac" } });
      expect(outcome.calls[1]).toMatchObject({ wallMs: 0, cpuMs: 0, error: { code: "ERR_PLUGIN_QUARANTINED" } });
      const until = new Date(Date.now() + 30_000);
      const words = `Creel did not call the handler: the plugin "bad" is quarantined until ${until.toISOString()}, or until host.release("bad"): `;
      expect(outcome.calls[1]?.error?.message.slice(0, words.length)).toBe(words);
      expect(await told).toMatchObject({ plugin: "bad", state: "open", until });
      expect(host.inspect("bad")).toMatchObject({ status: "ready", circuit: { state: "open", opens: 1, until } });
      expect([state(host, "a"), state(host, "c")]).toEqual(["closed", "closed"]);
    });

    it("failures in a row open it the 15. time", async () => {
      expect(await callsUntil(shared.host, "open", THROW)).toBe(15);
    });

    it("good calls in between keep a plugin that fails now and then out of it", async () => {
      for (let round = 0; round < 3; round++) {
        await fail(shared.host, 14);
        await shared.host.run("message_sending", sending({}), { channelId: "chat" });
      }
      expect(shared.host.inspect("bad").circuit).toMatchObject({ state: "closed", points: 0 });
    });

    describe("while the breaker is open", () => {
      beforeEach(() => fail(shared.host, 15));

      it("a gate that fails closed blocks in the plugin's name, and nobody behind it runs", async () => {
        const outcome = await shared.host.run(
          "before_tool_call",
          toolCall({ a: `return { params: { by: "a" } }`, c: `return { params: { by: "c" } }` }),
        );
        expect(outcome).toMatchObject({ decision: "block", by: "bad", result: { block: true, params: { by: "a" } } });
        expect(outcome.reason).toMatch(/^before_tool_call handler of bad failed: .*is quarantined until .*host\.release\("bad"\)/);
        expect(statuses(outcome)).toEqual(["a:ok", "bad:quarantined", "c:skipped"]);
      });

      it("a block of higher priority wins", async () => {
        const outcome = await shared.host.run("before_tool_call", toolCall({ a: `return { block: true, blockReason: "no" }` }));
        expect(outcome).toMatchObject({ decision: "block", by: "a", reason: "no" });
        expect(statuses(outcome)).toEqual(["a:ok", "bad:skipped", "c:skipped"]);
      });

      it("of an observe hook the others are told", async () => {
        const outcome = await shared.host.run("session:patch", patched({ c: `state.patched = true` }));
        expect(statuses(outcome)).toEqual(["a:ok", "bad:quarantined", "c:ok"]);
        expect(await ask(shared.host, "c", "state.patched")).toBe(true);
      });

      it("runSync goes by the same rules", () => {
        const outcome = shared.host.runSync("tool_result_persist", persist({ a: add("A"), bad: add("B"), c: add("C") }));
        expect(statuses(outcome)).toEqual(["a:ok", "bad:quarantined", "c:ok"]);
        expect(outcome.result).toEqual({ message: { text: "origAC" } });
      });

      it("a claim goes to somebody else", async () => {
        const outcome = await shared.host.run("before_agent_reply", agentReply({ bad: `return { handled: true }` }));
        expect(statuses(outcome)).toEqual(["a:ok", "bad:quarantined"]);
        expect(outcome.decision).toBe("pass");
      });
    });

    describe("when its time is over", () => {
      beforeEach(async () => {
        await fail(shared.host, 15);
        pass(30);
      });

      it("one call tries it, the others are refused meanwhile, and if it goes well all are let through", async () => {
        const { host } = shared;
        const seen = changes(host);
        const outcomes = await Promise.all(
          Array.from({ length: 5 }, () =>
            host.run("message_sending", sending({ bad: `return { content: "well" }` }), { channelId: "chat" }),
          ),
        );
        expect(outcomes.map(({ calls }) => calls[1]?.status)).toEqual(["ok", ...Array<string>(4).fill("quarantined")]);
        expect(outcomes[1]?.calls[1]?.error?.message).toContain("until the call that tries it has ended");
        expect(seen).toEqual(["bad:half-open", "bad:closed"]);
        const after = await Promise.all(Array.from({ length: 5 }, () => host.run("message_sending", sending({}), { channelId: "chat" })));
        expect(after.map(({ calls }) => calls[1]?.status)).toEqual(Array(5).fill("ok"));
      });

      it.each([
        ["throws", THROW],
        ["loops", LOOP],
        ["never settles", NEVER],
      ])("if that call %s it is refused for twice as long", async (_, code) => {
        const { host } = shared;
        await callsUntil(host, "open", code);
        expect(host.inspect("bad").circuit.until).toEqual(new Date(Date.now() + 60_000));
        pass(59);
        expect((await host.run("message_sending", sending({}), { channelId: "chat" })).calls[1]?.status).toBe("quarantined");
        pass(1);
        expect((await host.run("message_sending", sending({}), { channelId: "chat" })).calls[1]?.status).toBe("ok");
        expect(state(host)).toBe("closed");
      });

      it("a run that ends before its turn leaves the try to the next one", async () => {
        const { host } = shared;
        expect((await host.run("message_sending", sending({ a: `return { cancel: true }` }), { channelId: "chat" })).calls[1]?.status).toBe(
          "skipped",
        );
        expect(state(host)).toBe("half-open");
        expect((await host.run("message_sending", sending({}), { channelId: "chat" })).calls[1]?.status).toBe("ok");
        expect(state(host)).toBe("closed");
      });

      it("a run that the gateway gives up leaves the try to the next one", async () => {
        const { host } = shared;
        const gaveUp = new AbortController();
        const running = host.run("message_sending", sending({ bad: NEVER }), { channelId: "chat" }, { signal: gaveUp.signal });
        gaveUp.abort();
        await expect(running).rejects.toMatchObject({ name: "AbortError" });
        expect(state(host)).toBe("half-open");
        expect((await host.run("message_sending", sending({}), { channelId: "chat" })).calls[1]?.status).toBe("ok");
        expect(state(host)).toBe("closed");
      });

      it("runSync can be the one that tries it", () => {
        expect(shared.host.runSync("tool_result_persist", persist({})).calls[1]?.status).toBe("ok");
        expect(state(shared.host)).toBe("closed");
      });
    });
  });

  it("filling its heap opens the breaker the third time", async () => {
    await using host = await open(isolation, { config: { limits: { heapMb: 16 } }, plugins: [actor("bad", { hooks: { cpuMs: 4_000 } })] });
    const hoard = `const all = []; for (;;) all.push("x".repeat(1e5) + all.length)`;
    expect(await callsUntil(host, "open", hoard)).toBe(3);
    expect(host.inspect("bad").circuit.why).toBe("the plugin's heap grew past 16 MB");
  });

  it("calls that the gateway gives up count for nothing", async () => {
    await using host = await open(isolation, { plugins: ACTORS });
    for (let time = 0; time < 20; time++) {
      const gaveUp = new AbortController();
      const running = host.run("message_sending", sending({ bad: NEVER }), { channelId: "chat" }, { signal: gaveUp.signal });
      gaveUp.abort();
      await expect(running).rejects.toMatchObject({ name: "AbortError" });
    }
    await host.run("message_sending", sending({}), { channelId: "chat" });
    expect(host.inspect("bad").circuit).toMatchObject({ state: "closed", points: 0 });
  });

  it("calls that are interrupted because the plugin is disabled count for nothing", async () => {
    await using host = await open(isolation, { plugins: ACTORS });
    const running = Array.from({ length: 20 }, () => host.run("session:patch", patched({ bad: NEVER })));
    await host.run("message_sending", sending({}), { channelId: "chat" });
    host.disable("bad");
    expect(new Set((await Promise.all(running)).map(({ calls }) => calls[1]?.status))).toEqual(new Set(["crashed"]));
    expect(host.inspect("bad").circuit).toMatchObject({ state: "closed", points: 0 });
  });

  it("one loop is one strike, however many calls of the plugin died with its cell", async () => {
    await using host = await open(isolation, { plugins: ACTORS });
    const running = Array.from({ length: 20 }, () => host.run("session:patch", patched({ bad: NEVER })));
    await fail(host, 1, LOOP);
    expect(new Set((await Promise.all(running)).map(({ calls }) => calls[1]?.status))).toEqual(new Set(["crashed"]));
    expect(host.inspect("bad").circuit.state).toBe("closed");
    expect(host.inspect("bad").circuit.points).toBeLessThanOrEqual(5);
  });

  it("hooks.failure decides what a quarantined gate means", async () => {
    await using host = await open(isolation, {
      plugins: ACTORS,
      config: { hooks: { failure: { before_tool_call: "open", message_sending: "closed" } } },
    });
    await fail(host, 15);
    expect(await host.run("before_tool_call", toolCall({}))).toMatchObject({ decision: "pass" });
    expect(await host.run("message_sending", sending({}), { channelId: "chat" })).toMatchObject({ decision: "cancel", by: "bad" });
  });

  it("an evaluation that was not made is an error by name", async () => {
    await using host = await open(isolation, {
      plugins: [
        plugin("bad", `api.on("skill_proposal_evaluate", () => 5); api.on("message_sending", () => { throw 1; });`, {
          hooks: { allowConversationAccess: true },
        }),
      ],
    });
    await fail(host, 15);
    const outcome = await host.run("skill_proposal_evaluate", PROPOSAL, { workspaceDir: "/work" });
    expect(outcome.result).toMatchObject([{ pluginId: "bad", status: "error", error: expect.stringContaining("is quarantined") }]);
  });

  it("every change is told and logged", async () => {
    const { logger, lines } = recorder();
    await using host = await open(isolation, { plugins: ACTORS, logger });
    const told: Facts["quarantine"][] = [];
    host.on("quarantine", (fact) => told.push(fact));
    await fail(host, 15);
    pass(30);
    await host.run("message_sending", sending({}), { channelId: "chat" });
    await quarantine(host);
    await host.release("bad");
    expect(told.map(({ state: now }) => now)).toEqual(["open", "half-open", "closed", "open", "half-open", "quarantined", "released"]);
    expect(told[0]).toMatchObject({ plugin: "bad", why: "the handler threw: boom", until: expect.any(Date) });
    expect(told.at(-2)).toMatchObject({ why: "it failed again and again: the handler threw: boom" });
    const logged = lines.filter(({ message }) => message === "a plugin's breaker changed");
    expect(logged.map(({ fields, level }) => [fields.state, level])).toEqual(
      told.map(({ state: now }) => [now, now === "quarantined" ? "error" : "warn"]),
    );
    // That it is not called is no news.
    const failures = lines.filter(({ message, level }) => message === "a handler failed" && level === "warn");
    expect(failures.filter(({ fields }) => fields.status === "quarantined")).toEqual([]);
  });

  describe("for good", () => {
    const shared = sharedHost(isolation, { plugins: [...ACTORS, actor("late", { priority: -5 })] });
    beforeEach(() => quarantine(shared.host));

    it("time does not let it out, its cell is gone, and its gates go on to block", async () => {
      const { host } = shared;
      expect(host.inspect("bad")).toMatchObject({
        status: "quarantined",
        error: { code: "ERR_PLUGIN_QUARANTINED" },
        circuit: { state: "quarantined", until: undefined },
      });
      expect(host.inspect("bad").hooks.map(({ hook }) => hook)).toContain("before_tool_call");
      pass(365 * 24 * 3600);
      const outcome = await host.run("before_tool_call", toolCall({}));
      expect(outcome).toMatchObject({ decision: "block", by: "bad" });
      expect(outcome.reason).toContain("until its code changes");
      expect(statuses(await host.run("message_sending", sending({}), { channelId: "chat" }))).toEqual([
        "a:ok",
        "bad:quarantined",
        "c:ok",
        "late:ok",
      ]);
    });

    it("release loads it afresh, and it works", async () => {
      const { host } = shared;
      expect(await host.release("bad")).toMatchObject({
        status: "ready",
        error: undefined,
        circuit: { state: "closed", opens: 0, kills: 0 },
      });
      const outcome = await host.run("message_sending", sending({ bad: `return { content: "well" }` }), { channelId: "chat" });
      expect(statuses(outcome)).toEqual(["a:ok", "bad:ok", "c:ok", "late:ok"]);
      expect(outcome.result).toEqual({ content: "well" });
      // It starts from nothing.
      await fail(host, 14);
      expect(state(host)).toBe("closed");
    });

    it("a reload of the same code does not let it out", async () => {
      expect(await shared.host.reload("bad")).toMatchObject({ status: "quarantined", circuit: { state: "quarantined" } });
      expect(await shared.host.run("before_tool_call", toolCall({}))).toMatchObject({ decision: "block", by: "bad" });
    });

    it("a plugin that is disabled blocks nobody, and is still quarantined when it is loaded again", async () => {
      const { host } = shared;
      host.disable("bad");
      expect(await host.run("before_tool_call", toolCall({}))).toMatchObject({ decision: "pass" });
      expect(await host.reload("bad")).toMatchObject({ status: "quarantined" });
      expect(await host.run("before_tool_call", toolCall({}))).toMatchObject({ decision: "block", by: "bad" });
    });
  });

  it("new code lets it out", async () => {
    const root = folder({ "bad.js": `export default (api) => api.on("message_sending", () => { throw new Error("boom"); });` });
    await using host = await open(isolation, { plugins: [{ path: `${root}/bad.js` }] });
    const seen = changes(host);
    await quarantine(host);
    expect(await host.reload("bad")).toMatchObject({ status: "quarantined" });
    write(root, { "bad.js": `export default (api) => api.on("message_sending", () => ({ content: "mended" }));` });
    expect(await host.reload("bad")).toMatchObject({
      status: "ready",
      circuit: { state: "closed", opens: 0, why: "its code has changed" },
    });
    expect((await host.run("message_sending", sending({}), { channelId: "chat" })).result?.content).toBe("mended");
    expect(seen).toEqual(["bad:open", "bad:half-open", "bad:open", "bad:half-open", "bad:quarantined", "bad:released"]);
  });

  it("a plugin that loops by itself, without being called, is stopped for good", async () => {
    await using host = await open(isolation, {
      plugins: [plugin("bad", `setInterval(() => { for (;;); }, 1); api.on("message_sending", () => {});`), actor("c")],
    });
    const stopped = next(host, "quarantine", ({ state: now }) => now === "quarantined");
    // While its breaker is open it does nothing by itself: what it does when a call tries it again, and again, is enough.
    const tries = (): void => {
      pass(61);
      void host.run("message_sending", sending({}), { channelId: "chat" });
    };
    host.on("quarantine", ({ state: now }) => now === "open" && tries());
    if (state(host) === "open") tries();
    await stopped;
    expect(host.inspect("bad").status).toBe("quarantined");
    expect((await host.run("message_sending", sending({ c: `return { content: "fine" }` }), { channelId: "chat" })).result?.content).toBe(
      "fine",
    );
  }, 90_000);

  it("release of a plugin that is not there, or by a host that is closed, is the caller's mistake", async () => {
    const host = await open(isolation, { plugins: ACTORS });
    await expect(host.release("nobody")).rejects.toMatchObject({ code: "ERR_PLUGIN_UNKNOWN" });
    expect(await host.release("bad")).toMatchObject({ status: "ready", circuit: { state: "closed" } });
    await host.close();
    await expect(host.release("bad")).rejects.toMatchObject({ code: "ERR_HOST_CLOSED" });
  });
});
