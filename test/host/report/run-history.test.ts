import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { openHost } from "creel";
import type { Host } from "creel";
import { folder, QUICK } from "../../support/files.ts";
import { open, silent } from "../../support/host.ts";
import { putInstalled } from "../../support/installed.ts";
import { served } from "../../support/serve.ts";

const GATE = `export default (api) => {
  api.on("before_tool_call", (event) => {
    console.log("looked at", event.toolName);
    if (event.params.bad) return { block: true, blockReason: "it is bad" };
    if (event.params.odd) return { noSuchField: 1 };
    return { params: { ...event.params, seen: true } };
  }, { priority: 10 });
};`;
const SLOW = `export default (api) => {
  api.on("before_tool_call", async (event) => { if (event.params.wait) await new Promise((done) => setTimeout(done, 40)); });
  api.on("message_sent", async () => { await new Promise((done) => setTimeout(done, 30)); });
};`;
const INSTANT = `export default (api) => { api.on("message_sent", () => {}); };`;
const PLUGINS = [
  { id: "gate", source: GATE },
  { id: "slow", source: SLOW, hooks: { allowConversationAccess: true } },
  { id: "quick", source: INSTANT, hooks: { allowConversationAccess: true } },
];
const tool = (params: object) => ({ toolName: "exec", params: params as Record<string, unknown> });

/** How many are in flight, and how many have ended. */
const kinds = (runs: readonly { readonly wallMs?: number }[]): number[] => {
  const ended = runs.filter(({ wallMs }) => wallMs !== undefined).length;
  return [runs.length - ended, ended];
};

