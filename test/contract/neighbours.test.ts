/**
 * Neighbours in a lane: a plugin that keeps every budget and takes its lane's time all the same is moved, named and not struck; until then a call waits for one of its turns at most.
 * What a cell does by itself, it does only while its breaker is closed.
 */
import { beforeEach, expect, it, vi } from "vitest";
import type { Facts, Host } from "creel";
import { contract, next, open, plugin, until } from "../support/host.ts";

/** By the cell's own clock, so also where the machine is busy: below the budget of 100 ms of CPU time. */
const SPIN = `const spin = (ms) => { const endMs = Date.now() + ms; while (Date.now() < endMs); };`;
const GOOD = plugin("good", `api.on("before_tool_call", () => ({ params: { ok: 1 } }));`);
const GUARD = plugin("guard", `api.on("before_message_write", () => ({ block: true }));`);
const CHAT = { channelId: "chat" };
const evil = (id: string, body: string) => plugin(id, `${SPIN} ${body}`);
const BURST = `const tick = () => { spin(40); setTimeout(tick, 100); }; for (let i = 0; i < 60; i++) setTimeout(tick, 100);`;

/** A plugin that is in the slow lane since a call of it did not end. */
const clumsy = (id: string, body = "") =>
  plugin(
    id,
    `${SPIN} ${body} api.on("before_tool_call", (event) => { if (event.params.n === "loop") for (;;); }, { matcher: ["${id}"] });`,
  );
const call = (host: Host, toolName: string, n = "") => host.run("before_tool_call", { toolName, params: { n } });

const isRest = ({ plugin: id, why }: Facts["moved"]): boolean => id === "hog" && why.includes("rests for 30 s");

interface Seen {
  readonly restarts: Facts["restart"][];
  readonly strikes: Facts["quarantine"][];
}

function watch(host: Pick<Host, "on">): Seen {
  const seen: Seen = { restarts: [], strikes: [] };
  host.on("restart", (fact) => seen.restarts.push(fact));
  host.on("quarantine", (fact) => seen.strikes.push(fact));
  return seen;
}

contract("neighbours", (isolation) => {
  it.each([
    ["timers that are due together", BURST],
    ["an interval", `setInterval(() => spin(40), 1);`],
    ["a thousand empty intervals", `for (let i = 0; i < 1_000; i++) setInterval(() => {}, 1);`],
  ])("a plugin that takes its lane's time with %s moves to the slow lane, by name and without a strike", async (_, body) => {
    await using host = await open(isolation, { plugins: [evil("evil", body), GOOD] });
    const seen = watch(host);
    // It may have been so quick that the host was not open yet.
    if (!host.inspect("evil").isSlow) await next(host, "moved", ({ plugin: id }) => id === "evil");
    expect(host.inspect("evil")).toMatchObject({ isSlow: true, lane: 1, circuit: { state: "closed", points: 0 } });
    expect(host.inspect("evil").slowWhy).toMatch(/^it took \d+ % of its lane over 3 s/);
    expect(host.inspect("good")).toMatchObject({ isSlow: false, slowWhy: undefined });
    expect(await host.run("before_tool_call", { toolName: "exec", params: {} })).toMatchObject({
      decision: "pass",
      calls: [{ status: "ok" }],
    });
    expect(seen).toEqual({ restarts: [], strikes: [] });
  });

  it("so does one whose calls take long, though each keeps its budget", async () => {
    const heavy = evil("heavy", `api.on("message_sending", () => spin(40));`);
    await using host = await open(isolation, { plugins: [heavy, GOOD] });
    const moved = next(host, "moved");
    await until(moved, () => host.run("message_sending", { to: "a", content: "x" }, CHAT));
    expect(await moved).toMatchObject({ plugin: "heavy" });
    expect((await host.run("message_sending", { to: "a", content: "x" }, CHAT)).calls).toMatchObject([{ plugin: "heavy", status: "ok" }]);
  });

  it("several that share what one may not take are moved one after the other", async () => {
    const plugins = ["a", "b", "c", "d"].map((id) => evil(id, `setInterval(() => spin(40), 1);`));
    await using host = await open(isolation, { plugins: [...plugins, GOOD] });
    const slow = () => ["a", "b", "c", "d"].filter((id) => host.inspect(id).isSlow);
    while (slow().length < 3) await next(host, "moved");
    expect(host.inspect("good").isSlow).toBe(false);
  });

  it("a plugin that has its lane to itself stays, and so does one that is only called often", async () => {
    const often = plugin("often", `api.on("message_sending", () => {});`);
    await using host = await open(isolation, { lanes: 2, plugins: [evil("alone", `setInterval(() => spin(40), 1);`), often] });
    const moves: Facts["moved"][] = [];
    host.on("moved", (fact) => moves.push(fact));
    for (let batch = 0; batch < 100; batch++)
      await Promise.all(Array.from({ length: 32 }, () => host.run("message_sending", { to: "a", content: "x" }, CHAT)));
    expect(moves).toEqual([]);
    expect(host.inspect("alone").isSlow).toBe(false);
  });

  it("a handler that waits for a later one is answered when that one has run, also after a long turn", async () => {
    const waits = evil(
      "waits",
      `let release;
       const released = new Promise((resolve) => (release = resolve));
       api.on("session_start", async () => { spin(20); await released; }, { priority: 9, timeoutMs: 60000 });
       api.on("session_start", () => release(), { priority: 1 });`,
    );
    await using host = await open(isolation, { plugins: [waits] });
    const { calls } = await host.run("session_start", { sessionId: "s" });
    expect(calls).toMatchObject([{ status: "ok" }, { status: "ok" }]);
  });

  it("a guard whose caller blocks is not let pass while a neighbour runs one timer after the other", async () => {
    await using host = await open(isolation, { plugins: [evil("evil", BURST), GUARD] });
    for (let write = 0; write < 40; write++)
      expect(host.runSync("before_message_write", { message: { role: "user", content: "x" } })).toMatchObject({
        decision: "block",
        calls: [{ status: "ok" }],
      });
  });

  it("who takes the slow lane's time without being called rests there, by name and without a strike; its calls and its neighbours go on", async () => {
    const hog = evil(
      "hog",
      `setInterval(() => { spin(40); api.logger.info("tick"); }, 1); api.on("before_tool_call", () => {}, { matcher: ["hog"] });`,
    );
    const clock = clumsy(
      "victim",
      `api.on("before_tool_call", async () => { await new Promise((resolve) => setTimeout(resolve, 200)); }, { matcher: ["wait"] });`,
    );
    await using host = await open(isolation, { plugins: [clock, hog, GOOD] });
    const moves: Facts["moved"][] = [];
    host.on("moved", (fact) => moves.push(fact));
    await call(host, "victim", "loop");
    if (!moves.some(isRest)) await next(host, "moved", isRest);
    // What was under way when the lane was told has been heard by then.
    await call(host, "wait");
    let ticks = 0;
    host.on("log", () => (ticks += 1));
    expect((await call(host, "wait")).calls).toContainEqual(expect.objectContaining({ plugin: "victim", status: "ok" }));
    expect(ticks).toBe(0);
    expect((await call(host, "hog")).calls).toContainEqual(expect.objectContaining({ plugin: "hog", status: "ok" }));
    expect(host.inspect("hog").circuit).toMatchObject({ state: "closed", points: 0 });
    expect(moves.filter(({ plugin: id }) => id === "victim")).toHaveLength(1);
    expect(host.inspect("victim").slowWhy).not.toContain("rests");
  });

  it("a plugin in the slow lane whose calls take long does not rest: the gateway makes them", async () => {
    await using host = await open(isolation, {
      plugins: [clumsy("heavy", `api.on("message_sending", () => spin(40));`), clumsy("other", `setTimeout(() => {}, 1);`)],
    });
    for (const id of ["heavy", "other"]) await call(host, id, "loop");
    const moves: Facts["moved"][] = [];
    host.on("moved", (fact) => moves.push(fact));
    const startedMs = performance.now();
    while (performance.now() < startedMs + 2_000) await host.run("message_sending", { to: "a", content: "x" }, CHAT);
    expect(moves).toEqual([]);
    expect(["heavy", "other"].map((id) => host.inspect(id).isSlow)).toEqual([true, true]);
  });

  it("a reload brings a plugin back that was moved", async () => {
    await using host = await open(isolation, {
      plugins: [evil("evil", `setTimeout(() => { setInterval(() => spin(40), 1); }, 100);`), GOOD],
    });
    if (!host.inspect("evil").isSlow) await next(host, "moved");
    await host.reload("evil");
    expect(host.inspect("evil")).toMatchObject({ isSlow: false, slowWhy: undefined });
  });
});

