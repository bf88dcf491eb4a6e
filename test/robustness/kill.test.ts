/** The sandbox process is killed, or kills itself, at the worst moments: every run settles, none hangs, the next one works. */
import { expect, it, vi } from "vitest";
import type { Host, Outcome } from "creel";
import { actor, ask, patched, persist, sending, toolCall } from "../support/actors.ts";
import { folder } from "../support/files.ts";
import { next, open, recorder, statuses, until } from "../support/host.ts";
import { isAlive } from "../support/process.ts";

const IN_FLIGHT = 1_000;
const ACTORS = [actor("a", { priority: 10 }), actor("b", { priority: 5 }), actor("c")];
const SOON = `async await new Promise((r) => setTimeout(r, Math.random() * 50)); return { content: event.content + api.id }`;

function kill(host: Pick<Host, "pids">): number {
  const [pid] = host.pids();
  process.kill(pid!, "SIGKILL");
  return pid!;
}

const works = async (host: Host) =>
  expect(await host.run("message_sending", sending({ a: `return { content: "fine" }` }), { channelId: "chat" })).toMatchObject({
    decision: "pass",
    result: { content: "fine" },
  });

it("killed in the middle of 1,000 runs in flight: none is lost, what was not answered is done again, once", async () => {
  await using host = await open("process", { lanes: 2, plugins: ACTORS });
  const restart = next(host, "restart");
  const runs = Array.from({ length: IN_FLIGHT }, (_, i) =>
    host.run("message_sending", sending({ a: SOON, b: SOON, c: SOON }, `${i}:`), { channelId: "chat" }),
  );
  await Promise.race(runs);
  const pid = kill(host);
  const outcomes = await Promise.all(runs);
  await works(host);
  expect(await restart).toMatchObject({
    why: expect.stringMatching(/^the sandbox process was ended by SIGKILL; .* is not known$/),
    lanes: [0, 1],
  });
  expect(isAlive(pid)).toBe(false);
  expect(outcomes.filter(({ calls }) => calls.some(({ status }) => status !== "ok"))).toEqual([]);
  expect(outcomes.map(({ result }) => result?.content)).toEqual(Array.from({ length: IN_FLIGHT }, (_, i) => `${i}:abc`));
});

it("a call that is made again is told so, and has only the time that is left", async () => {
  await using host = await open("process", { plugins: [actor("a", { hooks: { timeoutMs: 2_000 } })] });
  const wait = `return ctx.attempt === 2 ? { content: "again" } : new Promise(() => {})`;
  const running = host.run("message_sending", sending({ a: wait }), { channelId: "chat" });
  const late = host.run("message_sending", sending({ a: `return new Promise(() => {})` }), { channelId: "chat" });
  await host.run("message_sending", sending({}), { channelId: "chat" });
  kill(host);
  expect((await running).result).toEqual({ content: "again" });
  expect((await late).calls[0]).toMatchObject({ status: "timeout" });
});

it("a call whose second attempt dies too is crashed", async () => {
  await using host = await open("process", { plugins: [actor("a")] });
  const running = host.run(
    "message_sending",
    sending({ a: `if (ctx.attempt === 2) api.logger.info("second"); return new Promise(() => {})` }),
    { channelId: "chat" },
  );
  await host.run("message_sending", sending({}), { channelId: "chat" });
  const second = next(host, "log", ({ text }) => text === "second");
  kill(host);
  await second;
  kill(host);
  expect((await running).calls[0]).toMatchObject({ status: "crashed", error: { code: "ERR_SANDBOX_DIED" } });
  await works(host);
});

it("on a hook that fails closed, a death through no fault of the handlers' blocks nothing", async () => {
  await using host = await open("process", { plugins: ACTORS });
  const runs = Array.from({ length: 20 }, () =>
    host.run("before_tool_call", toolCall({ b: `return ctx.attempt === 2 ? undefined : new Promise(() => {})` })),
  );
  await host.run("message_sending", sending({}), { channelId: "chat" });
  kill(host);
  for (const outcome of await Promise.all(runs)) {
    expect(outcome.decision).toBe("pass");
    expect(statuses(outcome)).toEqual(["a:ok", "b:ok", "c:ok"]);
  }
});

