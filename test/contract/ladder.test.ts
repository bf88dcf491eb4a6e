/**
 * The ladder: end the turn, rebuild the cell, end the lane, kill and replace the sandbox. Each rung names the cell that was
 * executing, and costs nobody else an answer.
 */
import { expect, it } from "vitest";
import type { Facts, Host, Outcome } from "creel";
import { actor, ask, sending, toolCall } from "../support/actors.ts";
import { contract, next, open, replacement, statuses } from "../support/host.ts";

const BUDGET = { timeoutMs: 5_000, cpuMs: 60 };
const LOOP = `for (;;);`;
/** V8 looks for a reason to stop between two multiplications, and one of these takes minutes. */
const WEDGE = `let x = 7n ** 100000n; for (;;) x = x * x;`;

/**
 * `bad` loops until it was moved to the slow lane. On a busy machine V8's clock may ring before the thread has had its
 * whole CPU budget. Then no plugin is to blame (ADR 8), and it has to loop again.
 */
async function overrun(host: Host): Promise<void> {
  do await host.run("before_tool_call", toolCall({ bad: LOOP }));
  while (!host.inspect("bad").isSlow);
}

contract("the ladder", (isolation) => {
  it("first rung: a turn that has used up its CPU time is ended, and nothing else is", async () => {
    await using host = await open(isolation, { plugins: [actor("bad", { hooks: BUDGET }), actor("good")] });
    const born = await ask(host, "good", "state.born");
    const restarts: unknown[] = [];
    host.on("restart", (fact) => restarts.push(fact));
    const event = sending({ bad: LOOP, good: `return { content: "good" }` });
    const loop = (): Promise<Outcome> => host.run("message_sending", event, { channelId: "chat" });
    let outcome = await loop();
    // The machine was too busy to give the loop its CPU time: that is another rule's business.
    while (outcome.calls[0]!.status === "timeout") outcome = await loop();
    expect(statuses(outcome)).toEqual(["bad:cpu", "good:ok"]);
    expect(outcome.calls[0]!.cpuMs).toBeGreaterThanOrEqual(BUDGET.cpuMs);
    expect(await ask(host, "good", "state.born")).toBe(born);
    expect(restarts).toEqual([]);
  });

  it("second rung: its cell is rebuilt, and what a poisoned queue would do next never happens", async () => {
    await using host = await open(isolation, { plugins: [actor("bad", { hooks: BUDGET })] });
    const replaced = replacement(host);
    const poison = `const again = () => { Promise.resolve().then(again); }; again(); for (;;);`;
    await host.run("message_sending", sending({ bad: poison }), { channelId: "chat" });
    expect((await replaced).plugin).toBe("bad");
    expect(statuses(await host.run("message_sending", sending({ bad: `return { content: "fine" }` }), { channelId: "chat" }))).toEqual([
      "bad:ok",
    ]);
  });

  it("a plugin that has used up a turn goes to the slow lane, where nobody quick waits behind it again", async () => {
    // Its loop has to last longer than a quick call takes on a busy machine.
    const hooks = { ...BUDGET, cpuMs: 200 };
    const plugins = [actor("bad", { hooks, on: ["before_tool_call"] }), actor("good", { on: ["message_sending"] })];
    await using host = await open(isolation, { plugins });
    expect(host.inspect("bad")).toMatchObject({ lane: 0, isSlow: false });
    await overrun(host);
    expect(host.inspect("good")).toMatchObject({ lane: 0, isSlow: false });
    // It is back at work before it is given the next loop.
    await host.run("before_tool_call", toolCall({ bad: "" }));
    const order: string[] = [];
    await Promise.all([
      host.run("before_tool_call", toolCall({ bad: LOOP })).then(() => order.push("bad")),
      ask(host, "good", "1").then(() => order.push("good")),
    ]);
    expect(order).toEqual(["good", "bad"]);
    await host.reload("bad");
    expect(host.inspect("bad").isSlow).toBe(false);
  });

  it("a call that moves with its plugin while it is on its way is made where the plugin lives now", async () => {
    await using host = await open(isolation, { plugins: [actor("first", { priority: 5 }), actor("bad", { hooks: BUDGET })] });
    const slow = host.run(
      "message_sending",
      sending({
        first: `async await new Promise((r) => setTimeout(r, 300)); return { content: "f" }`,
        bad: `return { content: event.content + "b" }`,
      }),
      { channelId: "chat" },
    );
    await overrun(host);
    expect((await slow).result).toEqual({ content: "fb" });
  });
});

