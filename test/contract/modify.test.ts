/** Modify hooks: every handler runs, and each result field merges by its own rule. Facts 9, 10, 53, 54, 56 and 57. */
import { expect, it } from "vitest";
import * as z from "zod";
import { defineHook } from "creel";
import { actor, HOOKS, prompt } from "../support/actors.ts";
import type { Script } from "../support/actors.ts";
import { contract, sharedHost, statuses } from "../support/host.ts";

const merging = defineHook({
  name: "test_merging",
  kind: "modify",
  summary: "One field per merge rule.",
  event: z.looseObject({ base: z.record(z.string(), z.unknown()) }),
  context: z.looseObject({}),
  result: z.object({
    first: z.unknown().optional(),
    last: z.unknown().optional(),
    any: z.boolean().optional(),
    join: z.string().optional(),
    intersect: z.array(z.string()).optional(),
    append: z.array(z.unknown()).optional(),
    assign: z.record(z.string(), z.unknown()).optional(),
    based: z.record(z.string(), z.unknown()).optional(),
    chained: z.string().optional(),
  }),
  merge: {
    first: { rule: "first" },
    last: { rule: "last" },
    any: { rule: "any" },
    join: { rule: "join" },
    intersect: { rule: "intersect" },
    append: { rule: "append" },
    assign: { rule: "assign" },
    based: { rule: "assign", chains: "base" },
    chained: { rule: "join", chains: "said" },
  },
});

const all = (text: string) =>
  `return { systemPrompt: "${text}", prependContext: "${text}", appendContext: "${text}", prependSystemContext: "${text}", appendSystemContext: "${text}" }`;

contract("modify", (isolation) => {
  const on = [...HOOKS, "test_merging"];
  const shared = sharedHost(isolation, {
    lanes: 2,
    hooks: { test_merging: merging },
    plugins: [actor("a", { priority: 10, on }), actor("b", { priority: 5, on }), actor("c", { on })],
  });
  const merge = async (script: Script, base = {}) => (await shared.host.run("test_merging", { base, do: script })).result;
  const build = async (script: Script) => (await shared.host.run("before_prompt_build", prompt(script))).result;

  it("with first, the highest priority that defines the field wins, even with an empty value", async () => {
    expect(await merge({ b: `return { first: "" }`, c: `return { first: 2 }` })).toEqual({ first: "" });
  });

  it("with first, null is a value", async () => {
    expect(await merge({ a: `return { first: null }`, c: `return { first: 2 }` })).toEqual({ first: null });
  });

  it("with last, the lowest priority that defines the field wins", async () => {
    expect(await merge({ a: `return { last: 1 }`, b: `return { last: 2 }`, c: `return { last: undefined }` })).toEqual({ last: 2 });
  });

  it("with any, one true is enough and false is no decision", async () => {
    expect(await merge({ a: `return { any: false }`, b: `return { any: true }`, c: `return { any: false }` })).toEqual({ any: true });
    expect(await merge({ a: `return { any: false }` })).toEqual({ any: false });
  });

  it("with join, texts are joined by a blank line in priority order, and empty ones leave no trace", async () => {
    expect(await merge({ a: `return { join: "A" }`, b: `return { join: "" }`, c: `return { join: "C" }` })).toEqual({ join: "A\n\nC" });
    expect(await merge({ a: `return { join: "" }`, c: `return { join: "C" }` })).toEqual({ join: "C" });
  });

  it("with intersect, only what every list has remains, in the order of the first", async () => {
    expect(await merge({ a: `return { intersect: ["x", "y", "z"] }`, b: `return { intersect: ["z", "x"] }` })).toEqual({
      intersect: ["x", "z"],
    });
    expect(await merge({ a: `return { intersect: ["x"] }`, c: `return { intersect: [] }` })).toEqual({ intersect: [] });
  });

  it("with append, lists follow each other in priority order", async () => {
    expect(await merge({ a: `return { append: [1] }`, b: `return { append: [] }`, c: `return { append: [2, 1] }` })).toEqual({
      append: [1, 2, 1],
    });
  });

  it("with assign, later keys are laid over earlier ones", async () => {
    expect(await merge({ a: `return { assign: { x: 1, y: 1 } }`, c: `return { assign: { y: 2 } }` })).toEqual({ assign: { x: 1, y: 2 } });
  });

  it("an assign that chains starts from the event's own field, and later handlers see it", async () => {
    const result = await merge({ a: `return { based: { y: 1 } }`, c: `return { based: { saw: event.base } }` }, { x: 0 });
    expect(result).toEqual({ based: { x: 0, y: 1, saw: { x: 0, y: 1 } } });
  });

  it("a join that chains shows later handlers what was joined so far", async () => {
    const result = await merge({ a: `return { chained: "A" }`, b: `return { chained: "B" }`, c: `return { last: event.said }` });
    expect(result).toEqual({ chained: "A\n\nB", last: "A\n\nB" });
  });

  it("fields merge one by one, so two handlers can each give half of the result", async () => {
    expect(await merge({ a: `return { first: 1 }`, b: `return { first: 2, last: 2 }` })).toEqual({ first: 1, last: 2 });
  });

  it("null and undefined are no result, and a run with no result at all has none", async () => {
    expect(await merge({ a: `return null`, b: `return undefined` })).toBeUndefined();
    expect(await merge({ a: `return null`, b: `return { last: 1 }`, c: `async return null` })).toEqual({ last: 1 });
  });

  it("fields that the hook does not know are dropped", async () => {
    expect(await merge({ a: `return { last: 1, stranger: 2, __proto__: { first: 1 } }` })).toEqual({ last: 1 });
  });

  it("every handler runs, whatever those before it returned", async () => {
    const outcome = await shared.host.run("test_merging", { base: {}, do: { a: `return { any: true, first: 1 }` } });
    expect(statuses(outcome)).toEqual(["a:ok", "b:ok", "c:ok"]);
    expect(outcome).toMatchObject({ decision: "pass", by: undefined, reason: undefined });
  });

  it("before_prompt_build keeps the first system prompt and joins the contexts", async () => {
    expect(await build({ a: all("A"), c: all("B") })).toEqual({
      systemPrompt: "A",
      prependContext: "A\n\nB",
      appendContext: "A\n\nB",
      prependSystemContext: "A\n\nB",
      appendSystemContext: "A\n\nB",
    });
  });

  it("before_prompt_build intersects toolsAllow", async () => {
    expect(await build({ a: `return { toolsAllow: ["read", "exec"] }`, b: `return { toolsAllow: ["read"] }` })).toEqual({
      toolsAllow: ["read"],
    });
  });

  it.each(["[]", "null", `["read", 1]`, `"read"`, "{}"])("toolsAllow %s means no tool at all", async (value) => {
    expect(await build({ a: `return { toolsAllow: ["read"] }`, b: `return { toolsAllow: ${value} }` })).toEqual({ toolsAllow: [] });
  });

  it("a handler that throws is skipped, and the results of the others stand", async () => {
    const outcome = await shared.host.run(
      "before_prompt_build",
      prompt({ a: `throw new Error("no")`, b: `return { systemPrompt: "B" }`, c: `return { systemPrompt: "C" }` }),
    );
    expect(outcome.result).toEqual({ systemPrompt: "B" });
    expect(statuses(outcome)).toEqual(["a:failed", "b:ok", "c:ok"]);
    expect(outcome.decision).toBe("pass");
  });
});
