import { describe, expect, it } from "vitest";
import { Samples } from "../../src/console/samples.ts";
import type { Host } from "creel";
import type { HostStats } from "../../src/protocol/live-report.ts";
import { open } from "../support/host.ts";

const GUARD = `export default (api) => {
  api.on("before_tool_call", (event) => (event.params.bad ? { block: true, blockReason: "no" } : undefined));
  api.on("message_sending", (event) => new Promise((done) => setTimeout(done, event.content === "slow" ? 40 : 0)));
};`;
const QUICK = `export default (api) => { api.on("message_sending", () => {}); };`;

const tool = (host: Host, params: object = {}) =>
  host.run("before_tool_call", { toolName: "t", params: params as Record<string, unknown> });
const send = (host: Host, content: string) => host.run("message_sending", { to: "x", content }, { channelId: "c" });

describe("samples of measurements", () => {
  it("a hook has its own rate, stopped runs and quantiles, of its interval alone, and names the plugin that was slow in it", async () => {
    await using host = await open("thread", {
      plugins: [
        { id: "guard", source: GUARD },
        { id: "quick", source: QUICK },
      ],
    });
    const samples = new Samples();
    let at = 0;
    // Five seconds later by the host's clock.
    const sample = async () => samples.add({ ...(await host.stats()), at: (at += 5_000) } satisfies HostStats);
    await send(host, "slow");
    expect(await sample()).toBeUndefined();

    for (let times = 0; times < 10; times++) await tool(host, { bad: times < 5 });
    const busy = (await sample())!;
    expect(busy).toMatchObject({ runs: 2, stopped: 1, hooks: { before_tool_call: { runs: 2, stopped: 1, slowest: { plugin: "guard" } } } });
    expect(Object.keys(busy.hooks)).toEqual(["before_tool_call"]);

    await send(host, "slow");
    await tool(host);
    const { hooks } = (await sample())!;
    expect(hooks.message_sending).toMatchObject({ runs: 0.2, stopped: 0, slowest: { plugin: "guard" } });
    expect(hooks.message_sending!.slowest!.meanMs).toBeGreaterThan(38);
    expect(hooks.message_sending!.p99).toBeGreaterThan(25);
    expect(hooks.before_tool_call!.p99).toBeLessThan(hooks.message_sending!.p50!);

    expect(await sample()).toMatchObject({ runs: 0, stopped: 0, hooks: {} });
    expect(samples.all).toHaveLength(3);
  });
});
