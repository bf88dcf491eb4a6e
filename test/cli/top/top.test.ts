import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { topLines } from "../../../src/cli/top/page.ts";
import { percentile, topView } from "../../../src/cli/top/view.ts";
import type { TopView } from "../../../src/cli/top/view.ts";
import type { PendingApproval } from "creel";
import { creelHere } from "../../support/cli-in-process.ts";
import { CACHE } from "../../support/creel.ts";
import { folder } from "../../support/files.ts";
import { CTRL_C, hasPty, onTerminal } from "../../support/pty.ts";
import { defaultSocket } from "../../../src/sdk/remote/serve-place.ts";
import type { Served } from "../../../src/serve/server.ts";
import { served } from "../../support/serve.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const env = { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", NODE_COMPILE_CACHE: CACHE, NO_COLOR: "1" };
const source = `export default (api) => { api.on("before_tool_call", () => {}); };`;
const plugins = [{ id: "guard", source }];
const plain = { width: 100, paint: (_: unknown, text: string) => text };

it("a percentile lies within the bucket that holds it", () => {
  const histogram = { bounds: [0.001, 0.01, 0.1], counts: [0, 90, 10, 0], sum: 1, count: 100 };
  expect(percentile(histogram, 0.5)).toBeCloseTo(6, 5);
  expect(percentile(histogram, 0.99)).toBeGreaterThan(10);
  expect(percentile(histogram, 0.99)).toBeLessThanOrEqual(100);
  expect(percentile({ ...histogram, counts: [0, 0, 0, 100] }, 0.5)).toBe(100);
});

it("rates are those between two pictures", async () => {
  await using server = await served({ plugins });
  await server.host.run("before_tool_call", { toolName: "t", params: {} });
  const before = await server.host.stats();
  for (let at = 0; at < 10; at++) await server.host.run("before_tool_call", { toolName: "t", params: {} });
  const stats = { ...(await server.host.stats()), at: before.at + 2_000 };
  const view = topView({ stats, before, runs: [], approvals: [] });
  expect(view).toMatchObject({
    seconds: 2,
    runsPerSecond: 5,
    plugins: [{ plugin: "guard", state: "ready", callsPerSecond: 5, failuresPerSecond: 0 }],
  });
  expect(view.plugins[0]!.p99Ms).toBeGreaterThanOrEqual(view.plugins[0]!.p50Ms!);
  expect(view.hooks).toMatchObject([{ hook: "before_tool_call", runsPerSecond: 5, stoppedPerSecond: 0 }]);
  const idle = topView({ stats, before: stats, runs: [], approvals: [] });
  expect(idle.hooks).toEqual([]);
  expect(idle.plugins[0]).not.toHaveProperty("p50Ms");
});

it("the hook that is slow is first, with the plugin that made it slow; JSON and the page have it", async () => {
  // Longer than a first call takes on a busy machine.
  const slow = `export default (api) => {
    api.on("before_tool_call", (event) => event.params.bad && { block: true, blockReason: "no" });
    api.on("message_sending", () => new Promise((done) => setTimeout(done, 500)));
  };`;
  const quick = `export default (api) => { for (const hook of ["before_tool_call", "message_sending"]) api.on(hook, () => {}); };`;
  await using server = await served({
    plugins: [
      { id: "slow", source: slow },
      { id: "quick", source: quick },
    ],
  });
  await server.host.run("before_tool_call", { toolName: "t", params: {} });
  await server.host.run("before_tool_call", { toolName: "t", params: { bad: true } });
  await server.host.run("message_sending", { to: "x", content: "y" }, { channelId: "c" });
  const { out } = await creelHere("top", "--once", "--json", "--socket", server.socket);
  const { hooks } = JSON.parse(out) as TopView;
  expect(hooks.map(({ hook }) => hook)).toEqual(["message_sending", "before_tool_call"]);
  expect(hooks[0]).toMatchObject({ slowest: { plugin: "slow" } });
  // The clock of a timer is a millisecond early at times.
  expect(hooks[0]!.slowest!.meanMs).toBeGreaterThan(490);
  expect(hooks[0]!.p99Ms).toBeGreaterThan(250);
  expect(hooks[1]!.stoppedPerSecond).toBeCloseTo(hooks[1]!.runsPerSecond / 2, 9);
  const page = await creelHere("top", "--once", "--socket", server.socket);
  expect(page.out).toMatch(/message_sending .* slow \d+/);
});

it("no title or tool of a plugin's breaks out of its line", () => {
  const text = "a\n\u001b[31mb\u202ec";
  const view: TopView = {
    host: "h1",
    at: 0,
    seconds: 1,
    runsPerSecond: 0,
    inFlight: 0,
    isRecording: true,
    eventLoop: { meanMs: 0, p99Ms: 0, maxMs: 0 },
    processes: [],
    plugins: [],
    hooks: [{ hook: text, runsPerSecond: 1, stoppedPerSecond: 0, slowest: { plugin: text, meanMs: 1 } }],
    runs: [{ runId: "h1-1", hook: text, ageMs: 1, plugins: [text] }],
    approvals: [{ id: "x", toolName: text, title: text, ageMs: 1, leftMs: 1 }],
  };
  const shown = topLines(view, plain).join("");
  expect(shown).toContain("recording events");
  expect(["\n", "\u001b", "\u202e"].filter((one) => shown.includes(one))).toEqual([]);
});

