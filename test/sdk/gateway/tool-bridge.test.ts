/** The tool bridge: what it makes of an agent's event stream, what it ignores, and that it is there once. */
import { expect, it } from "vitest";
import { startToolBridge } from "../../../src/sdk/gateway/tool-bridge.ts";
import type { AgentEvent, OnAgentEvent, ToolBridgeHost } from "../../../src/sdk/gateway/tool-bridge.ts";
import { contract, next, open, plugin, recorder } from "../../support/host.ts";

/** A gateway's agent events: any number of listeners, told in order. */
function agentEvents(): { readonly subscribe: OnAgentEvent; readonly say: (event: unknown) => void; readonly listeners: Set<unknown> } {
  const listeners = new Set<(event: AgentEvent) => void>();
  return {
    listeners,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    say: (event) => {
      for (const listener of listeners) listener(event as AgentEvent);
    },
  };
}

function fakeHost(): { readonly host: ToolBridgeHost; readonly emitted: [hook: string, event: Record<string, unknown>][] } {
  const emitted: [string, Record<string, unknown>][] = [];
  return { emitted, host: { emit: (hook: string, event: object) => void emitted.push([hook, event as Record<string, unknown>]) } };
}

const KEY = "agent:main:discord:channel:123456";
const tool = (data: object, more: object = {}) => ({
  runId: "run-1",
  stream: "tool",
  sessionKey: KEY,
  ts: 1_700_000_000_000,
  data,
  ...more,
});
const CALL = { name: "exec", toolCallId: "tool-1" };
const SESSION_META = { agentId: "main", platform: "discord", channelType: "channel", channelId: "123456" };

it("a tool that starts is told with its arguments, in exactly the seed's shape", () => {
  const { host, emitted } = fakeHost();
  const { subscribe, say } = agentEvents();
  startToolBridge(host, subscribe);
  say(tool({ phase: "start", ...CALL, args: { command: "npm test" }, result: "not yet" }));
  expect(emitted).toEqual([
    [
      "tool:start",
      {
        type: "tool",
        action: "start",
        sessionKey: KEY,
        timestamp: new Date(1_700_000_000_000),
        context: {
          runId: "run-1",
          toolName: "exec",
          toolCallId: "tool-1",
          args: { command: "npm test" },
          meta: {},
          sessionMeta: SESSION_META,
        },
      },
    ],
  ]);
});

it("an update carries the partial result, and nothing of the other phases", () => {
  const { host, emitted } = fakeHost();
  const { subscribe, say } = agentEvents();
  startToolBridge(host, subscribe);
  say(tool({ phase: "update", ...CALL, partialResult: "Building…", args: {}, result: 1, isError: false }));
  expect(emitted[0]![0]).toBe("tool:update");
  expect(emitted[0]![1]).toMatchObject({ type: "tool", action: "update" });
  expect(emitted[0]![1].context).toEqual({
    runId: "run-1",
    toolName: "exec",
    toolCallId: "tool-1",
    partialResult: "Building…",
    meta: {},
    sessionMeta: SESSION_META,
  });
});

it("a result carries the result, whether it is an error, and the tool's metadata", () => {
  const { host, emitted } = fakeHost();
  const { subscribe, say } = agentEvents();
  startToolBridge(host, subscribe);
  say(tool({ phase: "result", ...CALL, result: { content: "x" }, isError: false, meta: { path: "a.txt" }, partialResult: 1 }));
  expect(emitted[0]![0]).toBe("tool:result");
  expect(emitted[0]![1].context).toEqual({
    runId: "run-1",
    toolName: "exec",
    toolCallId: "tool-1",
    result: { content: "x" },
    isError: false,
    meta: { path: "a.txt" },
    sessionMeta: SESSION_META,
  });
});

it("a tool's metadata is always an object: a line of text becomes its summary", () => {
  const { host, emitted } = fakeHost();
  const { subscribe, say } = agentEvents();
  startToolBridge(host, subscribe);
  for (const meta of ["a.txt", undefined, null, ["x"], { a: 1 }]) say(tool({ phase: "result", ...CALL, meta }));
  expect(emitted.map(([, event]) => (event.context as { meta: unknown }).meta)).toEqual([
    { summary: "a.txt" },
    {},
    {},
    { summary: ["x"] },
    { a: 1 },
  ]);
});

it("a channel's id keeps its colons, as Matrix ids have them", () => {
  const { host, emitted } = fakeHost();
  const { subscribe, say } = agentEvents();
  startToolBridge(host, subscribe);
  say(tool({ phase: "start", ...CALL }, { sessionKey: "agent:main:matrix:room:!abc:matrix.org" }));
  expect(emitted[0]![1].context).toMatchObject({ sessionMeta: { platform: "matrix", channelType: "room", channelId: "!abc:matrix.org" } });
});

it.each([["agent:main"], [""], [undefined], ["main"]])(
  "with the session key %j the event is told, with empty session metadata",
  (sessionKey) => {
    const { host, emitted } = fakeHost();
    const { subscribe, say } = agentEvents();
    startToolBridge(host, subscribe);
    say(tool({ phase: "start", ...CALL }, { sessionKey }));
    expect(emitted).toHaveLength(1);
    expect(emitted[0]![1]).toMatchObject({
      sessionKey: sessionKey ?? "",
      context: { sessionMeta: { agentId: "", platform: "", channelType: "", channelId: "" } },
    });
  },
);

