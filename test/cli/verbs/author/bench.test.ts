/** `creel bench`: every hook of a plugin is called in the real sandbox beside an empty handler, and what cannot be measured is said with its remedy. No word about times. */
import { describe, expect, it } from "vitest";
import type { PluginFindings } from "../../../../src/cli/bench/plugin.ts";
import { folder } from "../../../support/files.ts";
import { creelHere } from "../../../support/cli-in-process.ts";

const PLUGIN = `export default (api) => {
  api.on("message_sending", (event) => ({ content: event.content + "!" }), { cpuMs: 50 });
  api.on("before_tool_call", (event) => {
    if (event.params.command.includes("rm")) return { block: true, blockReason: "no" };
  });
};
`;
const bench = (...args: string[]) => creelHere("bench", ...args, "--quick", "--isolation", "thread");

describe("creel bench", () => {
  it(
    "measures every hook that it listens to; one that fails on the sample is a problem with its place, and can be given an event",
    { timeout: 60_000 },
    async () => {
      const where = folder({
        "creel.plugin.json": JSON.stringify({ id: "timed", version: "1.2.3", main: "index.ts" }),
        "index.ts": PLUGIN,
      });
      const { code, out, err } = await bench(where, "--json");
      const findings = JSON.parse(out) as PluginFindings & { machine: object };
      expect(findings).toMatchObject({
        id: "timed",
        version: "1.2.3",
        isolation: "thread",
        error: null,
        machine: { node: process.versions.node },
      });
      expect(findings.hooks.map(({ hook, event, budget }) => [hook, event, budget.cpuMs])).toEqual([["message_sending", "sample", 50]]);
      const { latency, empty, ratio, cpuUs, share, callsPerSecond, emptyCallsPerSecond } = findings.hooks[0]!;
      for (const { medianUs, p90Us, p99Us, samples, bins } of [latency, empty]) {
        expect(0 < medianUs && medianUs <= p90Us && p90Us <= p99Us).toBe(true);
        expect(bins.counts.reduce((sum, count) => sum + count)).toBeGreaterThan(samples / 2);
      }
      expect(ratio.low <= ratio.value && ratio.value <= ratio.high).toBe(true);
      expect(share).toBeCloseTo(cpuUs / 50_000, 6);
      expect(Math.min(cpuUs, callsPerSecond, emptyCallsPerSecond, findings.loadMs!, findings.emptyLoadMs!)).toBeGreaterThan(0);
      // Elsewhere the system does not say, and it is null.
      const size = process.platform === "linux" ? "number" : "object";
      expect([typeof findings.memoryMb, typeof findings.emptyMemoryMb]).toEqual([size, size]);
      const fix = expect.stringContaining("--hook before_tool_call --event @event.json") as string;
      expect(findings.problems).toMatchObject([{ hook: "before_tool_call", at: "index.ts:4:30", fix }]);
      expect(code).toBe(1);
      expect(err).toContain("message_sending");

      const given = await bench(where, "--hook", "before_tool_call", "--event", '{"toolName":"exec","params":{"command":"rm x"}}');
      expect(given.out).toMatch(/^timed 1\.2\.3 {2}thread isolation\n/);
      expect(given.out).toMatch(/before_tool_call costs .+ per call, .+ × an empty handler \[.+ … .+\]; .+ % of its 100 ms budget\n/);
      expect(given.out).not.toContain("smallest event");
      expect(given.code).toBe(0);
    },
  );

  it("a plugin that does not load is told with its place and what to do", async () => {
    const { code, out } = await bench(folder({ "index.js": "export default () => {\n  throw new Error('no');\n};\n" }));
    expect(out).toMatch(/✗ loading: .*no\n {4}at index\.js:2:9\n {4}→ /);
    expect(code).toBe(1);
  });

  it("an event needs its hook, and a hook has to be one that it listens to", async () => {
    expect(await bench(".", "--event", "{}")).toMatchObject({ code: 2, err: expect.stringContaining("--hook") as string });
    expect(await bench("./a", "./b")).toMatchObject({ code: 2 });
    const where = folder({ "index.js": "export default () => {};\n" });
    const { code, out } = await bench(where, "--hook", "message_sending");
    expect(out).toContain("message_sending: the plugin does not listen to it");
    expect(code).toBe(1);
  });
});
