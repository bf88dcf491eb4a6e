/** What plugins hear of an agent's own events, and what they add to its work: over functions of the gateway. */
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import type { Host } from "creel";
import { contract, open } from "../support/host.ts";

const SOURCE = `
export default (api) => {
  const heard = [];
  const stop = api.runtime.events.onAgentEvent((event) => heard.push(["runtime", event.stream, event.data.text]));
  api.agent.events.registerAgentEventSubscription({ id: "s", streams: ["tool"], handle: (event, ctx) => { ctx.setRunContext("n", 7); heard.push(["tool", api.getRunContext({ runId: event.runId, namespace: "n" })]); } });
  api.registerTool({ name: "heard-" + api.id, execute: () => heard });
  api.registerTool({ name: "stop-" + api.id, execute: () => stop() });
  api.registerTool({ name: "emit-" + api.id, execute: (_, event) => api.emitAgentEvent(event) });
  api.registerTool({ name: "inject-" + api.id, execute: (_, injection) => api.session.workflow.enqueueNextTurnInjection(injection) });
};`;

const event = (stream: string, said: string) => ({
  type: "agent" as const,
  action: "event" as const,
  sessionKey: "main",
  timestamp: new Date(),
  context: { runId: "r", stream, seq: 1, data: { text: said } },
});

contract("an agent's events and its next turn", (isolation) => {
  const emitted: unknown[] = [];
  const injected: unknown[] = [];
  let host: Host;
  beforeAll(async () => {
    host = await open(isolation, {
      gateway: {
        emitAgentEvent: (one, by) => void emitted.push([one, by]),
        enqueueInjection: (one, by) => (injected.push([one, by]), { enqueued: true, id: "i1" }),
      },
      plugins: [
        { id: "may", source: SOURCE, hooks: { allowConversationAccess: true } },
        { id: "not", source: SOURCE, hooks: { allowPromptInjection: false } },
      ],
    });
  });
  beforeEach(() => void (emitted.length = injected.length = 0));
  afterAll(() => host.close());
  const call = async (tool: string, argument: unknown = {}): Promise<unknown> => (await host.call({ tool }, argument)).value;

  it("reach a plugin that may see conversations, by either way to subscribe, until it stops", async () => {
    await host.run("agent:event", event("assistant", "hi"), {});
    await host.run("agent:event", event("tool", "ls"), {});
    expect(await call("heard-may")).toEqual([
      ["runtime", "assistant", "hi"],
      ["runtime", "tool", "ls"],
      ["tool", 7],
    ]);
    await call("stop-may");
    await host.run("agent:event", event("assistant", "more"), {});
    expect(await call("heard-may")).toHaveLength(3);
    expect(await call("heard-not")).toEqual([]);
    expect(host.inspect("not").diagnostics.join()).toContain("allowConversationAccess");
  });

  it("emitAgentEvent tells the gateway, with the plugin's id, if the operator lets it see conversations", async () => {
    const one = { runId: "r", stream: "may.progress", data: { done: 1 }, sessionKey: "main" };
    expect(await call("emit-may", one)).toEqual({ emitted: true, stream: "may.progress" });
    await expect.poll(() => emitted).toEqual([[one, { plugin: "may" }]]);
    expect(await call("emit-may", { runId: 1 })).toMatchObject({ emitted: false });
    await call("emit-not", one);
    await call("inject-may", { sessionKey: "main", text: "later" });
    expect(emitted).toHaveLength(1);
  });

  it("enqueueNextTurnInjection asks the gateway, unless the operator forbids changes of prompts", async () => {
    const one = { sessionKey: "main", text: "remember", placement: "append_context", ttlMs: 5 };
    expect(await call("inject-may", one)).toEqual({ enqueued: true, id: "i1", sessionKey: "main" });
    expect(injected).toEqual([[one, { plugin: "may" }]]);
    expect(await call("inject-not", one)).toEqual({ enqueued: false, id: "", sessionKey: "main" });
    expect(await call("inject-may", { sessionKey: "main", text: "" })).toEqual({ enqueued: false, id: "", sessionKey: "main" });
    expect(injected).toHaveLength(1);
  });
});
