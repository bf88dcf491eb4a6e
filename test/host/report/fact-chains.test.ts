/** Every fact says what caused it: the chain of runs, by which a reader finds the run that a rebuilt cell or a restart came from. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { FactName, Host } from "creel";
import { folder, QUICK } from "../../support/files.ts";
import { open, plugin } from "../../support/host.ts";
import { serve } from "../../support/server.ts";

const BAD = `api.on("before_tool_call", (event) => {
  console.log("hello");
  if (event.params.spin) for (;;) {}
  if (event.params.fail) throw new Error("no");
  if (event.params.later) setTimeout(() => { for (;;) {} }, 1);
});`;
/** A built-in that V8 cannot interrupt. */
const HANG = `api.on("before_tool_call", () => { let x = 7n ** 100000n; for (;;) x = x * x; });`;

interface Seen {
  readonly name: FactName;
  readonly runId: string | undefined;
  readonly path: readonly string[] | undefined;
}

function listen(host: Host, ...names: readonly FactName[]): Seen[] {
  const seen: Seen[] = [];
  for (const name of names)
    host.on(name, (fact) => {
      const { chain } = fact as { readonly chain?: { readonly runIds: readonly string[]; readonly path: readonly string[] } };
      seen.push({ name, runId: chain?.runIds.at(-1), path: chain?.path });
    });
  return seen;
}

const go = (host: Host, params: Record<string, unknown>) => host.run("before_tool_call", { toolName: "t", params });

describe("the causal chain of facts", () => {
  it("a log line, a rebuilt cell, a move and a strike that opens the breaker name the run and the handler", async () => {
    // With no plugin that could cause runs, and with one.
    for (const more of [{}, { grants: { session: ["patch" as const] } }]) {
      const gateway = { patchSession: async () => ({ sessionEntry: {} }) };
      await using host = await open("thread", { plugins: [plugin("p", BAD, more)], gateway });
      const seen = listen(host, "log", "replaced", "moved", "quarantine");
      const runIds = [(await go(host, {})).runId];
      await expect.poll(() => seen.map(({ name }) => name)).toEqual(["log"]);
      // Until the breaker opens.
      while (host.inspect("p").circuit.state === "closed") runIds.push((await go(host, { spin: true })).runId);
      await expect
        .poll(() => [...new Set(seen.map(({ name }) => name))], { timeout: 10_000 })
        .toEqual(expect.arrayContaining(["replaced", "moved", "quarantine"]));
      expect(seen.filter(({ path }) => path?.join() !== "p:before_tool_call")).toEqual([]);
      const idsOf = (wanted: FactName) => seen.filter(({ name }) => name === wanted).map(({ runId }) => runId);
      expect(idsOf("log")[0]).toBe(runIds[0]);
      // One of the runs in which it spins: on a busy machine not always the first. There it may have to rest in the slow lane as well,
      // which is told as another move.
      expect(runIds.slice(1)).toEqual(expect.arrayContaining(idsOf("moved")));
      expect(idsOf("replaced")).toEqual(runIds.slice(1));
      expect(idsOf("quarantine")).toEqual([runIds.at(-1)]);
    }
  });

  it("a breaker that opens after failed calls names the run of the last one; a timer that spins names the run that set it", async () => {
    await using host = await open("thread", { plugins: [plugin("p", BAD)] });
    const seen = listen(host, "replaced", "quarantine");
    const { runId } = await go(host, { later: true });
    await expect.poll(() => seen.find(({ name }) => name === "replaced")?.runId, { timeout: 10_000 }).toBe(runId);
    await using other = await open("thread", { plugins: [plugin("p", BAD)] });
    const failures = listen(other, "quarantine");
    let last = "";
    while (failures.length === 0) last = (await go(other, { fail: true })).runId;
    expect(failures[0]!.runId).toBe(last);
  });

  it("a restart names the run that the culprit executed", async () => {
    await using host = await open("process", { plugins: [plugin("p", HANG)], config: { sandbox: { spare: false } } });
    const seen = listen(host, "restart");
    const { runId } = await go(host, {});
    await expect.poll(() => seen, { timeout: 20_000 }).toEqual([{ name: "restart", runId, path: ["p:before_tool_call"] }]);
  });

  it("a secret that is sent and comes back names the run that made the request; an event that is delivered later, the run it came of", async () => {
    await using server = await serve((asked, response) => void response.end(String(asked.headers.authorization)));
    const source = `
      api.on("before_tool_call", async () => {
        await (await fetch("${server.origin}")).text();
        await api.session.patch({ key: "agent:main:main", label: "x" });
      });
      api.on("session:patch", () => {});`;
    const grants = { fetch: [{ origin: server.origin, secret: "KEY" }], session: ["patch" as const] };
    await using host = await open("thread", {
      plugins: [plugin("p", source, { grants })],
      gateway: { patchSession: async () => ({ sessionEntry: {} }) },
      config: {
        stateDir: join(folder({}, QUICK), "state"),
        hooks: { durable: ["session:patch"] },
        secrets: { KEY: { origins: [server.origin], value: "a-secret-of-some-length", header: "authorization" } },
      },
    });
    const seen = listen(host, "secret", "delivery");
    const { runId } = await go(host, {});
    const path = ["p:before_tool_call"];
    const secret = { name: "secret", runId, path };
    await expect.poll(() => seen, { timeout: 10_000 }).toEqual([secret, secret, { name: "delivery", runId, path }]);
  });

  it("a plugin that loads, and what it writes then, has no chain: no run caused it", async () => {
    await using host = await open("thread", { plugins: [plugin("p", `console.log("loaded"); ${BAD}`)] });
    const facts = await host.recentFacts();
    const ofLoad = facts.filter(({ event }) => event === "plugin" || event === "log");
    expect(ofLoad.map(({ event }) => event)).toContain("plugin");
    expect(ofLoad.every(({ fact }) => !("chain" in fact))).toBe(true);
  });
});
