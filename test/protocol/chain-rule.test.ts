/** What a lane may decide between two handlers: only what it can judge exactly; everything else it leaves to the host. */
import { expect, it } from "vitest";
import * as z from "zod";
import { CATALOG, defineHook } from "creel";
import { chainRule } from "../../src/protocol/chain-rule.ts";
import { chain } from "../../src/sandbox/chain.ts";

const tool = chainRule(CATALOG.before_tool_call);
const send = chainRule(CATALOG.message_sending);
const event = JSON.stringify({ content: "o", params: { a: 1 } });
const stops = { goesOn: false, event };

it("is derived from the catalog: plain fields, the terminal one, what chains and how", () => {
  expect(send).toMatchObject({
    fields: { content: "string", cancel: "boolean", cancelReason: "string", metadata: "object" },
    chains: [["content", "content", "replace"]],
  });
  expect(tool).toMatchObject({
    fields: { params: "object", block: "boolean", blockReason: "string" },
    chains: [["params", "params", "assign"]],
  });
  expect(tool.fields).not.toHaveProperty("requireApproval");
});

it("fields with checks, catches, transforms or unions are for the host", () => {
  const hook = defineHook({
    name: "t",
    kind: "modify",
    summary: "",
    event: z.object({}),
    context: z.object({}),
    result: z.object({
      a: z.string().max(3),
      b: z.string().catch(""),
      c: z.union([z.string(), z.number()]),
      d: z.string().transform(Number),
      e: z.record(z.string(), z.number()),
      f: z.string(),
      g: z.email(),
      h: z.array(z.string()),
      i: z.string().nullable(),
    }),
  });
  expect(chainRule(hook).fields).toEqual({ f: "string" });
});

it("fields that freeze others, or chain by another rule than last and assign, are for the host", () => {
  const hook = defineHook({
    name: "t",
    kind: "modify",
    summary: "",
    event: z.object({}),
    context: z.object({}),
    result: z.object({ a: z.string(), b: z.string(), c: z.string() }),
    merge: { a: { rule: "first", freezes: ["b"] }, b: { rule: "join", chains: "b" }, c: { rule: "last" } },
  });
  expect(chainRule(hook).fields).toEqual({ c: "string" });
});

it("goes on past a plain result and shows the next handler what it rewrote", () => {
  expect(chain(send, event, `{"content":"n","cancel":false}`, true)).toEqual({
    goesOn: true,
    event: JSON.stringify({ content: "n", params: { a: 1 } }),
  });
  expect(chain(tool, event, `{"params":{"b":2}}`, true)).toEqual({
    goesOn: true,
    event: JSON.stringify({ content: "o", params: { a: 1, b: 2 } }),
  });
});

it("once rewrites are frozen, results change nothing", () => {
  expect(chain(tool, event, `{"params":{"b":2}}`, false)).toEqual({ goesOn: true, event });
});

it("null and an empty object are no decision", () => {
  expect(chain(tool, event, "null", true)).toEqual({ goesOn: true, event });
  expect(chain(tool, event, "{}", true)).toEqual({ goesOn: true, event });
});

it.each([
  `{"block":true}`,
  `{"block":"true"}`,
  `{"requireApproval":{}}`,
  `{"unknown":1}`,
  `{"params":[]}`,
  `{"params":null}`,
  `{"blockReason":5}`,
  `[]`,
  `5`,
  `"x"`,
  `true`,
  `{"params":{"__proto__":{}}}`,
  `{"constructor":{}}`,
  `{"toString":"x"}`,
])("stops at %s and leaves it to the host", (result) => {
  expect(chain(tool, event, result, true)).toEqual(stops);
});
