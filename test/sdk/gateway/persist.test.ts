/** What is kept of a tool's result: details are stripped for the model, bounded on disk, and plugins speak before the bound. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { boundDetails, MAX_DETAILS_BYTES, persistToolResult, stripDetails } from "../../../src/sdk/gateway/persist.ts";
import { contract, plugin, sharedHost } from "../../support/host.ts";

const result = (details: unknown, more: object = {}) => ({
  role: "toolResult",
  toolCallId: "t1",
  content: [{ type: "text", text: "ok" }],
  details,
  ...more,
});

describe("stripping details", () => {
  it("tool results lose their details, and nothing else does", () => {
    const messages = [{ role: "user", content: "hi", details: { kept: true } }, result({ big: 1 }), { role: "toolResult", content: "x" }];
    expect(stripDetails(messages)).toEqual([
      { role: "user", content: "hi", details: { kept: true } },
      { role: "toolResult", toolCallId: "t1", content: [{ type: "text", text: "ok" }] },
      { role: "toolResult", content: "x" },
    ]);
  });

  it("the given messages are not changed", () => {
    const messages = [result({ a: 1 })];
    stripDetails(messages);
    expect(messages).toEqual([result({ a: 1 })]);
  });
});

describe("bounding details", () => {
  it("details within the limit stay as they are", () => {
    const message = result({ diff: "x".repeat(1_000) });
    expect(boundDetails(message)).toBe(message);
    const without = { role: "toolResult", content: "x" };
    expect(boundDetails(without)).toBe(without);
  });

  it("oversized details become a compact summary that says so", () => {
    const message = result({ status: "ok", exitCode: 0, cached: true, log: "x".repeat(MAX_DETAILS_BYTES), list: [1, 2] });
    const bounded = boundDetails(message);
    expect(bounded).toEqual(
      result({
        persistedDetailsTruncated: true,
        originalBytes: Buffer.byteLength(JSON.stringify(message.details)),
        originalKeys: ["status", "exitCode", "cached", "log", "list"],
        kept: { status: "ok", exitCode: 0, cached: true },
      }),
    );
    expect(message.details).toHaveProperty("log");
  });

  it("the content, which the model sees, is never touched", () => {
    const content = [{ type: "text", text: "y".repeat(100_000) }];
    expect(boundDetails(result("x".repeat(20_000), { content })).content).toBe(content);
  });

  it("the limit counts bytes, not characters, and the caller may set it", () => {
    expect(boundDetails(result("é".repeat(40)), { maxBytes: 82 }).details).toBe("é".repeat(40));
    expect(boundDetails(result("é".repeat(40)), { maxBytes: 81 }).details).toMatchObject({ persistedDetailsTruncated: true });
  });

  it.each([
    ["an array", ["x".repeat(20_000)]],
    ["a text", "x".repeat(20_000)],
    ["a cycle", cycle()],
    ["a BigInt", { n: 1n }],
  ])("details that are %s are bounded, too", (_, details) => {
    expect(boundDetails(result(details)).details).toMatchObject({ persistedDetailsTruncated: true });
  });

  it("whatever the details are, what is kept of them fits the limit", () => {
    fc.assert(fc.property(fc.jsonValue(), fc.integer({ min: 0, max: 500 }), fits));
    expect(fits(Object.fromEntries(Array.from({ length: 5_000 }, (_, key) => [`key ${key} ${"k".repeat(500)}`, key])), 4_096)).toBe(true);
  });

  it("bounding what was bounded changes nothing", () => {
    const once = boundDetails(result("x".repeat(20_000)));
    expect(boundDetails(once)).toBe(once);
  });
});

const REWRITERS = [
  plugin(
    "redactor",
    `api.on("tool_result_persist", (e) => { if (e.message.redact) return { message: { ...e.message, content: "[redacted]" } }; });`,
  ),
  plugin(
    "inflater",
    `api.on("tool_result_persist", (e) => { if (e.message.inflate) return { message: { ...e.message, details: { log: "x".repeat(50000) } } }; });`,
  ),
  plugin(
    "writer",
    `api.on("before_message_write", (e) => {
       if (e.message.content === "secret") return { block: true };
       return { message: { ...e.message, seen: [e.message.content, e.sessionKey, e.agentId] } };
     });`,
  ),
];

contract("persisting a tool's result", (isolation) => {
  const shared = sharedHost(isolation, { plugins: REWRITERS });
  const persist = (message: Record<string, unknown>) =>
    persistToolResult(shared.host, { toolName: "exec", message }, { sessionKey: "k", agentId: "main" });

  it("before_message_write sees what tool_result_persist made of it", () => {
    expect(persist({ role: "toolResult", content: "card 4111", redact: true })).toMatchObject({
      blocked: false,
      message: { content: "[redacted]", seen: ["[redacted]", "k", "main"] },
    });
  });

  it("the bound comes last: no plugin can put oversized details into the transcript", () => {
    expect(persist({ role: "toolResult", content: "x", inflate: true })).toMatchObject({
      blocked: false,
      message: { details: { persistedDetailsTruncated: true, originalKeys: ["log"] } },
    });
  });

  it("a block keeps the message out, and says by whom", () => {
    expect(persist({ role: "toolResult", content: "secret" })).toEqual({ blocked: true, by: "writer" });
  });
});

contract("persisting without plugins", (isolation) => {
  const shared = sharedHost(isolation, {});

  it("the message is the gateway's own, bounded", () => {
    const message = { role: "toolResult", content: "x", details: "y".repeat(20_000) };
    expect(persistToolResult(shared.host, { message })).toMatchObject({
      blocked: false,
      message: { content: "x", details: { persistedDetailsTruncated: true } },
    });
  });
});

/** Does what is kept of the details fit? The mark alone always may. */
function fits(details: unknown, maxBytes: number): boolean {
  const kept = boundDetails({ details }, { maxBytes }).details;
  return Buffer.byteLength(JSON.stringify(kept)) <= Math.max(maxBytes, '{"persistedDetailsTruncated":true}'.length);
}

function cycle(): object {
  const details: Record<string, unknown> = {};
  details.self = details;
  return details;
}
