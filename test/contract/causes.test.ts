/** What a plugin sets going: questions to the host, patches that cause runs, the function it hands out with an approval. */
import { expect, it } from "vitest";
import type { Facts, SessionPatch } from "creel";
import { contract, next, offered, open, plugin } from "../support/host.ts";

const KEY = "agent:main:t1";

/** A gateway with one session store, which counts what was applied. */
function gateway(applied: SessionPatch[] = []) {
  return {
    applied,
    getSession: async (key: string) => ({ key, patches: applied.length }),
    patchSession: async (patch: SessionPatch) => {
      if (patch.label === "refused") throw new Error("not allowed to you");
      applied.push(patch);
      return { sessionEntry: { label: patch.label }, cfg: { mode: "test" } };
    },
  };
}

const patching = (id: string, label: string, options = ""): ReturnType<typeof plugin> =>
  plugin(
    id,
    `api.on("session:patch", async (event) => {
       try { await api.session.patch({ key: event.sessionKey, label: ${label} }); } catch (error) { api.logger.error(error.code + ": " + error.message); }
     }${options});`,
    { grants: { session: ["get", "patch"] } },
  );

contract("causes", (isolation) => {
  it("a patch goes through the gateway, and session:patch follows with entry, patch and configuration", async () => {
    const store = gateway();
    await using host = await open(isolation, {
      gateway: offered(store),
      plugins: [plugin("seer", `api.on("session:patch", (event) => api.logger.info(JSON.stringify([event.sessionKey, event.context])));`)],
    });
    const seen = next(host, "log");
    expect(await host.patchSession({ key: KEY, label: "x" })).toEqual({ label: "x" });
    expect(JSON.parse((await seen).text)).toEqual([
      KEY,
      { sessionEntry: { label: "x" }, patch: { key: KEY, label: "x" }, cfg: { mode: "test" } },
    ]);
  });

  it("a refused patch causes no event, and the plugin that asked is told in one line", async () => {
    const store = gateway();
    await using host = await open(isolation, {
      gateway: offered(store),
      plugins: [
        plugin(
          "asker",
          `api.on("message_sending", async () => { try { await api.session.patch({ key: "${KEY}", label: "refused" }); } catch (error) { return { content: error.code + ": " + error.message }; } });`,
          { grants: { session: ["patch"] } },
        ),
        plugin("seer", `api.on("session:patch", () => api.logger.info("seen"));`),
      ],
    });
    const { result } = await host.run("message_sending", { to: "u", content: "" }, { channelId: "chat" });
    expect(result?.content).toBe("ERR_SERVICE_FAILED: not allowed to you");
    expect(store.applied).toEqual([]);
  });

  it("what was not granted is refused by name", async () => {
    await using host = await open(isolation, {
      gateway: offered(gateway()),
      plugins: [
        plugin(
          "asker",
          `api.on("message_sending", async () => { try { await api.session.get("${KEY}"); } catch (error) { return { content: error.code }; } });`,
        ),
      ],
    });
    expect((await host.run("message_sending", { to: "u", content: "" }, { channelId: "chat" })).result?.content).toBe("ERR_GRANT_MISSING");
  });

  it("a plugin is not called for its own patch", async () => {
    const store = gateway();
    await using host = await open(isolation, { gateway: offered(store), plugins: [patching("echo", `"mine"`)] });
    const own = new Promise<Facts["run"]>((resolve) => {
      host.on("run", (fact) => fact.outcome.calls.some(({ status }) => status === "recursion") && resolve(fact));
    });
    await host.patchSession({ key: KEY, label: "first" });
    expect((await own).outcome.calls).toMatchObject([{ plugin: "echo", status: "recursion", error: { code: "ERR_RECURSION_OWN" } }]);
    expect(store.applied.map(({ label }) => label)).toEqual(["first", "mine"]);
  });

  it("two plugins that answer each other's patches stop at the depth limit, reported once with the chain", async () => {
    const store = gateway();
    await using host = await open(isolation, {
      gateway: offered(store),
      plugins: [patching("ping", `"ping"`), patching("pong", `"pong"`)],
    });
    const loops: Facts["recursion"][] = [];
    host.on("recursion", (fact) => loops.push(fact));
    const last = next(host, "log", ({ text }) => text.startsWith("ERR_RECURSION_DEPTH"));
    await host.patchSession({ key: KEY, label: "go" });
    expect((await last).text).toMatch(/:session:patch → \w+:session:patch/);
    expect(loops).toHaveLength(1);
    expect(loops[0]).toMatchObject({ sessionKey: KEY, limit: "depth", chain: { depth: 9 } });
    // The loop is over and the host at work.
    expect(await host.patchSession({ key: "agent:main:other", label: "still here" })).toEqual({ label: "still here" });
  });

  it("a loop through a timer keeps its chain and stops too", async () => {
    const store = gateway();
    await using host = await open(isolation, {
      gateway: offered(store),
      plugins: [
        plugin(
          "timer",
          `api.on("session:patch", (event) => { setTimeout(() => api.session.patch({ key: event.sessionKey, label: "again" }).catch((error) => api.logger.error(error.code)), 0); }, { reentrant: true });`,
          { grants: { session: ["patch"] } },
        ),
      ],
    });
    const stopped = next(host, "log", ({ text }) => text === "ERR_RECURSION_DEPTH");
    await host.patchSession({ key: KEY, label: "go" });
    await stopped;
    expect(store.applied).toHaveLength(9);
  });

  it.each(["allow-once", "allow-always", "deny", "timeout", "cancelled"] as const)("onResolution hears %s, once", async (resolution) => {
    const answers = {
      "allow-once": "allow-once",
      "allow-always": "allow-always",
      deny: "deny",
      timeout: null,
      cancelled: undefined,
    } as const;
    await using host = await open(isolation, {
      gateway: { requestApproval: async () => answers[resolution] },
      plugins: [
        plugin(
          "asker",
          `api.on("before_tool_call", () => ({ requireApproval: { title: "t", description: "d", onResolution: (decision) => api.logger.info("resolved " + decision) } }));`,
        ),
      ],
    });
    const lines: string[] = [];
    host.on("log", ({ text }) => lines.push(text));
    const told = next(host, "log");
    const outcome = await host.run("before_tool_call", { toolName: "web_search", params: {} });
    expect(outcome).toMatchObject({
      decision: resolution.startsWith("allow") ? "pass" : "block",
      approval: { pluginId: "asker", resolution },
    });
    await told;
    expect(lines).toEqual([`resolved ${resolution}`]);
  });
});
