/** session:start and session:end, made of what gateways have: what is remembered, for how long, and what each field is. */
import { describe, expect, it } from "vitest";
import { SessionEvents, sessionEndEvent, sessionStartEvent } from "../../../src/sdk/gateway/session-events.ts";
import { lastAssistantText, stopReasonOf } from "../../../src/sdk/gateway/stop-reason.ts";
import { folder } from "../../support/files.ts";
import { contract, next, open, plugin } from "../../support/host.ts";

const AT = new Date("2026-02-06T10:00:00Z");
const says = (content: unknown, stopReason?: string) => ({ role: "assistant", content, ...(stopReason && { stopReason }) });

function tracked(options?: { maxSessions: number }) {
  const emitted: [hook: string, event: Record<string, any>][] = [];
  const host = { emit: (hook: string, event: object) => void emitted.push([hook, event]) };
  return { emitted, sessions: new SessionEvents(host, options) };
}

describe("the events", () => {
  it("session:end is exactly the seed's: a session id beside the key, and stopReason, lastMessage and metadata in the context", () => {
    expect(
      sessionEndEvent({
        sessionId: "s1",
        sessionKey: "agent:main:main",
        stopReason: "maxTokens",
        lastMessage: "Done.",
        metadata: { workflowId: "w-7" },
        timestamp: AT,
      }),
    ).toEqual({
      type: "session",
      action: "end",
      sessionKey: "agent:main:main",
      sessionId: "s1",
      timestamp: AT,
      context: { stopReason: "maxTokens", lastMessage: "Done.", metadata: { workflowId: "w-7" } },
    });
  });

  it("what is not known is left out, and the reason is then stop", () => {
    const { timestamp, ...event } = sessionEndEvent({ sessionId: "s1" });
    expect(event).toEqual({ type: "session", action: "end", sessionKey: "", sessionId: "s1", context: { stopReason: "stop" } });
    expect(timestamp).toBeInstanceOf(Date);
  });

  it("session:start carries the metadata and what was resumed", () => {
    expect(sessionStartEvent({ sessionId: "s2", sessionKey: "k", resumedFrom: "s1", metadata: { a: 1 }, timestamp: AT })).toEqual({
      type: "session",
      action: "start",
      sessionKey: "k",
      sessionId: "s2",
      timestamp: AT,
      context: { resumedFrom: "s1", metadata: { a: 1 } },
    });
    expect(sessionStartEvent({ sessionId: "s1" }).context).toEqual({});
  });
});

describe("how a run ended", () => {
  it.each([
    ["stop", "stop"],
    ["end_turn", "stop"],
    ["toolUse", "toolUse"],
    ["tool_use", "toolUse"],
    ["tool_calls", "toolUse"],
    ["length", "maxTokens"],
    ["max_tokens", "maxTokens"],
    ["maxTokens", "maxTokens"],
    ["error", "error"],
    ["aborted", "error"],
    ["something new", "stop"],
    ["constructor", "stop"],
    [undefined, "stop"],
  ])("a last message that stopped for %j means %s", (word, reason) => {
    expect(stopReasonOf({ messages: [says("a", "error"), says("b", word), { role: "user" }], success: true })).toBe(reason);
  });

  it("a run that failed ended with error, whatever its messages say", () => {
    expect(stopReasonOf({ messages: [says("ok", "stop")], success: false })).toBe("error");
    expect(stopReasonOf({ messages: [], success: false })).toBe("error");
  });

  it("the last words are the text of the last assistant message, in either form of content", () => {
    expect(lastAssistantText([says("first"), says("last"), { role: "toolResult", content: "x" }])).toBe("last");
    expect(
      lastAssistantText([says([{ type: "thinking", text: "hm" }, { type: "text", text: "a" }, null, { type: "text", text: "b" }])]),
    ).toBe("a\nb");
  });

  it.each([
    [[]],
    [[{ role: "user", content: "x" }]],
    [[says([{ type: "toolCall" }])]],
    [[says("")]],
    [[null, 7, "assistant"]],
    [[says({})]],
  ])("messages without such a text have no last words: %j", (messages) => {
    expect(lastAssistantText(messages)).toBeUndefined();
  });
});