it("of an observe hook the handlers that had not answered are called again, and only those", async () => {
  await using host = await open("process", { lanes: 2, plugins: ACTORS });
  const lines: string[] = [];
  host.on("log", ({ plugin: id, text }) => lines.push(`${id} ${text}`));
  const wait = `api.logger.info(String(ctx.attempt)); return ctx.attempt === 2 ? undefined : new Promise(() => {})`;
  const heard = next(host, "log", ({ plugin: id }) => id === "c");
  const running = host.run("session:patch", patched({ a: wait, b: `api.logger.info(String(ctx.attempt))`, c: wait }));
  await heard;
  await host.run("message_sending", sending({}), { channelId: "chat" });
  kill(host);
  expect(statuses(await running)).toEqual(["a:ok", "b:ok", "c:ok"]);
  await host.run("message_sending", sending({}), { channelId: "chat" });
  expect(lines.toSorted()).toEqual(["a 2", "a undefined", "b undefined", "c 2", "c undefined"]);
});

it("killed again and again, it comes back again and again", async () => {
  await using host = await open("process", { plugins: ACTORS });
  const pids = new Set<number>();
  const outcomes: Outcome[] = [];
  for (let round = 0; round < 5; round++) {
    const runs = Array.from({ length: 50 }, () => host.run("message_sending", sending({ a: SOON, c: SOON }), { channelId: "chat" }));
    await works(host);
    pids.add(kill(host));
    outcomes.push(...(await Promise.all(runs)));
    await works(host);
  }
  expect(pids.size).toBe(5);
  expect(outcomes).toHaveLength(250);
  expect(host.plugins().map(({ status }) => status)).toEqual(["ready", "ready", "ready"]);
});

it("killed while it is still starting, runs that wait are answered by the one after", async () => {
  await using host = await open("process", { plugins: ACTORS });
  const first = kill(host);
  await vi.waitUntil(() => host.pids().length === 1 && host.pids()[0] !== first, { interval: 1, timeout: 5_000 });
  const waiting = host.run("message_sending", sending({ a: `return { content: "a" }` }), { channelId: "chat" });
  kill(host);
  expect((await waiting).result).toEqual({ content: "a" });
  await works(host);
});

it("calls with small budgets do not take a sandbox that is still starting for stuck", async () => {
  await using host = await open("process", { plugins: [actor("a", { hooks: { timeoutMs: 30 } })] });
  const restarts: string[] = [];
  host.on("restart", ({ why }) => restarts.push(why));
  const ready = next(host, "plugin", ({ status }) => status === "ready");
  const restart = next(host, "restart");
  kill(host);
  await restart;
  await until(ready, () => host.run("message_sending", sending({ a: `return { content: "x" }` }), { channelId: "chat" }));
  await vi.waitFor(() => works(host), { timeout: 10_000 });
  expect(restarts).toHaveLength(1);
});

it("runSync does not block on a sandbox that is known to be away, and works again when it is back", async () => {
  await using host = await open("process", { plugins: ACTORS });
  const restart = next(host, "restart");
  const ready = next(host, "plugin", ({ status }) => status === "ready");
  kill(host);
  await restart;
  const startedMs = performance.now();
  const away = host.runSync("tool_result_persist", persist({}));
  expect(performance.now() - startedMs).toBeLessThan(900);
  expect(statuses(away)).toEqual(["a:crashed", "b:crashed", "c:crashed"]);
  await ready;
  const back = () => host.runSync("tool_result_persist", persist({ b: `return { message: { ok: true } }` }));
  await vi.waitFor(() => expect(back().result).toEqual({ message: { ok: true } }), { timeout: 10_000 });
});

