/** A plugin that asks the host for much, granted or not, gets a share of the gateway's thread and no more; its neighbours are answered meanwhile. */
import { expect, it } from "vitest";
import { LIMITS } from "../../src/protocol/limits.ts";
import { contract, next, open, plugin } from "../support/host.ts";

/** What each flood does again and again, from a timer, with so many at a time. */
const FLOODS: readonly (readonly [name: string, grants: object, prepare: string, again: string])[] = [
  [
    "requests without a grant",
    {},
    `const body = "\\u0001".repeat(200_000);`,
    `await fetch("https://x.example/", { method: "POST", body });`,
  ],
  [
    "paths of escapes",
    { fetch: [{ origin: "https://api.example.com", pathPrefix: "/v1" }] },
    `const url = "https://api.example.com/v1/%" + "25".repeat(4_000) + "2e%252e/";`,
    `await fetch(url);`,
  ],
  [
    "pages of its store",
    { kv: true },
    `const value = "x".repeat(1_000); for (let n = 0; n < 200; n++) await api.kv.set("k" + n, value);`,
    `await api.kv.list({ limit: 1_000 });`,
  ],
];

contract("the gateway's time", (isolation) => {
  it.each(FLOODS)(
    "a plugin that floods the host with %s is slowed down, and the gateway's event loop turns",
    async (_, grants, prepare, again) => {
      const evil = plugin(
        "evil",
        `const loop = async () => { for (;;) try { ${again} } catch {} };
       const begin = async () => { ${prepare.replace(/const (\w+)/, "globalThis.$1")} for (let n = 0; n < 8; n++) void loop(); };
       api.on("before_tool_call", () => { setTimeout(begin, 1); });`,
        { grants, limits: { gatewayMs: 20, cpuShare: 1 }, hooks: { cpuMs: 2_000 } },
      );
      const good = plugin("good", `api.on("message_sending", () => ({ content: "ok" }));`);
      await using host = await open(isolation, { lanes: 2, plugins: [evil, good] });
      const startedMs = performance.now();
      await host.run("before_tool_call", { toolName: "exec", params: {} }, { toolName: "exec" });
      let calls = 0;
      while (host.inspect("evil").gatewayTime.delayed < 5) {
        const { result } = await host.run("message_sending", { to: "a", content: "b" }, { channelId: "chat" });
        expect(result).toMatchObject({ content: "ok" });
        calls += 1;
      }
      const { spentMs, limitMs } = host.inspect("evil").gatewayTime;
      const seconds = (performance.now() - startedMs) / 1_000;
      // Its share, and what no budget knows beforehand: the last one. A thread that waits for a CPU is measured, too.
      expect(spentMs).toBeLessThan(LIMITS.gateway.burstMs + seconds * limitMs + 500);
      expect(calls).toBeGreaterThan(0);
      expect(host.inspect("evil").diagnostics.join()).toContain("limits.gatewayMs");
      expect(host.inspect("good").gatewayTime).toMatchObject({ delayed: 0, failed: 0 });
    },
  );

  it("a plugin that waits keeps its order, and all its questions are answered", async () => {
    const busy = plugin(
      "busy",
      `api.on("message_sending", async () => {
         const done = [];
         await Promise.all(Array.from({ length: 40 }, (_, n) => api.kv.set("k" + n, "x".repeat(50_000)).then(() => done.push(n))));
         return { content: JSON.stringify(done) };
       });`,
      { grants: { kv: true }, limits: { gatewayMs: 100 }, hooks: { cpuMs: 2_000, timeoutMs: 60_000 } },
    );
    await using host = await open(isolation, { plugins: [busy] });
    const { result } = await host.run("message_sending", { to: "a", content: "b" }, { channelId: "chat" });
    expect(JSON.parse(result!.content!)).toEqual(Array.from({ length: 40 }, (_, n) => n));
  });

  it("long results that cost too much are not read any more, and that is the plugin's failure", async () => {
    const wide = plugin(
      "wide",
      `api.on("message_sending", () => ({ metadata: Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => ["k" + n, [n]])) }));`,
      { limits: { gatewayMs: 1, cpuShare: 1 }, hooks: { cpuMs: 2_000 } },
    );
    await using host = await open(isolation, { plugins: [wide] });
    const failed = next(host, "call", ({ call }) => call.error?.code === "ERR_CALL_RESULT_TIME");
    while (host.inspect("wide").gatewayTime.failed === 0)
      await host.run("message_sending", { to: "a", content: "b" }, { channelId: "chat" });
    expect((await failed).call).toMatchObject({ plugin: "wide", status: "failed" });
    expect(host.inspect("wide").gatewayTime.failed).toBeGreaterThan(0);
  });
});
