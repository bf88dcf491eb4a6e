/** Requests of a plugin cost the gateway no more than the plugin may use, granted or not. */
import { expect, it, vi } from "vitest";
import { LIMITS } from "../../../src/protocol/limits.ts";
import { pluginBudget } from "../../../src/host/plugins/budget.ts";
import { Diagnostics } from "../../../src/host/plugins/diagnostics.ts";
import type { Plugin } from "../../../src/host/plugins/plugin.ts";
import { Fetches, fetchServices } from "../../../src/host/services/fetch/fetch.ts";
import { GatewayTime } from "../../../src/host/services/gateway-time.ts";
import { Services } from "../../../src/host/services/services.ts";
import type { Service } from "../../../src/host/services/service.ts";
import type { Causes } from "../../../src/host/causality/causes.ts";
import type { RecursionGuard } from "../../../src/host/causality/recursion.ts";

/** So that what these tests block the thread for counts in full, also where other processes have the CPU. */
const byTheClock = (): number => performance.now();

function asker(grants: Plugin["grants"] = {}, limitMs: number = LIMITS.gateway.msPerSecond): Plugin {
  const budget = pluginBudget({ gatewayMs: limitMs }, undefined);
  return {
    id: "p",
    grants,
    budget,
    diagnostics: new Diagnostics(),
    gatewayTime: new GatewayTime(limitMs, byTheClock),
  } as unknown as Plugin;
}

function stage(services: Record<string, Service>) {
  const refused: string[] = [];
  const host = new Services([{ services }], (_, service, message) => void refused.push(`${service}: ${message}`));
  const ask = async (plugin: Plugin, name: string, args: string) => {
    const { ok, text } = await host.request(plugin, 1, 1, name, args);
    return ok ? "ok" : (JSON.parse(text) as { code: string }).code;
  };
  return { host, ask, refused };
}

/** Blocks the thread, as the work of a service does. */
function spin(ms: number): void {
  for (const untilMs = performance.now() + ms; performance.now() < untilMs;);
}

it("a request that is not granted is refused before its argument is parsed", async () => {
  const parse = vi.spyOn(JSON, "parse");
  const denied: Service = {
    permit: () => {
      throw Object.assign(new Error("no"), {});
    },
    answer: () => "never",
  };
  const { host } = stage({ denied });
  await host.request(asker(), 1, 1, "denied", "[".repeat(1_000));
  expect(parse).not.toHaveBeenCalled();
  parse.mockRestore();
});

it("a request to an origin that is not granted is refused by its beginning: neither headers nor body are parsed", async () => {
  const parsed: string[] = [];
  const parse = vi.spyOn(JSON, "parse").mockImplementation((text: string) => (parsed.push(text), text.slice(1, -1)));
  const judged: string[] = [];
  const fetches = new Fetches({ onMatch: (_, { origin }, method, isGranted) => void judged.push(`${method} ${origin} ${isGranted}`) });
  const group = fetchServices(fetches, { next: () => ({}) } as unknown as Causes, {} as RecursionGuard);
  const { host, refused } = stage(group.services);
  const plugin = asker({ fetch: ["https://granted.example"] });
  const { text } = await host.request(
    plugin,
    1,
    1,
    "fetch",
    `{"id":1,"url":"https://other.example/x","method":"POST","headers":${"{".repeat(5_000)}"text":"${"x".repeat(1_000_000)}`,
  );
  parse.mockRestore();
  expect(text).toContain("ERR_GRANT_MISSING");
  expect(parsed).toEqual(['"https://other.example/x"']);
  expect(judged).toEqual(["POST https://other.example false"]);
  expect(refused).toHaveLength(1);
});

it("an argument with too many values, or that nests too deep, is not parsed", async () => {
  const { ask } = stage({ any: { answer: () => "done" } });
  const plugin = asker();
  expect(await ask(plugin, "any", `[${"{},".repeat(LIMITS.requests.values)}{}]`)).toBe("ERR_SERVICE_ARGUMENT");
  expect(await ask(plugin, "any", "[".repeat(LIMITS.requests.depth + 1) + "]".repeat(LIMITS.requests.depth + 1))).toBe(
    "ERR_SERVICE_ARGUMENT",
  );
  expect(await ask(plugin, "any", "[[1,2]]")).toBe("ok");
});

it("a plugin whose requests take too long waits in order, and its neighbour does not", async () => {
  const order: string[] = [];
  const { ask } = stage({
    slow: { answer: ({ args }) => (spin(5), order.push(String(args))) },
    quick: { answer: ({ args }) => order.push(String(args)) },
  });
  const [greedy, neighbour] = [asker({}, 200), asker()];
  const all = Array.from({ length: 20 }, (_, n) => ask(greedy, "slow", `"${n}"`));
  const begunAtOnce = order.length;
  await ask(neighbour, "quick", '"neighbour"');
  await Promise.all(all);
  // The sprint, and what has drained meanwhile.
  expect(begunAtOnce).toBeLessThan(20);
  expect(order.indexOf("neighbour")).toBe(begunAtOnce);
  expect(order.filter((name) => name !== "neighbour")).toEqual(Array.from({ length: 20 }, (_, n) => String(n)));
  const { delayed, failed, spentMs } = greedy.gatewayTime.report();
  expect([delayed, failed, spentMs >= 100]).toEqual([20 - begunAtOnce, 0, true]);
  expect(neighbour.gatewayTime.report().delayed).toBe(0);
  expect(greedy.diagnostics.list().join()).toContain("limits.gatewayMs");
});

it("a request that finds no room to wait is refused with the limit, reported, and its text is not kept", async () => {
  const { ask, refused } = stage({ any: { maxBytes: Infinity, answer: () => "done" } });
  const plugin = asker({}, 100);
  plugin.gatewayTime.measure(() => spin(LIMITS.gateway.burstMs + 50));
  const half = JSON.stringify("x".repeat(LIMITS.gateway.queueChars / 2));
  const fates = await Promise.all([ask(plugin, "any", half), ask(plugin, "any", half)]);
  expect(fates).toEqual(["ok", "ERR_SERVICE_TIME"]);
  expect(refused[0]).toContain("100 ms of the gateway's time per second");
  expect(plugin.gatewayTime.report().failed).toBe(1);
});

it("what a cell owes is written in order even if the host closes meanwhile", async () => {
  const written: unknown[] = [];
  const { host } = stage({ "fs.write": { isOwed: true, answer: ({ args }) => void written.push(args) } });
  const plugin = asker({}, 1);
  plugin.gatewayTime.measure(() => spin(LIMITS.gateway.burstMs + 20));
  const owed = [1, 2, 3].map((n) => host.request(plugin, 1, 1, "fs.write", String(n)));
  expect(written).toEqual([]);
  await host.close();
  await Promise.all(owed);
  expect(written).toEqual([1, 2, 3]);
});