describe("recent runs", () => {
  let host: Host;
  beforeAll(async () => {
    host = await open("thread", { plugins: PLUGINS });
  });
  afterAll(() => host.close());

  it("a run is remembered although nobody listened, with its decision and what it took", async () => {
    const beganMs = performance.now();
    const { runId } = await host.run("before_tool_call", tool({ wait: true }));
    const tookMs = performance.now() - beganMs;
    await host.run("before_tool_call", tool({ bad: true }));
    const [blocked, passed] = await host.runs();
    expect(blocked).toMatchObject({ hook: "before_tool_call", toolName: "exec", decision: "block", by: "gate", reason: "it is bad" });
    expect(passed).toMatchObject({ runId, decision: "pass", chain: { rootRunId: runId, depth: 0, path: [], runIds: [] } });
    expect(passed!.wallMs).toBeGreaterThanOrEqual(39);
    // Both are read from one clock, so that no slow machine needs slack here.
    expect(passed!.wallMs).toBeLessThanOrEqual(tookMs);
    expect(passed).not.toHaveProperty("activateMs");
    expect(Math.abs(passed!.at + passed!.wallMs! - Date.now())).toBeLessThan(60_000);
    expect(blocked!.seq).toBeGreaterThan(passed!.seq);
  });

  it("calls of a chain begin one after the other, and a skipped one did not begin", async () => {
    const { runId } = await host.run("before_tool_call", tool({ wait: true }));
    await host.run("before_tool_call", tool({ bad: true }));
    const [blocked, passed] = await host.runs();
    expect(passed!.runId).toBe(runId);
    const [first, second] = passed!.calls;
    expect([first, second]).toMatchObject([
      { plugin: "gate", lane: 0, attempt: 1, batch: 1 },
      { plugin: "slow", lane: 0, attempt: 1, batch: 1 },
    ]);
    expect(second!.startMs).toBeGreaterThanOrEqual(first!.startMs! + first!.wallMs - 0.01);
    expect(second!.startMs! + second!.wallMs).toBeLessThanOrEqual(passed!.wallMs! + 0.01);
    expect(blocked!.calls[1]).toMatchObject({ plugin: "slow", status: "skipped" });
    expect(blocked!.calls[1]).not.toHaveProperty("startMs");
    expect(blocked!.calls[1]).not.toHaveProperty("batch");
  });

  it("a result that the lane leaves to the host ends its batch: the next call goes with a message of its own", async () => {
    await host.run("before_tool_call", tool({ odd: true }));
    const { calls } = (await host.runs({ limit: 1 }))[0]!;
    expect(calls.map(({ plugin, batch }) => [plugin, batch])).toEqual([
      ["gate", 1],
      ["slow", 2],
    ]);
    expect(calls[1]!.startMs).toBeGreaterThan(calls[0]!.startMs!);
  });

  it("handlers that run side by side overlap", async () => {
    await host.run("message_sent", { to: "x", content: "y", success: true }, { channelId: "c" });
    const [run] = await host.runs({ hook: "message_sent" });
    const [slow, quick] = run!.calls;
    expect(slow!.plugin).toBe("slow");
    expect(quick!.startMs).toBeLessThan(slow!.startMs! + slow!.wallMs);
    expect([slow!.batch, quick!.batch]).toEqual([1, 1]);
  });

  it("runs in flight leave half of the limit to those that have ended, and take what these leave", async () => {
    for (let n = 0; n < 6; n++) await host.run("before_tool_call", tool({}));
    const running = Array.from({ length: 8 }, () => host.run("before_tool_call", tool({ wait: true })));
    expect(kinds(await host.runs({ limit: 5 }))).toEqual([3, 2]);
    const { seq } = (await host.runs({ limit: 9 })).at(-1)!;
    const latest = (await host.runs()).find(({ wallMs }) => wallMs !== undefined);
    expect(latest!.seq).toBeGreaterThan(seq);
    expect(kinds(await host.runs({ limit: 5, since: latest!.seq }))).toEqual([5, 0]);
    expect(kinds(await host.runs({ limit: 5, decision: "pass" }))).toEqual([0, 5]);
    await Promise.all(running);
  });

  it("a run in flight is listed first, without an end, and found by its id", async () => {
    const running = host.run("before_tool_call", tool({ wait: true }));
    const [flying] = await host.runs();
    expect(flying).not.toHaveProperty("wallMs");
    expect(await host.runDetail(flying!.runId)).toMatchObject({ runId: flying!.runId, event: { value: tool({ wait: true }) } });
    expect((await host.stats()).inFlight).toBe(1);
    const { runId } = await running;
    expect(flying!.runId).toBe(runId);
    expect((await host.runs())[0]).toMatchObject({ runId, decision: "pass" });
  });

  it("a run that the gateway aborts has ended, without a decision", async () => {
    const stop = new AbortController();
    const aborted = new Promise((done) => host.on("aborted", done));
    const running = host.run("before_tool_call", tool({ wait: true }), undefined, { signal: stop.signal });
    stop.abort(new Error("enough"));
    await expect(running).rejects.toThrow("enough");
    const [run] = await host.runs();
    expect(run).toMatchObject({ reason: "the gateway aborted the run", wallMs: expect.any(Number) as number, calls: [] });
    expect(run).not.toHaveProperty("decision");
    expect(await aborted).toMatchObject({ runId: run!.runId, seq: run!.seq });
  });

  it("its data say what each handler saw, returned, changed and logged", async () => {
    const { runId } = await host.run("before_tool_call", tool({ command: "ls" }));
    // Log lines come with the next message of the lane.
    await vi.waitUntil(async () => (await host.runDetail(runId))!.logs.length > 0, { timeout: 10_000 });
    const detail = await host.runDetail(runId);
    expect(detail).toMatchObject({
      event: { value: tool({ command: "ls" }) },
      steps: [
        { returned: { value: { params: { command: "ls", seen: true } } }, changed: ["params"] },
        { saw: { value: { params: { command: "ls", seen: true } } } },
      ],
      caused: [],
    });
    expect(detail!.logs).toMatchObject([{ plugin: "gate", level: "info", text: "looked at exec" }]);
    expect(await host.runDetail("h0-1")).toBeUndefined();
  });

  it("a run that began before anybody listened is reported with the time that it took", async () => {
    const beganMs = performance.now();
    const running = host.run("before_tool_call", tool({ wait: true }));
    const fact = new Promise<{ wallMs: number }>((done) => {
      const off = host.on("run", (told) => (off(), done(told)));
    });
    await running;
    const tookMs = performance.now() - beganMs;
    const { wallMs } = await fact;
    expect(wallMs).toBeGreaterThanOrEqual(39);
    expect(wallMs).toBeLessThanOrEqual(tookMs);
  });

  it("a brief record is as the others, without when and where its calls were made", async () => {
    await host.run("before_tool_call", tool({ bad: true }));
    const [whole] = await host.runs({ limit: 1 });
    const [brief] = await host.runs({ limit: 1, brief: true });
    expect(whole!.calls[0]).toHaveProperty("startMs");
    const calls = whole!.calls.map(({ plugin, priority, status, wallMs, cpuMs }) => ({ plugin, priority, status, wallMs, cpuMs }));
    expect(brief).toEqual({ ...whole, calls });
  });

  it("a filter takes the latest that match all of it", async () => {
    await host.run("before_tool_call", tool({}));
    const { seq } = (await host.runs({ limit: 1 }))[0]!;
    await host.run("before_tool_call", tool({ bad: true }));
    await host.run("message_sent", { to: "x", content: "y", success: true }, { channelId: "c" });
    expect((await host.runs({ since: seq })).map(({ hook }) => hook)).toEqual(["message_sent", "before_tool_call"]);
    expect(await host.runs({ since: seq, plugin: "gate" })).toMatchObject([{ decision: "block" }]);
    expect(await host.runs({ since: seq, plugin: "gate", decision: "pass" })).toEqual([]);
    expect(await host.runs({ limit: 2 })).toHaveLength(2);
  });
});