contract("timers and the breaker", (isolation) => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["Date"] });
    return () => void vi.useRealTimers();
  });

  const TICKS = `
    setInterval(() => { api.logger.info("tick"); }, 10);
    api.on("message_sending", (event) => { if (event.content === "boom") throw new Error("boom"); });`;
  /** A moment by the clock of another cell in the same lane. */
  const CLOCK = plugin("clock", `api.on("before_tool_call", async () => { await new Promise((resolve) => setTimeout(resolve, 200)); });`);

  it("a cell whose breaker is open runs no timers until a call that tries it is let through", async () => {
    await using host = await open(isolation, { plugins: [plugin("bad", TICKS), CLOCK] });
    let ticks = 0;
    host.on("log", () => (ticks += 1));
    const send = (content: string) => host.run("message_sending", { to: "a", content }, CHAT);
    const wait = () => host.run("before_tool_call", { toolName: "exec", params: {} });
    await wait();
    expect(ticks).toBeGreaterThan(0);
    for (let time = 0; time < 15; time++) await send("boom");
    expect(host.inspect("bad").circuit.state).toBe("open");
    // What came before the lane was told has been heard by then.
    await wait();
    ticks = 0;
    await wait();
    expect(ticks).toBe(0);
    vi.setSystemTime(Date.now() + 31_000);
    const tick = next(host, "log");
    await send("x");
    expect(host.inspect("bad").circuit.state).toBe("closed");
    expect((await tick).text).toBe("tick");
  });

  it("a cell that is built while its breaker is open runs none either", async () => {
    const loops = plugin("bad", `setInterval(() => { api.logger.info("tick"); }, 10); api.on("message_sending", () => { for (;;); });`);
    await using host = await open(isolation, { plugins: [loops, CLOCK] });
    for (let time = 0; host.inspect("bad").circuit.state !== "open"; time++) {
      expect(time).toBeLessThan(20);
      await host.run("message_sending", { to: "a", content: "x" }, CHAT);
    }
    const wait = () => host.run("before_tool_call", { toolName: "exec", params: {} });
    expect(host.inspect("bad").isSlow).toBe(true);
    await wait();
    let ticks = 0;
    host.on("log", () => (ticks += 1));
    await wait();
    await wait();
    expect(ticks).toBe(0);
  });
});