it("a small screen is never overfilled", () => {
  const plugin = { plugin: "p", state: "ready", callsPerSecond: 0, failuresPerSecond: 0, cpuRatio: 0 };
  const view = {
    host: "h1",
    at: 0,
    seconds: 1,
    runsPerSecond: 0,
    inFlight: 0,
    isRecording: true,
    eventLoop: { meanMs: 0, p99Ms: 0, maxMs: 0 },
    processes: [],
    plugins: Array.from({ length: 100 }, () => plugin),
    hooks: Array.from({ length: 100 }, (_, at) => ({ hook: `hook${at}`, runsPerSecond: 1, stoppedPerSecond: 0 })),
    runs: Array.from({ length: 100 }, (_, at) => ({ runId: `r${at}`, hook: "agent_end", ageMs: 1, plugins: [] })),
    approvals: [],
  };
  expect(topLines(view, plain, 40).length).toBeLessThanOrEqual(40);
  expect(topLines(view, plain, 40)).toContain("and 92 more");
});

describe("creel top, metrics, tail and explain of a host that runs", () => {
  const dir = folder({});
  let server: Served;
  let runId: string;
  beforeAll(async () => {
    server = await served({ plugins, socket: defaultSocket(dir) });
    ({ runId } = await server.host.run("before_tool_call", { toolName: "t", params: { command: "ls" } }));
  });
  afterAll(() => server.close());

  const once = (...more: string[]) => creelHere("tail", "--once", ...more, "--socket", server.socket);
  it("tail tells what happened before it was started, passes included, filtered, and ends if it is told to", async () => {
    const { out } = await once();
    expect(out).toMatch(/plugin +guard +ready/);
    expect(out).toMatch(new RegExp(`run +– +pass +before_tool_call .*${runId}`));
    const [last] = (await once("--last", "1", "--json")).out.trim().split("\n");
    expect(JSON.parse(last!)).toMatchObject({ event: "run", fact: { outcome: { runId, decision: "pass" } } });
    expect((await once("--fact", "restart")).out).toBe("");
    expect((await once("--last", "many")).code).toBe(2);
  });

  it("explain has a run that passed, which the audit log does not have, from the host", async () => {
    const { code, out } = await creelHere("explain", runId, "--state-dir", dir);
    expect([code, out.split("\n")[0]]).toEqual([0, "before_tool_call  pass"]);
    expect(out).toContain(`"command":"ls"`);
    const json = JSON.parse((await creelHere("explain", runId, "--state-dir", dir, "--json")).out) as object;
    expect(json).toMatchObject({ run: { runId, pid: process.pid, calls: [{ plugin: "guard", status: "ok" }] }, why: "It went on." });
    expect(await creelHere("explain", "h0-0", "--state-dir", dir)).toMatchObject({ code: 1, err: expect.stringContaining("h0-0") });
  });

  it("top and metrics print once, as a page, as JSON and as OpenMetrics", async () => {
    const page = await creelHere("top", "--once", "--socket", server.socket);
    expect(page.out).toMatch(/guard +ready/);
    const json = JSON.parse((await creelHere("top", "--once", "--json", "--socket", server.socket)).out) as TopView;
    expect(json).toMatchObject({ host: server.host.id, plugins: [{ plugin: "guard" }], runs: [], approvals: [] });
    const metrics = await creelHere("metrics", "--socket", server.socket);
    expect(metrics.out).toContain('creel_runs_total{hook="before_tool_call",decision="pass"} 1\n');
    expect(metrics.out.endsWith("# EOF\n")).toBe(true);
    expect((await creelHere("top", "--once", "--every", "0", "--socket", server.socket)).code).toBe(2);
  });

  it("an approval that waits has its time, a run in flight its plugins, and a plugin its numbers", async () => {
    const asks = `export default (api) => { api.on("before_tool_call", () => ({ requireApproval: { title: "Deploy it?", description: "d" } })); };`;
    const config = { sandbox: { spare: false, walls: "none" }, approvals: { plugin: { answerable: true } } } as const;
    await using asking = await served({ plugins: [{ id: "asker", source: asks }], config });
    const running = asking.host.run("before_tool_call", { toolName: "deploy", params: {} });
    await expect.poll(() => asking.host.pendingApprovals(), { timeout: 10_000 }).toHaveLength(1);
    const [{ id, digest, runId: inFlight }] = (await asking.host.pendingApprovals()) as [PendingApproval];
    const { out } = await creelHere("top", "--once", "--socket", asking.socket);
    const row = (first: string): string | undefined => out.split("\n").find((line) => line.includes(first));
    expect(out.split("\n")[0]).toContain("1 in flight");
    expect(out.split("\n")[0]).toContain("1 approval pending");
    expect(row(id)).toMatch(/\d+ s +\d+ .+ deploy +Deploy it\?/);
    expect(row(inFlight)).toMatch(/^before_tool_call deploy +.+ asker/);
    await asking.host.answerApproval({ id, digest, decision: "deny" });
    await running;
    const after = await creelHere("top", "--once", "--socket", asking.socket);
    expect(after.out).toMatch(/^asker +ready +[\d.]+ +0 +[\d.]+ \S+ +[\d.]+ \S+ +[\d.]+ % +[\d.]+ MB of \d+ MB$/m);
  });

  it.runIf(hasPty).each([
    ["q", "q"],
    ["Ctrl-C", CTRL_C],
  ])("at a terminal it is painted again and again, until %s gives the terminal back", { timeout: 60_000 }, async (_, key) => {
    const screen = onTerminal(
      [process.execPath, "-C", "source", join(root, "src/cli/main.ts"), "top", "--every", "0.1", "--socket", server.socket],
      { cwd: folder({}), env },
    );
    await screen.shows("guard");
    await screen.shows("guard");
    screen.type(key);
    expect(await screen.ended).toBe(0);
    expect(screen.raw().trimEnd().endsWith("\u001b[?25h\u001b[?1049l")).toBe(true);
  });
});
