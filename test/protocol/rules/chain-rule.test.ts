/** What a lane may decide between two handlers: only what it can judge exactly; everything else it leaves to the host. */
import { expect, it } from "vitest";
import * as z from "zod";
import { CATALOG, defineHook } from "creel";
import type { HookDefinition } from "creel";
import { chainRule } from "../../../src/protocol/rules/chain-rule.ts";
import { Chain } from "../../../src/sandbox/lane/chain-step.ts";

const tool = chainRule(CATALOG.before_tool_call);
const send = chainRule(CATALOG.message_sending);
const event = JSON.stringify({ content: "o", params: { a: 1 } });

const own = (result: z.ZodObject, merge: HookDefinition["merge"] = {}) =>
  defineHook({ name: "t", kind: "modify", summary: "", event: z.object({}), context: z.object({}), result, merge });

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
  const result = z.object({
    checked: z.string().max(3),
    caught: z.string().catch(""),
    union: z.union([z.string(), z.number()]),
    changed: z.string().transform(Number),
    numbers: z.record(z.string(), z.number()),
    plain: z.string(),
    email: z.email(),
    list: z.array(z.string()),
    nullable: z.string().nullable(),
  });
  expect(chainRule(own(result)).fields).toEqual({ plain: "string" });
});

it("fields that freeze others, or chain by another rule than last and assign, are for the host", () => {
  const merge = { a: { rule: "first", freezes: ["b"] }, b: { rule: "join", chains: "b" }, c: { rule: "last" } } as const;
  expect(chainRule(own(z.object({ a: z.string(), b: z.string(), c: z.string() }), merge)).fields).toEqual({ c: "string" });
});

it("goes on past plain results and shows the next handler what they rewrote", () => {
  const sends = new Chain(send, event, true);
  expect(sends.goesOn(`{"content":"n","cancel":false}`)).toBe(true);
  expect(JSON.parse(sends.event)).toEqual({ content: "n", params: { a: 1 } });
  const tools = new Chain(tool, event, true);
  expect([tools.goesOn(`{"params":{"b":2}}`), tools.goesOn(`{"params":{"a":3}}`)]).toEqual([true, true]);
  expect(JSON.parse(tools.event)).toEqual({ content: "o", params: { a: 3, b: 2 } });
});

it("once rewrites are frozen, results change nothing", () => {
  const chain = new Chain(tool, event, false);
  expect(chain.goesOn(`{"params":{"b":2}}`)).toBe(true);
  expect(chain.event).toBe(event);
});

it.each(["null", "{}"])("%s is no decision", (result) => {
  const chain = new Chain(tool, event, true);
  expect(chain.goesOn(result)).toBe(true);
  expect(chain.event).toBe(event);
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
  const chain = new Chain(tool, event, true);
  expect(chain.goesOn(result)).toBe(false);
  expect(chain.event).toBe(event);
});

it("without a rule for the hook, everything is for the host", () => {
  expect(new Chain(undefined, event, true).goesOn(`{"content":"n"}`)).toBe(false);
});
