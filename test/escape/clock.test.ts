/** An exact clock, and WebAssembly, are there for who was granted them, and for nobody else; the clock shows nothing but the time. */
import { expect, it } from "vitest";
import { contract, sharedHost } from "../support/host.ts";
import type { PluginSpec } from "creel";

const LOOK = `export default (api) => api.on("message_sending", (event) => {
  const steps = new Set();
  for (let i = 0; i < 2000; i++) steps.add(performance.now());
  const clock = Object.getOwnPropertyNames(performance.now);
  const deep = [];
  (function dive(depth) { try { dive(depth + 1); } catch { try { performance.now(); } catch (error) { deep.push(String(error && error.stack)); } } })(0);
  const values = [...steps];
  return { content: JSON.stringify({
    steps: values.length, whole: values.every(Number.isInteger), grows: values.every((value, at) => at === 0 || value > values[at - 1]),
    wasm: typeof WebAssembly, hrtime: Number(process.hrtime.bigint() % 1000000n), clock, deep: deep.slice(0, 3),
    arguments: performance.now({ toString() { throw new Error("called"); } }) > 0,
  }) };
});`;
const spec = (id: string, grants: PluginSpec["grants"]): PluginSpec => ({
  id,
  source: LOOK,
  hooks: { cpuMs: 1_000 },
  ...(grants && { grants }),
});

contract("clocks and WebAssembly", (isolation) => {
  const plain = sharedHost(isolation, { plugins: [spec("plain", undefined)] });
  const granted = sharedHost(isolation, { plugins: [spec("granted", { clock: "fine", wasm: true })] });

  async function look(host: typeof plain.host): Promise<Record<string, unknown>> {
    const { result, calls } = await host.run("message_sending", { to: "x", content: "x" }, { channelId: "chat" });
    if (!result?.content) throw new Error(JSON.stringify(calls));
    return JSON.parse(result.content) as Record<string, unknown>;
  }

  it("without a grant time passes in whole milliseconds, and there is no WebAssembly", async () => {
    const seen = await look(plain.host);
    expect(seen).toMatchObject({ whole: true, grows: true, wasm: "undefined", hrtime: 0 });
  });

  it("with one it is exact, and a plugin that calls it at the end of its stack learns no path of ours", async () => {
    const seen = await look(granted.host);
    expect(seen).toMatchObject({ whole: false, grows: true, wasm: "object", arguments: true });
    expect(seen.steps).toBeGreaterThan(100);
    expect(JSON.stringify(seen.deep)).not.toMatch(/sandbox|node_modules|cell\.ts|file:/);
  });
});
