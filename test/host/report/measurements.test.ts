import { expect, it } from "vitest";
import { errorMessage } from "../../../src/protocol/errors.ts";
import { HostEvents } from "../../../src/host/report/events.ts";
import { Measurements, reasonOf } from "../../../src/host/report/measurements.ts";
import { BucketCounts } from "../../../src/host/report/bucket-counts.ts";
import { open } from "../../support/host.ts";

it("a service that does not exist is counted under no name of the plugin's", () => {
  const events = new HostEvents("h-services", () => {});
  const measurements = new Measurements(events);
  for (const service of ["kv.set", "fetch", "my.secret-channel", "kv", "__proto__"])
    events.publish("refused", { plugin: "p", service, message: "" });
  expect(measurements.plugin("p").refusals).toEqual({
    fetch: 1,
    connect: 0,
    kv: 1,
    schedule: 0,
    "session:get": 0,
    "session:patch": 0,
    fs: 0,
    other: 3,
  });
  events.close();
});

it("the reason of a restart is one of a few words", () => {
  expect(reasonOf(errorMessage("ERR_SANDBOX_MEMORY", { mb: 600, limit: 512 }))).toBe("memory");
  expect(reasonOf(errorMessage("ERR_SANDBOX_WEDGED", { ms: 1_234 }))).toBe("wedged");
  expect(reasonOf("it exited with 137")).toBe("died");
});

it("a duration falls into the first bucket that is not below it, and the bucket remembers its last run", () => {
  const counts = new BucketCounts();
  counts.add(0.01, "r1", performance.now());
  counts.add(0.011, "r2", performance.now());
  counts.add(0.02, "r3", performance.now());
  counts.add(60_000, "r4", performance.now());
  const { counts: shown, count, sum, exemplars, bounds } = counts.report();
  expect(shown.slice(0, 3)).toEqual([1, 2, 0]);
  expect(shown).toHaveLength(bounds.length + 1);
  expect([shown.at(-1), count]).toEqual([1, 4]);
  expect(sum).toBeCloseTo(60.000041, 6);
  expect(exemplars![1]).toMatchObject({ runId: "r3", value: 0.02e-3 });
  expect(exemplars![2]).toBeUndefined();
});

it("a host counts calls by status, runs by decision, memory of cells and processes, from the start", async () => {
  const source = `export default (api) => { api.on("before_tool_call", (event) => { if (event.params.bad) throw new Error("x"); }); };`;
  await using host = await open("process", {
    plugins: [{ id: "p", source }],
    config: { sandbox: { spare: false } },
  });
  const fresh = await host.stats();
  expect(fresh.hooks).toMatchObject([{ hook: "before_tool_call", runs: { pass: 0, block: 0, aborted: 0 }, duration: { count: 0 } }]);
  expect(fresh.plugins[0]!.calls.filter(({ count }) => count > 0)).toEqual([]);
  expect(fresh.plugins[0]!.calls.map(({ status }) => status)).toContain("timeout");
  expect(fresh.plugins[0]!.heapBytes).toBeGreaterThan(500_000);
  expect(fresh.plugins[0]!.heapLimitBytes).toBe(32 * 2 ** 20);
  for (const bad of [false, false, true]) await host.run("before_tool_call", { toolName: "t", params: { bad } });
  const { hooks, plugins, processes } = await host.stats();
  expect(hooks[0]!.duration.count).toBe(3);
  expect(Object.values(hooks[0]!.runs).reduce((sum, count) => sum + count, 0)).toBe(3);
  expect(plugins[0]!.calls.filter(({ count }) => count > 0)).toEqual([
    { hook: "before_tool_call", status: "ok", count: 2 },
    { hook: "before_tool_call", status: "failed", count: 1 },
  ]);
  expect(plugins[0]!.duration.count).toBe(3);
  expect(plugins[0]!.cpuSeconds).toBeGreaterThan(0);
  // The bundler's process may be gone by now.
  expect(processes.flatMap(({ kind }) => (kind === "bundler" ? [] : [kind]))).toEqual(["gateway", "sandbox"]);
  expect(processes.every(({ kind, rssBytes }) => kind === "bundler" || rssBytes > 10 * 2 ** 20)).toBe(true);
  // It is there while it bundles, and for a while after that.
  const reloaded = host.reload("p");
  const bundlers = async () => (await host.stats()).processes.filter(({ kind }) => kind === "bundler");
  await expect.poll(async () => (await bundlers()).some(({ rssBytes }) => rssBytes > 10 * 2 ** 20), { timeout: 10_000 }).toBe(true);
  await reloaded;
});