it.each([
  ["without a toolCallId", tool({ phase: "start", name: "exec" })],
  ["without a name", tool({ phase: "start", toolCallId: "tool-1" })],
  ["with an empty toolCallId", tool({ phase: "start", name: "exec", toolCallId: "" })],
  ["with a name that is no text", tool({ phase: "start", name: 7, toolCallId: "tool-1" })],
  ["without data", tool({}, { data: undefined })],
  ["with data that is null", tool({}, { data: null })],
  ["of an unknown phase", tool({ phase: "paused", ...CALL })],
  ["of no phase", tool({ ...CALL })],
  ["whose phase is a name that every object has", tool({ phase: "constructor", ...CALL })],
  ["of the stream lifecycle", tool({ phase: "start", ...CALL }, { stream: "lifecycle" })],
  ["of the stream assistant", { runId: "r", stream: "assistant", sessionKey: KEY, data: { text: "Hello" } }],
])("an event %s is ignored", (_, event) => {
  const { host, emitted } = fakeHost();
  const { subscribe, say } = agentEvents();
  startToolBridge(host, subscribe);
  say(event);
  expect(emitted).toEqual([]);
});

it("an event without a usable time is of now", () => {
  const { host, emitted } = fakeHost();
  const { subscribe, say } = agentEvents();
  startToolBridge(host, subscribe);
  const before = Date.now();
  for (const ts of [undefined, Number.NaN, 1e300, "yesterday"]) say(tool({ phase: "start", ...CALL }, { ts }));
  for (const [, { timestamp }] of emitted) expect((timestamp as Date).getTime()).toBeGreaterThanOrEqual(before);
  expect(emitted).toHaveLength(4);
});

it("starting twice for one host and one stream gives the same stop function, and one subscription", () => {
  const { host, emitted } = fakeHost();
  const { subscribe, say, listeners } = agentEvents();
  const stop = startToolBridge(host, subscribe);
  expect(startToolBridge(host, subscribe)).toBe(stop);
  expect(listeners.size).toBe(1);
  say(tool({ phase: "start", ...CALL }));
  expect(emitted).toHaveLength(1);
});

it("another host, or another stream, is another bridge", () => {
  const [one, two] = [fakeHost(), fakeHost()];
  const [first, second] = [agentEvents(), agentEvents()];
  const stops = new Set([
    startToolBridge(one.host, first.subscribe),
    startToolBridge(two.host, first.subscribe),
    startToolBridge(one.host, second.subscribe),
  ]);
  expect(stops.size).toBe(3);
  first.say(tool({ phase: "start", ...CALL }));
  expect([one.emitted.length, two.emitted.length]).toEqual([1, 1]);
});

it("stopping ends it, stopping again does nothing, and it can be started anew", () => {
  const { host, emitted } = fakeHost();
  const { subscribe, say, listeners } = agentEvents();
  const stop = startToolBridge(host, subscribe);
  stop();
  stop();
  say(tool({ phase: "start", ...CALL }));
  expect([emitted.length, listeners.size]).toEqual([0, 0]);
  const again = startToolBridge(host, subscribe);
  expect(again).not.toBe(stop);
  stop();
  say(tool({ phase: "start", ...CALL }));
  expect(emitted).toHaveLength(1);
});

contract("the tool bridge", (isolation) => {
  const LISTENER = `api.registerHook("tool", (e) => console.log(e.action, e.context.toolCallId, e.context.partialResult ?? "", typeof e.timestamp));`;

  it("plugins that listen to the family hear every phase in order, and every update: nothing is throttled", async () => {
    await using host = await open(isolation, { plugins: [plugin("ui", LISTENER)] });
    const { subscribe, say } = agentEvents();
    startToolBridge(host, subscribe);
    const heard: string[] = [];
    host.on("log", ({ text }) => void heard.push(text));
    const done = next(host, "log", ({ text }) => text.startsWith("result"));
    say(tool({ phase: "start", ...CALL }));
    for (let update = 0; update < 50; update++) say(tool({ phase: "update", ...CALL, partialResult: `${update}%` }));
    say(tool({ phase: "result", ...CALL, result: "ok", isError: false }));
    await done;
    expect(heard).toHaveLength(52);
    expect(heard[0]).toMatch(/^start tool-1/);
    expect(heard.slice(1, 51)).toEqual(Array.from({ length: 50 }, (_, update) => expect.stringMatching(`^update tool-1 ${update}% `)));
  });

  it("the agent is not kept waiting by a slow hook, nor disturbed by a failing one or by data that is not JSON", async () => {
    const { logger, lines } = recorder();
    await using host = await open(isolation, {
      logger,
      plugins: [
        plugin("slow", `api.on("tool:start", () => new Promise(() => {}), { timeoutMs: 300 });`),
        plugin("bad", `api.on("tool:start", () => { throw new Error("no"); });`),
      ],
    });
    const { subscribe, say } = agentEvents();
    startToolBridge(host, subscribe);
    const run = next(host, "run");
    const startedMs = performance.now();
    say(tool({ phase: "start", ...CALL, args: { n: 1n } }));
    say(tool({ phase: "start", ...CALL }));
    expect(performance.now() - startedMs).toBeLessThan(200);
    const { outcome } = await run;
    expect(outcome.calls.map(({ plugin: id, status }) => `${id}:${status}`)).toEqual(["slow:timeout", "bad:failed"]);
    expect(lines).toContainEqual(expect.objectContaining({ level: "error", message: "an emitted event was not delivered" }));
  });
});
