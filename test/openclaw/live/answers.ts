/** What sandboxed plugins do reaches OpenClaw, and what OpenClaw does reaches them. */
import { expect, it } from "vitest";
import { CATALOG } from "creel";
import { routeOf } from "../../../src/openclaw/hook-names.ts";
import { readShim } from "../../../src/openclaw/shim-files.ts";
import { LONG } from "../support/gateway.ts";
import { NO } from "../support/gate-watch.ts";
import { KITCHEN_SINK } from "../support/live-scene.ts";
import type { LiveScene } from "../support/live-scene.ts";
import { waitFor } from "../support/wait-for.ts";

/** As a model does that has found the tool by a search, which is OpenClaw's default. */
const call = (name: string): string => `use-tool:tool_call args=${JSON.stringify({ id: "lobster_weight", args: { name } })}`;

export function answers(of: () => LiveScene): void {
  it("pin 3: block, parameter rewrite, tool, command and RPC method answer as natively; one host is open", async () => {
    const scene = of();
    expect((await scene.weigh("forbidden")).error?.message).toBe(NO);
    expect(JSON.stringify(await scene.weigh("bob"))).toContain("weight of bob: 3 s3cret");
    expect(JSON.stringify(await scene.weigh("rewrite-me"))).toContain("weight of rewritten: 3");
    expect(await scene.client.chat("agent:main:commands", "/lobster hello")).toContain("lobster says: hello");
    expect(await scene.place()).toBe("sandboxed");
    expect(scene.hostsSince(0)).toBe(1);
  });

  it("pin 3: a model calls the tool by OpenClaw's tool search; the transcript has its result only as `tool_result_persist` left it", async () => {
    const { client } = of();
    expect(await client.chat("agent:main:redact", call("eve"))).toContain("weight of eve: 3");
    const history = JSON.stringify(await client.request("chat.history", { sessionKey: "agent:main:redact" }));
    expect(history).toContain("weight of eve: 3 [redacted]");
    // The reply of the model, which saw the result before it was kept, is no tool result.
    expect(history).not.toMatch(/"toolResult"[^}]*s3cret/);
  });

  it("pin 3: approvals are asked in the plugin's name by OpenClaw itself; the plugin hears what the user decided", async () => {
    const scene = of();
    for (const decision of ["allow-once", "deny"]) {
      const mark = scene.gateway.log.length;
      let reply = "";
      const question = await scene.asked(async () => {
        reply = await scene.client.chat(`agent:main:ask-${decision}`, call("ask-me"));
      }, decision);
      expect(question).toMatchObject({ pluginId: "guard", title: "May it?", description: "guard asks", severity: "warning" });
      expect(reply).toContain(decision === "deny" ? "Denied by user" : "weight of asked: 3");
      await waitFor(() => new RegExp(`guard heard ${decision}`).exec(scene.since(mark))?.[0], LONG, "the plugin's onResolution");
    }
  });

  it("two sandboxed plugins ask about one call: it is blocked in the name of both, and nobody is asked", async () => {
    const { client, gateway } = of();
    const known = client.events.length;
    const { ok, error } = await gateway.invoke("lobster_weight", { name: "ask-me, and hog-asks" });
    expect([ok, error?.message]).toEqual([false, expect.stringContaining('"hog" asks the user about this call, and "guard" asked')]);
    expect(client.events.slice(known).filter(({ event }) => event === "plugin.approval.requested")).toEqual([]);
  });

  it("prompt context, a blocked run, a claimed message and a rewritten reply reach OpenClaw; so does the hook that it removed", async () => {
    const { client, gateway } = of();
    await client.chat("agent:main:prompt", "what is the tide?");
    expect(gateway.modelRequests.at(-1)).toContain("the tide is in");
    expect(gateway.modelRequests.at(-1)).toContain("and the boats are out");
    const asked = gateway.modelRequests.length;
    expect(await client.chat("agent:main:ashore", "stay-ashore")).toContain("Stay ashore.");
    expect(await client.chat("agent:main:claim", "claim-me")).toContain("observer took it");
    expect(gateway.modelRequests.length).toBe(asked);
    expect(await client.chat("agent:main:commands", "/lobster observe-me")).toContain("lobster says: observe-me (observed)");
  });

  it("events that OpenClaw does not have are made from its own: sessions, tools, turns", async () => {
    const scene = of();
    const session = "agent:main:observed";
    await scene.client.chat(session, call("tide"));
    await scene.client.chat(session, "/new");
    const all = [
      "session:start",
      "before_agent_start",
      "beforeTurn",
      "tool:start",
      "tool:result",
      "afterTurn with its usage",
      "session:end stop",
    ];
    const missing = async () => {
      const seen = await scene.observed();
      return all.filter((one) => !seen.includes(one));
    };
    await expect.poll(missing, { timeout: LONG }).toEqual([]);
  });

  it("an HTTP route and a command line are served from the sandbox; the gateway's token reaches the route in no header", async () => {
    const { gateway } = of();
    const response = await gateway.get("/observer/tide");
    const { where, headers } = (await response.json()) as { where: string; headers: Record<string, string> };
    expect([response.status, where, headers.authorization]).toEqual([203, "undefined", undefined]);
    expect(headers.accept).toBe("*/*");
    const { stdout } = await gateway.openclaw("tide", "the bay");
    expect(stdout).toContain("high water in the bay, undefined");
  });

  it("pin 4: kitchen-sink from npm: moved with all its hooks; its tool, its block, its question in its own name and its command are as natively; a turn, cron, /compact, /new and /reset bring no event that Creel refuses", async () => {
    const scene = of();
    const { client } = scene;
    const mark = scene.gateway.log.length;
    expect(await scene.kitchen("sandboxed")).toBe(scene.nativeKitchen);
    const moved = new Set(readShim(scene.shimOf(KITCHEN_SINK))!.hooks.map(({ hook }) => hook));
    const typed = Object.keys(CATALOG).filter((name) => routeOf(name) === "typed");
    expect([...moved].toSorted()).toEqual(typed.toSorted());
    const session = "agent:main:sink";
    expect(await client.chat(session, call("sink"))).toContain("weight of sink");
    const { id } = await client.request("cron.add", {
      name: "tide",
      schedule: { kind: "every", everyMs: 86_400_000 },
      sessionTarget: "main",
      wakeMode: "next-heartbeat",
      payload: { kind: "systemEvent", text: "the tide is in" },
    });
    await client.request("cron.run", { id, mode: "force" });
    await client.request("cron.remove", { id });
    // It has a handler for it, too, which leaves no trace.
    await expect.poll(() => scene.observed(), { timeout: LONG }).toContain("cron_changed");
    for (const text of ["/compact", "/new", "/reset"]) await client.chat(session, text);
    expect(scene.since(mark)).not.toMatch(/is not valid|was not run|ERR_EVENT_INVALID/);
  });
}