it("a required plugin's synchronous gate stays shut while the sandbox is away: nothing passes unseen", async () => {
  const guard = {
    id: "guard",
    required: true,
    source: `export default (api) => { api.on("tool_result_persist", () => ({ message: { ok: true } })); };`,
  };
  await using host = await open("process", { plugins: [guard] });
  const restart = next(host, "restart");
  kill(host);
  await restart;
  const away = host.runSync("tool_result_persist", persist({}));
  expect(away).toMatchObject({ decision: "block", result: undefined, by: "guard", calls: [{ error: { code: "ERR_SANDBOX_DIED" } }] });
  const back = () => host.runSync("tool_result_persist", persist({}));
  await vi.waitFor(() => expect(back()).toMatchObject({ decision: "pass", result: { message: { ok: true } } }), { timeout: 10_000 });
});

/** Fills the heap in a way that V8 answers by aborting the process, after seconds of last resorts. */
const BOMB = `const all = []; for (;;) all.push(new Array(1000).fill(all.length));`;

it("a plugin that aborts V8 takes the sandbox down once, not the gateway, and is the one that is named", async () => {
  await using host = await open("process", { plugins: [...ACTORS, actor("bomb", { priority: -5, hooks: { cpuMs: 4_000 } })] });
  const restarts: unknown[] = [];
  host.on("restart", (fact) => restarts.push(fact));
  const outcome = await host.run("message_sending", sending({ a: `return { content: "a" }`, bomb: BOMB }), { channelId: "chat" });
  expect(statuses(outcome).slice(0, 3)).toEqual(["a:ok", "b:ok", "c:ok"]);
  expect(outcome.calls[3]).toMatchObject({
    plugin: "bomb",
    error: { code: expect.stringMatching(/^ERR_CALL_(?:WEDGED|PROCESS_MEMORY)$/) },
  });
  expect(outcome).toMatchObject({ decision: "pass", result: { content: "a" } });
  await works(host);
  expect(host.inspect("bomb").circuit).toMatchObject({ state: "open", kills: 1 });
  expect(host.plugins().map(({ circuit }) => circuit.kills)).toEqual([0, 0, 0, 1]);
  await host.release("bomb");
  expect(await ask(host, "bomb", "1")).toBe(1);
  expect(restarts).toMatchObject([{ culprit: "bomb", lanes: [0] }]);
  expect(host.inspect("bomb").isSlow).toBe(true);
}, 90_000);

it("a plugin whose loading kills the sandbox is quarantined the second time, and the others load", async () => {
  const { logger, lines } = recorder();
  await using host = await open("process", {
    allowFailed: true,
    logger,
    plugins: [...ACTORS, { id: "bomb", source: `${BOMB} export default () => {};` }],
  });
  expect(host.inspect("bomb")).toMatchObject({ status: "quarantined", circuit: { state: "quarantined", kills: 2 } });
  await works(host);
  expect(host.plugins().map(({ status, circuit }) => `${status} ${circuit.state}`)).toEqual([
    ...Array<string>(3).fill("ready closed"),
    "quarantined quarantined",
  ]);
  const restarts = lines.filter(({ message }) => message === "the sandbox was restarted");
  expect(restarts.map(({ fields }) => fields.plugin)).toEqual(["bomb", "bomb"]);
}, 90_000);

it("a plugin that was quarantined for what its loading did is not loaded after a restart of the gateway", async () => {
  const { logger, lines } = recorder();
  const config = { stateDir: folder({}) };
  const plugins = [...ACTORS, { id: "bomb", source: `${BOMB} export default () => {};` }];
  await (await open("process", { allowFailed: true, config, plugins })).close();
  await using host = await open("process", { allowFailed: true, config, plugins, logger });
  expect(host.inspect("bomb").status).toBe("quarantined");
  await works(host);
  expect(lines.filter(({ message }) => message === "the sandbox was restarted")).toEqual([]);
}, 90_000);
