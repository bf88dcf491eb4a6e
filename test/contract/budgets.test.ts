/** Budgets: what runs out stops the work, the culprit is named, its cell is rebuilt, and everybody else goes on. */
import { describe, expect, it, vi } from "vitest";
import { LIMITS } from "../../src/protocol/limits.ts";
import { actor, ask, patched, sending, toolCall } from "../support/actors.ts";
import type { Script } from "../support/actors.ts";
import { contract, next, open, plugin, replacement, sharedHost, statuses } from "../support/host.ts";

contract("budgets", (isolation) => {
  describe("a call that takes too long", () => {
    const shared = sharedHost(isolation, {
      plugins: [actor("a", { priority: 10 }), actor("bad", { priority: 5, hooks: { timeoutMs: 1_000 } }), actor("c")],
    });
    const send = (script: Script) => shared.host.run("message_sending", sending(script), { channelId: "chat" });

    it("a promise that never settles ends as timeout, and its cell stays", async () => {
      const born = await ask(shared.host, "bad", "state.born");
      const outcome = await send({ bad: `state.kept = 1; return new Promise(() => {})`, c: `return { content: "c" }` });
      expect(statuses(outcome)).toEqual(["a:ok", "bad:timeout", "c:ok"]);
      expect(outcome.calls[1]).toMatchObject({ error: { code: "ERR_CALL_TIMEOUT", message: "the handler did not settle within 1000 ms" } });
      expect(outcome.calls[1]?.wallMs).toBeGreaterThanOrEqual(995);
      expect(await ask(shared.host, "bad", "[state.born, state.kept]")).toEqual([born, 1]);
    });

    it("what a timed-out call had scheduled does not happen", async () => {
      const outcome = await send({ bad: `return new Promise((r) => { setTimeout(() => { state.late = true; r(); }, 1_200); })` });
      expect(outcome.calls[1]?.status).toBe("timeout");
      await send({ a: `async await new Promise((r) => setTimeout(r, 400))` });
      expect(await ask(shared.host, "bad", "state.late")).toBeNull();
    });

    it("a result that comes too late is discarded", async () => {
      await send({ bad: `return new Promise((r) => { state.answer = r; })` });
      const outcome = await send({ bad: `state.answer({ content: "late" }); return { content: "now" }` });
      expect(outcome.result).toEqual({ content: "now" });
    });
  });

  describe("a call that costs too much", () => {
    const shared = sharedHost(isolation, {
      config: { limits: { heapMb: 16 } },
      plugins: [actor("a", { priority: 10 }), actor("bad", { priority: 5, hooks: { cpuMs: 45 } }), actor("c")],
    });
    const send = (script: Script) => shared.host.run("message_sending", sending(script), { channelId: "chat" });

    it.each([
      ["an endless loop", `for (;;);`],
      ["an endless loop after an await", `async await null; for (;;);`],
      ["an endless loop after a timer", `async await new Promise((r) => setTimeout(r, 5)); for (;;);`],
      ["an endless loop in a timer that the call waits for", `return new Promise(() => setTimeout(() => { for (;;); }, 5))`],
      ["an endless chain of microtasks", `const again = () => { Promise.resolve().then(again); }; again(); return new Promise(() => {})`],
      ["an endless loop in the getter of a result", `return { get content() { for (;;); } }`],
      ["an endless loop in a toJSON", `return { toJSON() { for (;;); } }`],
      ["an endless loop that swallows what stops it", `for (;;) { try { for (;;); } finally { continue; } }`],
    ])("%s ends as cpu; the cell is rebuilt, and everybody else's state survives", async (_, code) => {
      const [born, neighbour] = [await ask(shared.host, "bad", "state.born"), await ask(shared.host, "c", "state.born")];
      const replaced = replacement(shared.host);
      const outcome = await send({ a: `return { content: "a" }`, bad: code, c: `return { content: event.content + "c" }` });
      expect(statuses(outcome)).toEqual(["a:ok", "bad:cpu", "c:ok"]);
      expect(outcome.calls[1]?.error?.code).toBe("ERR_CALL_CPU");
      expect(outcome).toMatchObject({ decision: "pass", result: { content: "ac" } });
      expect((await replaced).plugin).toBe("bad");
      expect(await ask(shared.host, "bad", "state.born")).not.toBe(born);
      expect(await ask(shared.host, "c", "state.born")).toBe(neighbour);
    });

    it("on a hook that fails closed, a stop blocks and names the plugin", async () => {
      const outcome = await shared.host.run("before_tool_call", toolCall({ bad: `for (;;);` }));
      expect(outcome).toMatchObject({ decision: "block", by: "bad" });
      expect(outcome.reason).toMatch(/^before_tool_call handler of bad failed: .*CPU time$/);
      expect(statuses(outcome)).toEqual(["a:ok", "bad:cpu", "c:skipped"]);
    });

    it("a loop in a timer that belongs to no call any more replaces the cell and fails what was pending in it", async () => {
      const replaced = replacement(shared.host);
      await send({ bad: `setTimeout(() => { for (;;); }, 50)` });
      const outcome = await send({ bad: `return new Promise(() => {})` });
      expect((await replaced).plugin).toBe("bad");
      expect(outcome.calls[1]).toMatchObject({ status: "crashed", error: { code: "ERR_CALL_REPLACED" } });
    });

    it("calls that wait for a rebuilt cell are answered by it, in their order", async () => {
      const runs = [
        send({ bad: `for (;;);` }),
        ...[1, 2, 3].map((n) => send({ bad: `state.seen.push(${n}); return { content: state.seen.join() }` })),
      ];
      const outcomes = await Promise.all(runs);
      expect(outcomes.map(({ calls }) => calls[1]?.status)).toEqual(["cpu", "ok", "ok", "ok"]);
      expect(outcomes.at(-1)?.result?.content).toBe("1,2,3");
    });

    it("the report counts how often a cell was replaced", () => {
      expect(shared.host.inspect("bad").replacements).toBeGreaterThan(8);
      expect(shared.host.inspect("c").replacements).toBe(0);
      expect(shared.host.inspect("bad").status).toBe("ready");
    });
  });

  it("a heap that grows past its limit ends as memory, and the plugin starts again with an empty one", async () => {
    await using host = await open(isolation, {
      config: { limits: { heapMb: 16 } },
      plugins: [actor("a", { priority: 10 }), actor("bad", { priority: 5, hooks: { cpuMs: 4_000 } }), actor("c")],
    });
    const grow = { bad: `state.all = []; for (;;) state.all.push("x".repeat(1e5) + state.all.length)`, c: `return { content: "c" }` };
    const born = await ask(host, "c", "state.born");
    const outcome = await host.run("message_sending", sending(grow), { channelId: "chat" });
    expect(statuses(outcome)).toEqual(["a:ok", "bad:memory", "c:ok"]);
    expect(outcome.calls[1]?.error).toMatchObject({ code: "ERR_CALL_MEMORY", message: "the plugin's heap grew past 16 MB" });
    expect(await ask(host, "bad", "state.all")).toBeNull();
    expect(await ask(host, "c", "state.born")).toBe(born);
    const byTimer = await host.run("message_sending", sending({ bad: `async await new Promise((r) => setTimeout(r, 1)); ${grow.bad}` }), {
      channelId: "chat",
    });
    expect(statuses(byTimer)).toEqual(["a:ok", "bad:memory", "c:ok"]);
  });

  it("many short turns of one call that add up past its CPU budget end as cpu", async () => {
    await using host = await open(isolation, { plugins: [actor("burner", { hooks: { timeoutMs: 20_000, cpuMs: 100 } })] });
    const burn = `const burn = () => { const end = Date.now() + 20; while (Date.now() < end); setTimeout(burn, 1); }; burn();`;
    const outcome = await host.run("message_sending", sending({ burner: `return new Promise(() => { ${burn} })` }), { channelId: "chat" });
    expect(outcome.calls[0]).toMatchObject({ status: "cpu", error: { code: "ERR_CALL_CPU" } });
    expect(outcome.calls[0]?.cpuMs).toBeGreaterThan(100);
  });

  it("a stop in one lane leaves the calls in the others alone", async () => {
    await using host = await open(isolation, { lanes: 2, plugins: [actor("bad", { hooks: { cpuMs: 60 } }), actor("other")] });
    const [bad, other] = await Promise.all([
      host.run("session:patch", patched({ bad: `for (;;);` })),
      host.run("message_sending", sending({ other: `return { content: "fine" }` }), { channelId: "chat" }),
    ]);
    expect(statuses(bad)).toEqual(["bad:cpu", "other:ok"]);
    expect(other.result?.content).toBe("fine");
  });

  it("register runs again in the rebuilt cell, and a register that takes longer than a call's budget costs the neighbours nothing", async () => {
    await using host = await open(isolation, {
      plugins: [
        {
          id: "slow",
          hooks: { timeoutMs: 100, cpuMs: 40 },
          source: `export default async (api) => {
            api.on("message_sending", (e) => { if (e.content === "loop") for (;;); return { content: "ok" }; });
            console.log("registered");
            await new Promise((r) => setTimeout(r, 800));
          }`,
        },
        actor("neighbour"),
      ],
    });
    const restarts: unknown[] = [];
    host.on("restart", (fact) => restarts.push(fact));
    const born = await ask(host, "neighbour", "state.born");
    const again = next(host, "log", ({ text }) => text === "registered");
    const ready = next(host, "plugin", ({ plugin: id, status }) => id === "slow" && status === "ready");
    // Which of its two budgets ends it first is the machine's business here.
    expect(["cpu", "timeout"]).toContain(
      (await host.run("message_sending", { to: "x", content: "loop" }, { channelId: "chat" })).calls[0]?.status,
    );
    const meanwhile = await host.run("message_sending", { to: "x", content: "y" }, { channelId: "chat" });
    expect(meanwhile.calls[0]?.status).toBe("timeout");
    await again;
    await ready;
    expect((await host.run("message_sending", { to: "x", content: "y" }, { channelId: "chat" })).result?.content).toBe("ok");
    expect(await ask(host, "neighbour", "state.born")).toBe(born);
    expect(restarts).toEqual([]);
  });

  it("a plugin with more pending calls than allowed fails the next one instead of queueing it", async () => {
    await using host = await open(isolation, { plugins: [actor("a", { hooks: { timeoutMs: 2_000 } })] });
    const flood = Array.from({ length: LIMITS.call.pendingCalls + 5 }, () =>
      host.run("message_sending", sending({ a: `async await new Promise(() => {})` }), { channelId: "chat" }),
    );
    const refused = await Promise.race(flood);
    expect(refused.calls[0]).toMatchObject({ status: "failed", error: { code: "ERR_CALL_PENDING" } });
    const counts = Map.groupBy(await Promise.all(flood), ({ calls }) => calls[0]!.status);
    expect([counts.get("failed")?.length, counts.get("timeout")?.length]).toEqual([5, LIMITS.call.pendingCalls]);
  });

  it("a call that ends by itself with more CPU time than it may take counts for nothing", async () => {
    await using host = await open(isolation, { plugins: [actor("heavy", { hooks: { cpuMs: 20 } })] });
    const busy = `let n = 0; const end = Date.now() + 300; while (Date.now() < end && n < 4e6) n += 1; return { content: "x" }`;
    const outcome = await host.run("message_sending", sending({ heavy: busy }), { channelId: "chat" });
    expect(outcome.calls[0]).toMatchObject({ status: "cpu", error: { code: "ERR_CALL_CPU" } });
    expect(outcome.result).toBeUndefined();
  });

  it("an event that is larger than the plugin may be given does not reach it, and the others get it", async () => {
    await using host = await open(isolation, { plugins: [{ ...actor("small"), limits: { bytesIn: 2_000 } }, actor("b")] });
    const outcome = await host.run("message_sending", sending({ b: `return { content: "b" }` }, "x".repeat(3_000)), { channelId: "chat" });
    expect(outcome.calls).toMatchObject([{ status: "failed", error: { code: "ERR_CALL_EVENT_SIZE" } }, { status: "ok" }]);
    expect(outcome.result).toEqual({ content: "b" });
  });

  it("a result that is larger than the plugin may give is that handler's failure", async () => {
    await using host = await open(isolation, { plugins: [{ ...actor("a"), limits: { bytesOut: 2_000 } }] });
    const outcome = await host.run("message_sending", sending({ a: `return { content: "x".repeat(3_000) }` }), { channelId: "chat" });
    expect(outcome.calls[0]).toMatchObject({ status: "failed", error: { code: "ERR_CALL_RESULT_SIZE" } });
  });

  it("a call that asks the host more often than it may is refused the rest, and goes on", async () => {
    await using host = await open(isolation, {
      gateway: { getSession: async () => ({}) },
      plugins: [{ ...actor("a"), grants: { session: ["get"] }, limits: { hostCalls: 3 } }],
    });
    const asks = `async let done = 0; try { for (;;) { await api.session.get("k"); done++; } } catch (error) { return { content: done + " " + error.code }; }`;
    expect((await host.run("message_sending", sending({ a: asks }), { channelId: "chat" })).result?.content).toBe("3 ERR_SERVICE_BUDGET");
    expect((await host.run("message_sending", sending({ a: asks }), { channelId: "chat" })).result?.content).toBe("3 ERR_SERVICE_BUDGET");
  });

  it("a call that writes more log lines than it may, over however many turns, has the rest dropped, and one line says so", async () => {
    await using host = await open(isolation, { plugins: [{ ...actor("a"), limits: { logLines: 4 } }] });
    const lines: string[] = [];
    host.on("log", ({ text }) => lines.push(text));
    const chatter = `async for (let i = 0; i < 10; i++) { api.logger.info("line " + i); await new Promise((r) => setTimeout(r, 1)); }`;
    await host.run("message_sending", sending({ a: chatter }), { channelId: "chat" });
    await host.run("message_sending", sending({ a: `api.logger.info("another call")` }), { channelId: "chat" });
    await vi.waitFor(() => expect(lines).toContain("another call"));
    expect(lines).toEqual([
      ...[0, 1, 2, 3].map((i) => `line ${i}`),
      "further log lines of this call are dropped; the limit is 4",
      "another call",
    ]);
  });

  it("a plugin may have as many timers pending as its operator says", async () => {
    await using host = await open(isolation, { plugins: [{ ...actor("a"), limits: { timers: 2 } }] });
    const timers = `let made = 0; try { for (;;) { setTimeout(() => {}, 1e6); made++; } } catch { return { content: String(made) }; }`;
    expect((await host.run("message_sending", sending({ a: timers }), { channelId: "chat" })).result?.content).toBe("2");
  });

  it("a plugin that takes more than its share of a CPU is moved out of the way, and quarantined if it goes on", async () => {
    await using host = await open(isolation, { plugins: [{ ...actor("greedy"), limits: { cpuShare: 0.001 } }] });
    const burn = `const end = Date.now() + 30; while (Date.now() < end);`;
    await vi.waitFor(
      async () => {
        await host.run("message_sending", sending({ greedy: burn }), { channelId: "chat" });
        expect(host.inspect("greedy").isSlow).toBe(true);
        expect(host.inspect("greedy").circuit.why).toMatch(/% of a CPU over the last minute/);
      },
      { timeout: 20_000 },
    );
  });

  it("inspect says what a plugin may take and who said so", async () => {
    await using host = await open(isolation, {
      config: { limits: { heapMb: 16 }, plugins: { entries: { a: { limits: { timers: 5 } } } } },
      plugins: [plugin("a", ""), plugin("b", "", { limits: { hostCalls: 7 } })],
    });
    expect(host.inspect("a").budget).toMatchObject({
      heapMb: { value: 16, origin: "operator, for all plugins" },
      timers: { value: 5, origin: "operator, for this plugin" },
      hostCalls: { value: LIMITS.call.hostCalls, origin: "host" },
    });
    expect(host.inspect("b").budget.hostCalls).toEqual({ value: 7, origin: "operator, for this plugin" });
  });

  it("inspect says what each call may cost and who said so", async () => {
    const on = `api.on("message_sending", () => {}, { timeoutMs: 300 }); api.on("before_tool_call", () => {}); api.on("tool_result_persist", () => {}, { timeoutMs: 1e9 });`;
    await using host = await open(isolation, {
      plugins: [plugin("author", on), plugin("operator", on, { hooks: { timeoutMs: 200, cpuMs: 20 } })],
      config: { plugins: { entries: { operator: { hooks: { timeouts: { before_tool_call: 50 } } } } } },
    });
    const budgets = (id: string) => host.inspect(id).hooks.map(({ hook, budget }) => [hook, budget.wallMs.value, budget.wallMs.origin]);
    expect(budgets("author")).toEqual([
      ["message_sending", 300, "author"],
      ["before_tool_call", 15_000, "catalog"],
      ["tool_result_persist", 600_000, "host maximum"],
    ]);
    expect(budgets("operator")).toEqual([
      ["message_sending", 200, "operator, for this plugin"],
      ["before_tool_call", 50, "operator, for this hook"],
      ["tool_result_persist", 200, "operator, for this plugin"],
    ]);
    expect(host.inspect("operator").hooks[0]?.budget.cpuMs).toEqual({ value: 20, origin: "operator, for this plugin" });
    expect(host.inspect("author").hooks[0]?.budget.cpuMs).toEqual({ value: 100, origin: "catalog" });
  });
});