it("the run that wakes a lazy plugin took as long as its caller waited, and says how much of it the plugin took to load", async () => {
  const stateDir = join(folder({}, QUICK), "state");
  const source = `export default async (api) => {
    await new Promise((done) => setTimeout(done, 60));
    api.on("message_sending", () => new Promise((done) => setTimeout(done, 20)));
  };`;
  await putInstalled(stateDir, "lazy", source, { functions: [] });
  await using host = await open("thread", { config: { stateDir } });
  expect(host.inspect("lazy").status).toBe("asleep");
  const ended = new Promise<object>((done) => void host.on("run", done));
  const send = () => host.run("message_sending", { to: "x", content: "y" }, { channelId: "c" });
  const beganMs = performance.now();
  await send();
  const tookMs = performance.now() - beganMs;
  const [first] = await host.runs();
  expect(first!.activateMs).toBeGreaterThan(55);
  expect(first!.wallMs).toBeGreaterThan(first!.activateMs! + 18);
  expect(first!.wallMs).toBeLessThanOrEqual(tookMs);
  expect(first!.calls[0]!.startMs).toBeGreaterThanOrEqual(first!.activateMs!);
  expect(await ended).toMatchObject({ activateMs: first!.activateMs, wallMs: first!.wallMs });
  await send();
  expect((await host.runs())[0]).not.toHaveProperty("activateMs");
});

it("where no events may be shown, a run does not say which tool it was about, unless it is one of a plugin's own", async () => {
  const own = `export default (api) => api.registerTool({ name: "weather", description: "d", execute: async () => "sun" });`;
  const plugins = [...PLUGINS, { id: "own", source: own }];
  await using host = await open("thread", { plugins, config: { audit: { events: "none" } } });
  await host.call({ tool: "weather" }, {});
  expect((await host.runs())[0]).toMatchObject({ hook: "tool", toolName: "weather" });
  const { runId } = await host.run("before_tool_call", tool({}));
  expect((await host.runs())[0]).not.toHaveProperty("toolName");
  expect(await host.runDetail(runId)).not.toHaveProperty("toolName");
});

it("facts are numbered without gaps for a listener of all, and say when a run begins and what caused it", async () => {
  await using host = await open("thread", { plugins: PLUGINS });
  const seen: { name: string; seq: number; at: number; chain?: object }[] = [];
  for (const name of ["begun", "call", "run", "log"] as const) host.on(name, (fact) => seen.push({ name, ...fact }));
  const { runId } = await host.run("before_tool_call", tool({ bad: true }));
  await host.run("message_sent", { to: "x", content: "y", success: true }, { channelId: "c" });
  expect(seen.map(({ name }) => name).filter((name) => name !== "log")).toEqual([
    "begun",
    "call",
    "call",
    "run",
    "begun",
    "call",
    "call",
    "run",
  ]);
  expect(seen.map(({ seq }) => seq)).toEqual(seen.map((_, at) => seen[0]!.seq + at));
  expect(seen[0]).toMatchObject({ runId, plugins: ["gate", "slow"], chain: { rootRunId: runId } });
  expect(seen.every(({ at }) => Math.abs(at - Date.now()) < 60_000)).toBe(true);
});

it("facts about what a plugin asks for say which run caused them", async () => {
  const source = `export default (api) => {
    api.on("before_tool_call", async () => {
      await fetch("https://nowhere.example").catch(() => {});
      return { requireApproval: { title: "t", description: "d" } };
    });
  };`;
  await using host = await open("thread", { plugins: [{ id: "asker", source }], gateway: { requestApproval: async () => "deny" } });
  const seen: { readonly chain?: { readonly runIds: readonly string[]; readonly by?: string } }[] = [];
  host.on("refused", (fact) => seen.push(fact));
  host.on("approval", (fact) => seen.push(fact));
  const { runId } = await host.run("before_tool_call", tool({}));
  expect(seen.map(({ chain }) => [chain?.runIds.at(-1), chain?.by])).toEqual(Array.from({ length: 3 }, () => [runId, "asker"]));
});

it("a host that was joined over the socket gives the same", async () => {
  await using server = await served({ plugins: PLUGINS });
  await using joined = await openHost({ connect: server.socket, logger: silent });
  const { runId } = await joined.run("before_tool_call", tool({ bad: true }));
  expect(await joined.runs()).toEqual(await server.host.runs());
  expect(await joined.runs({ brief: true })).toEqual(await server.host.runs({ brief: true }));
  expect((await joined.runs({ brief: true }))[0]!.calls[0]).not.toHaveProperty("startMs");
  const detail = await joined.runDetail(runId);
  expect(detail).toMatchObject({ decision: "block", steps: [{}, {}] });
  expect(await joined.runDetail("h0-1")).toBeUndefined();
  // Log lines come with the next message of the lane.
  await vi.waitUntil(async () => (await server.host.recentFacts()).some(({ event }) => event === "log"), { timeout: 10_000 });
  const recent = await joined.recentFacts();
  expect(recent.map(({ event }) => event)).toEqual(["plugin", "plugin", "plugin", "log"]);
  expect(recent).toEqual(JSON.parse(JSON.stringify(await server.host.recentFacts())));
  expect(await joined.recentFacts({ limit: 1 })).toEqual(recent.slice(-1));
  const { host, plugins, hooks } = await joined.stats();
  expect(host).toBe(server.host.id);
  expect(plugins.map(({ plugin }) => plugin)).toEqual(["gate", "slow", "quick"]);
  expect(hooks.find(({ hook }) => hook === "before_tool_call")!.runs).toEqual({ pass: 0, block: 1, aborted: 0 });
});