/** With thread isolation a thread in such a state cannot be ended at all: it is left behind. See the README. */
it("third and fourth rung: a turn that V8 cannot stop costs the lane, and the process it is in, and names its cell", async () => {
  await using host = await open("process", { lanes: 2, plugins: [actor("good"), actor("other"), actor("bad", { hooks: BUDGET })] });
  const [pid] = host.pids();
  const restarts: Facts["restart"][] = [];
  host.on("restart", (fact) => restarts.push(fact));
  // Neighbours in the same lane: one that waits, one that is queued behind the wedge; and one in the other lane of the same process.
  const waits = host.run(
    "message_sending",
    sending({ good: `async await new Promise((r) => setTimeout(r, 50)); return { content: "waited" + (ctx.attempt ?? "") }` }),
    { channelId: "chat" },
  );
  const wedged = host.run("before_tool_call", toolCall({ bad: WEDGE }));
  const queued = host.run("message_sending", sending({ good: `return { content: "queued" + (ctx.attempt ?? "") }` }), {
    channelId: "chat",
  });
  const beside = host.run(
    "message_sending",
    sending({ other: `async await new Promise((r) => setTimeout(r, 3_000)); return { content: "beside" + (ctx.attempt ?? "") }` }),
    { channelId: "chat" },
  );
  const outcome = await wedged;
  expect(outcome).toMatchObject({ decision: "block", by: "bad" });
  expect(outcome.reason).toContain("bad");
  expect((await waits).result?.content).toMatch(/^waited2?$/);
  expect((await queued).result?.content).toBe("queued");
  expect((await beside).result?.content).toBe("beside2");
  const calls = (await host.runDetail((await beside).runId))?.calls;
  expect(calls?.find((call) => call.plugin === "other")).toMatchObject({ attempt: 2, status: "ok" });
  expect(restarts).toMatchObject([{ culprit: "bad", lanes: [0, 1] }]);
  expect(host.pids()[0]).not.toBe(pid);
  expect(host.inspect("bad").isSlow).toBe(true);
});

it("from then on it can only take the slow lane's process down", async () => {
  await using host = await open("process", { plugins: [actor("good"), actor("bad", { hooks: BUDGET })] });
  await host.run("before_tool_call", toolCall({ bad: WEDGE }));
  const born = await ask(host, "good", "state.born");
  // One such turn is enough to open its breaker.
  expect((await host.release("bad")).isSlow).toBe(true);
  const restart = next(host, "restart");
  await host.run("before_tool_call", toolCall({ bad: WEDGE }));
  expect(await restart).toMatchObject({ culprit: "bad", lanes: [1] });
  expect(await ask(host, "good", "state.born")).toBe(born);
});

it("a plugin that wedges while it loads is quarantined, and the others load", async () => {
  await using host = await open("process", {
    allowFailed: true,
    plugins: [actor("good"), { id: "bad", source: `${WEDGE} export default () => {};` }, actor("other")],
  });
  expect(host.plugins().map(({ id, status }) => [id, status])).toEqual([
    ["good", "ready"],
    ["bad", "quarantined"],
    ["other", "ready"],
  ]);
}, 60_000);

it("behind the machine's walls a turn that V8 cannot stop is found out by its thread's CPU clock, too", async () => {
  const config = { sandbox: { walls: "auto" as const } };
  await using host = await open("process", { config, plugins: [actor("bad", { hooks: BUDGET })] });
  const outcome = await host.run("message_sending", sending({ bad: WEDGE }), { channelId: "chat" });
  expect(outcome.calls[0]).toMatchObject({ status: "cpu", error: { code: "ERR_CALL_WEDGED" } });
  expect(outcome.calls[0]!.cpuMs).toBeGreaterThan(BUDGET.cpuMs);
});
