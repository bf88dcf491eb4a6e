/** `creel explain` and `creel inspect` beside a host that runs: what the console shows of a run and of a plugin, the commands show as well. */
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { explainPage } from "../../../../src/cli/explain/page.ts";
import { defaultSocket } from "../../../../src/sdk/remote/serve-place.ts";
import type { Served } from "../../../../src/serve/server.ts";
import { creelHere } from "../../../support/cli-in-process.ts";
import { folder } from "../../../support/files.ts";
import { served } from "../../../support/serve.ts";

const GUARD = `export default (api) => {
  api.on("before_tool_call", async (event) => {
    console.log("looked at", event.toolName);
    if (event.params.kv) await api.kv.set("x", "y".repeat(2_000));
    if (event.params.bad) return { block: true, blockReason: "it is bad" };
  });
};`;

const dir = folder({
  "creel.json": JSON.stringify({
    stateDir: "state",
    sandbox: { spare: false, walls: "none" },
    plugins: { load: { paths: ["guard"] }, entries: { guard: { permissions: ["kv"], limits: { heapMb: 24 } } } },
  }),
  "guard/index.js": GUARD,
  "guard/creel.plugin.json": `{"id":"guard","main":"index.js","version":"1.2.3"}`,
});
const config = join(dir, "creel.json");
const creel = (...args: string[]) => creelHere(...args, "--config", config);

let server: Served;
beforeAll(async () => {
  server = await served({ config, socket: defaultSocket(join(dir, "state")) });
});
afterAll(() => server.close());

const run = (params: Record<string, unknown>) => server.host.run("before_tool_call", { toolName: "exec", params });

it("explain shows when each call began, in which lane, the whole time and the logs: of a run that passed, and of one in the log", async () => {
  for (const [bad, head, advice] of [
    [false, "before_tool_call  pass", ""],
    [true, "before_tool_call  block by guard", "set plugins.entries.guard.enabled to false in creel.json"],
  ] as const) {
    const { runId } = await run({ bad });
    await expect.poll(async () => (await server.host.runDetail(runId))?.logs.length, { timeout: 10_000 }).toBe(1);
    const { code, out } = await creel("explain", runId);
    expect([code, out.split("\n")[0]]).toEqual([0, head]);
    expect(out).toMatch(/^ {2}took +[\d.]+ (?:µs|ms|s)/m);
    expect(out).toMatch(/^ {6}began +[\d.]+ (?:µs|ms|s) after the run, in lane 0$/m);
    expect(out).toMatch(/^Logs\n {2}\d\d:\d\d:\d\d +guard info: looked at exec$/m);
    const { live } = JSON.parse((await creel("explain", runId, "--json")).out) as { live: object };
    const { wallMs } = (await server.host.runDetail(runId))!;
    expect(live).toMatchObject({ wallMs, caused: [], calls: [{ startMs: expect.any(Number), lane: 0, attempt: 1, batch: 1 }] });
    expect(out.replaceAll(/\s+/g, " ")).toContain(advice);
    expect(out).not.toContain("creel disable");
  }
});

it("explain names the runs of the chain, and that a call was made twice", () => {
  const lines: string[] = [];
  const chain = { rootRunId: "h1-1", depth: 1, path: ["a:before_tool_call"] };
  const budget = { wallMs: { value: 1, origin: "o" }, cpuMs: { value: 1, origin: "o" } };
  const call = { plugin: "a", priority: 0, status: "ok", wallMs: 1, cpuMs: 1, budget } as const;
  const base = { v: 1, at: "2026-01-01", host: "h1", pid: 1, kind: "run", runId: "h1-2", hook: "x", decision: "pass", failure: "open" };
  const live = { wallMs: 5, causedBy: "h1-1", caused: ["h1-3", "h1-4"], logs: [], calls: [{ startMs: 2, lane: 1, attempt: 2, batch: 1 }] };
  const terminal = { width: 120, line: (text = "") => void lines.push(text), paint: (_: unknown, text: string) => text };
  const others = [
    { startMs: 3, lane: 1, attempt: 1, batch: 1 },
    { startMs: 4, lane: 1, attempt: 1, batch: 2 },
  ];
  const calls = [call, { ...call, plugin: "b" }, { ...call, plugin: "c" }];
  explainPage({ ...base, chain, calls } as never, "w", [], [], terminal, { ...live, calls: [...live.calls, ...others] });
  const text = lines.join("\n");
  expect(text).toContain("a:before_tool_call, starting with h1-1, last h1-1");
  expect(text).toMatch(/caused +h1-3, h1-4/);
  expect(text).toContain("in lane 1, in one batch with b, made twice: the process of the first was lost");
  expect(text).toContain("4.00 ms after the run, in lane 1\n");
});

it("inspect falls back to the host that runs, for a plugin of creel.json, and says so; one that nobody knows is refused", async () => {
  await run({ kv: true });
  const { code, out } = await creel("inspect", "guard");
  expect(code).toBe(0);
  expect(out).toContain("guard is not installed; this is what the host that runs says of it");
  for (const line of [
    /state +ready, version 1\.2\.3/,
    /breaker +closed/,
    /heapMb +24 /,
    /store +2(?:\.\d)? kB of .*1 keys/i,
    /hooks +before_tool_call/,
  ])
    expect(out).toMatch(line);
  expect(out).toMatch(/permissions +kv: 1 uses, the last at 20/);
  expect(out).toContain("plugins.entries.guard.enabled and plugins.entries.guard.permissions in creel.json");
  const json = JSON.parse((await creel("inspect", "guard", "--json")).out) as object;
  expect(json).toMatchObject({ entry: null, running: [{ plugin: { id: "guard", isInstalled: false }, stats: { plugin: "guard" } }] });
  expect(await creel("inspect", "gard")).toMatchObject({ code: 1, err: expect.stringContaining('no plugin "gard" is installed') });
});
