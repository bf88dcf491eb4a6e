/** Facts 94 to 103: internal events. */
import { expect, it } from "vitest";
import * as z from "zod";
import { defineHook } from "creel";
import type { SessionPatch } from "creel";
import { LIMITS } from "../../src/protocol/limits.ts";
import { ask, patched } from "../support/actors.ts";
import { contract, next, open, plugin, sharedHost, statuses } from "../support/host.ts";
import { command, player } from "./stage.ts";

/** A family of the gateway's own. */
const deployed = defineHook({
  name: "deploy:done",
  kind: "observe",
  summary: "A deployment is done.",
  event: z.looseObject({ type: z.literal("deploy"), action: z.literal("done"), sessionKey: z.string() }),
  context: z.looseObject({}),
  result: z.undefined(),
  internal: true,
});

/** The first of its handlers can only end when the second has run. */
const WAITING = plugin(
  "waiting",
  `let release;
   const released = new Promise((resolve) => (release = resolve));
   api.registerHook("message:sent", async () => { await released; }, { timeoutMs: 5000 });
   api.registerHook("message:sent", () => release());`,
);
const LISTENER = plugin(
  "listener",
  `for (const key of ["session", "session:compact", "tool", "deploy"]) api.registerHook(key, (event) => console.log(key, event.type, event.action));
   api.registerHook("command:stop", ({ context, messages, timestamp }) => console.log(JSON.stringify([context, messages, timestamp instanceof Date])));`,
);

contract("facts: internal events", (isolation) => {
  const applied: SessionPatch[] = [];
  const gateway = {
    patchSession: async (patch: SessionPatch) => {
      applied.push(patch);
      return { sessionEntry: {} };
    },
  };
  const on = ["session:patch", "command:new", "agent:bootstrap"];
  const shared = sharedHost(isolation, {
    gateway,
    hooks: { "deploy:done": deployed },
    plugins: [player("a", on), player("b", on), WAITING, LISTENER],
  });
  const heard = (start: string) => next(shared.host, "log", ({ plugin: id, text }) => id === "listener" && text.startsWith(start));

  it("94. overridden: those that are only told run side by side; those whose answers count, one after the other", async () => {
    const sent = {
      type: "message" as const,
      action: "sent" as const,
      sessionKey: "k",
      context: { channelId: "c", to: "t", content: "", success: true },
    };
    expect(statuses(await shared.host.run("message:sent", sent))).toEqual(["waiting:ok", "waiting:ok"]);
    const slowly = `async await new Promise((resolve) => setTimeout(resolve, 5)); return { messages: [api.id] }`;
    const { result } = await shared.host.run("command:new", command({ a: slowly, b: `return { messages: [api.id] }` }));
    expect(result).toEqual({ messages: ["a", "b"] });
  });

  it("95. a handler that throws keeps no other from running", async () => {
    const outcome = await shared.host.run("session:patch", patched({ a: `throw new Error("no")`, b: `state.ran = true` }));
    expect(outcome.decision).toBe("pass");
    expect(await ask(shared.host, "b", "state.ran")).toBe(true);
  });

  it("97. overridden: handlers do not share the event; what may be changed is returned, and later ones see it", async () => {
    await shared.host.run("session:patch", patched({ a: `event.context.mine = 1`, b: `state.saw = "mine" in event.context` }));
    expect(await ask(shared.host, "b", "state.saw")).toBe(false);
    const { result } = await shared.host.run("agent:bootstrap", {
      type: "agent",
      action: "bootstrap",
      sessionKey: "k",
      context: { workspaceDir: "/w", bootstrapFiles: [] },
      do: {
        a: `return { context: { bootstrapFiles: [{ name: "a" }] } }`,
        b: `return { context: { bootstrapFiles: [...event.context.bootstrapFiles, { name: "b" }] } }`,
      },
    });
    expect(result?.context?.bootstrapFiles).toEqual([{ name: "a" }, { name: "b" }]);
  });

  it("99. overridden: events that cause each other stop at the depth limit, and the plugin is told", async () => {
    await using host = await open(isolation, {
      gateway,
      plugins: [
        plugin(
          "loop",
          `api.on("session:patch", () => api.session.patch({ key: "k" }).catch((error) => console.log(error.code)), { reentrant: true });`,
          { grants: { session: ["patch"] } },
        ),
      ],
    });
    applied.length = 0;
    const stopped = next(host, "log");
    await host.patchSession({ key: "k" });
    expect((await stopped).text).toBe("ERR_RECURSION_DEPTH");
    expect(applied).toHaveLength(LIMITS.causality.recursionDepth + 1);
  });

  it("100. session:compact is not a family: nobody hears its events by that name, and the author is told", async () => {
    const family = heard("session session compact:before");
    await shared.host.run("session:compact:before", { type: "session", action: "compact:before", sessionKey: "k", context: {} });
    await family;
    const report = shared.host.inspect("listener");
    expect(report.hooks.map(({ hook }) => hook)).not.toContain("session:compact");
    expect(report.diagnostics).toEqual([expect.stringContaining(`"session:compact"`)]);
  });

  it("101. families that OpenClaw does not emit, and those of the gateway's own, can be emitted and heard", async () => {
    const tool = heard("tool tool start");
    const context = { runId: "r", toolName: "exec", toolCallId: "c", meta: {}, sessionMeta: {} };
    shared.host.emit("tool:start", { type: "tool", action: "start", sessionKey: "k", context });
    expect((await tool).plugin).toBe("listener");
    const own = heard("deploy deploy done");
    shared.host.emit("deploy:done", { type: "deploy", action: "done", sessionKey: "k" });
    expect((await own).plugin).toBe("listener");
  });

  it("102. context, messages and timestamp are there when the gateway leaves them out, the timestamp as a Date", async () => {
    const stopped = heard("[");
    await shared.host.run("command:stop", { type: "command", action: "stop", sessionKey: "k" } as never);
    expect((await stopped).text).toBe("[{},[],true]");
  });

  it("103. with internal events switched off nothing runs, and the author is told why", async () => {
    await using host = await open(isolation, {
      config: { hooks: { internal: { enabled: false } } },
      plugins: [plugin("listener", `api.registerHook(["session", "session:patch"], () => {}); api.on("session_start", () => {});`)],
    });
    expect([host.has("session:patch"), host.has("session_start")]).toEqual([false, true]);
    expect((await host.run("session:patch", patched({}))).calls).toEqual([]);
    expect(host.inspect("listener").diagnostics).toEqual([
      `handlers of "session" are not called: internal events are switched off by hooks.internal.enabled`,
      `handlers of "session:patch" are not called: internal events are switched off by hooks.internal.enabled`,
    ]);
  });
});