describe("following sessions", () => {
  it("the end of a session brings back what was passed when it started, and how its last run ended", () => {
    const { emitted, sessions } = tracked();
    sessions.started({ sessionId: "s1", sessionKey: "k1", metadata: { workflowId: "w" } });
    sessions.ran("s1", { messages: [says("first")], success: false });
    sessions.ran("s1", { messages: [says("Here you are.", "length")], success: true });
    sessions.ended({ sessionId: "s1" });
    expect(emitted.map(([hook]) => hook)).toEqual(["session:start", "session:end"]);
    expect(emitted[0]![1].context).toEqual({ metadata: { workflowId: "w" } });
    expect(emitted[1]![1]).toMatchObject({
      sessionKey: "k1",
      sessionId: "s1",
      context: { stopReason: "maxTokens", lastMessage: "Here you are.", metadata: { workflowId: "w" } },
    });
  });

  it("what the gateway says at the end counts for more than what was remembered, and undefined says nothing", () => {
    const { emitted, sessions } = tracked();
    sessions.started({ sessionId: "s1", sessionKey: "k1", metadata: { a: 1 } });
    sessions.ran("s1", { messages: [says("x")], success: true });
    sessions.ended({ sessionId: "s1", sessionKey: undefined, stopReason: "error", metadata: undefined });
    expect(emitted[1]![1]).toMatchObject({ sessionKey: "k1", context: { stopReason: "error", lastMessage: "x", metadata: { a: 1 } } });
  });

  it("sessions do not mix", () => {
    const { emitted, sessions } = tracked();
    sessions.started({ sessionId: "a", metadata: { of: "a" } });
    sessions.started({ sessionId: "b", metadata: { of: "b" } });
    sessions.ended({ sessionId: "b" });
    sessions.ended({ sessionId: "a" });
    expect(emitted.slice(2).map(([, event]) => event.context.metadata.of)).toEqual(["b", "a"]);
  });

  it("a session that ended is forgotten: the next of the same id starts with nothing", () => {
    const { emitted, sessions } = tracked();
    sessions.started({ sessionId: "s1", metadata: { a: 1 } });
    sessions.ended({ sessionId: "s1" });
    sessions.ended({ sessionId: "s1" });
    expect(emitted[2]![1].context).toEqual({ stopReason: "stop" });
  });

  it("a session whose start nobody saw has an end all the same", () => {
    const { emitted, sessions } = tracked();
    sessions.ran("s9", { messages: [says("hi")], success: true });
    sessions.ended({ sessionId: "s9", sessionKey: "k9" });
    expect(emitted[0]![1]).toMatchObject({ sessionKey: "k9", context: { stopReason: "stop", lastMessage: "hi" } });
  });

  it("only so many sessions are remembered, and the one that was quiet for longest is forgotten first", () => {
    const { emitted, sessions } = tracked({ maxSessions: 2 });
    for (const sessionId of ["a", "b"]) sessions.started({ sessionId, metadata: { sessionId } });
    sessions.ran("a", { messages: [], success: true });
    sessions.started({ sessionId: "c", metadata: { sessionId: "c" } });
    emitted.length = 0;
    for (const sessionId of ["a", "b", "c"]) sessions.ended({ sessionId });
    expect(emitted.map(([, event]) => event.context.metadata?.sessionId)).toEqual(["a", undefined, "c"]);
  });
});

contract("session events", (isolation) => {
  it("a plugin hears both, with a family listener before the exact one", async () => {
    await using host = await open(isolation, {
      plugins: [
        plugin(
          "workflows",
          `api.on("session:end", (e) => console.log("exact", e.sessionId, e.context.stopReason, e.context.metadata?.workflowId));
           api.registerHook("session", (e) => console.log("family", e.action, e.sessionKey));`,
        ),
      ],
    });
    const heard: string[] = [];
    host.on("log", ({ text }) => void heard.push(text));
    const exact = next(host, "log", ({ text }) => text.startsWith("exact"));
    const sessions = new SessionEvents(host);
    sessions.started({ sessionId: "s1", sessionKey: "k1", metadata: { workflowId: "w-7" } });
    sessions.ended({ sessionId: "s1", stopReason: "toolUse" });
    await exact;
    expect(heard).toEqual(["family start k1", "family end k1", "exact s1 toolUse w-7"]);
  });
});

describe("a state folder", () => {
  it("keeps the metadata of the 10,001st session and of those before a restart, and forgets a session that has ended", async () => {
    const stateDir = folder({});
    const emitted: Record<string, any>[] = [];
    const host = { stateDir, emit: (hook: string, event: object) => void (hook === "session:end" && emitted.push(event)) };
    const first = new SessionEvents(host);
    for (let at = 0; at <= 10_000; at++) first.started({ sessionId: `s${at}`, sessionKey: `k${at}`, metadata: { workflowId: `w${at}` } });
    first.ran("s1", { messages: [says("Done.", "stop")], success: true });
    first.ended({ sessionId: "s0" });
    await first.close();
    const second = new SessionEvents(host);
    second.ended({ sessionId: "s1" });
    second.ended({ sessionId: "s10000" });
    second.ended({ sessionId: "s1" });
    await second.close();
    expect(emitted).toMatchObject([
      { sessionKey: "k0", context: { metadata: { workflowId: "w0" } } },
      { sessionKey: "k1", context: { metadata: { workflowId: "w1" }, lastMessage: "Done." } },
      { sessionKey: "k10000", context: { metadata: { workflowId: "w10000" } } },
      { sessionKey: "", context: { stopReason: "stop" } },
    ]);
  });
});
