/** The compiled check of events and contexts agrees with zod. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { acceptsOf } from "../../../src/protocol/rules/compiled-check.ts";
import { CATALOG } from "../../../src/protocol/catalog.ts";
import { sampleEvent } from "../../support/sample.ts";

const HOOKS = Object.values(CATALOG);

/** Values as people get them wrong: a field gone, null, of another kind, or one too many. */
function damaged(sample: unknown): fc.Arbitrary<unknown> {
  if (typeof sample !== "object" || sample === null) return fc.anything();
  const keys = Object.keys(sample);
  const wrong = fc.oneof(
    fc.constant(undefined),
    fc.constant(null),
    fc.constant(""),
    fc.constant(Number.NaN),
    fc.constant(Infinity),
    fc.anything({ withDate: true, withMap: true }),
  );
  return fc
    .tuple(fc.constantFrom(...keys, "unheardOf"), wrong, fc.boolean())
    .map(([key, value, isGone]) =>
      isGone ? Object.fromEntries(Object.entries(sample).filter(([name]) => name !== key)) : { ...sample, [key]: value },
    );
}

describe.each(HOOKS.map((hook) => [hook.name, hook] as const))("%s", (_, hook) => {
  it.each([
    ["event", hook.event, sampleEvent(hook)],
    ["context", hook.context, {}],
  ] as const)("its %s is accepted exactly when zod accepts it", (_part, schema, sample) => {
    expect(acceptsOf(schema)(sample)).toBe(schema.safeParse(sample).success);
    fc.assert(
      fc.property(fc.oneof(damaged(sample), fc.anything()), (value) => {
        expect(acceptsOf(schema)(value)).toBe(schema.safeParse(value).success);
      }),
      { numRuns: 60 },
    );
  });
});

it("a schema that holds itself is accepted exactly when zod accepts it, however deep", () => {
  const tree: z.ZodType = z.looseObject({
    name: z.string(),
    get children(): z.ZodType {
      return z.array(tree).optional();
    },
  });
  const values = [
    { name: "a" },
    { name: "a", children: [{ name: "b", children: [{ name: "c" }] }] },
    { name: "a", children: [{ name: "b", children: [{}] }] },
  ];
  expect(values.map((value) => acceptsOf(tree)(value))).toEqual([true, true, false]);
  expect(values.map((value) => tree.safeParse(value).success)).toEqual([true, true, false]);
});

it.each([
  ["a text of at least one character", z.string().min(1), ["", "a", 1, undefined]],
  ["a text with other conditions", z.string().min(1).max(3), ["", "abc", "abcd"]],
  ["a record", z.record(z.string(), z.number()), [{}, { a: 1 }, { a: "1" }, [], new Map(), null, Object.create(null)]],
  ["a strict object", z.strictObject({ a: z.string() }), [{ a: "" }, { a: "", b: 1 }, {}]],
  ["an object that keeps nothing else", z.object({ a: z.string().optional() }), [{}, { a: undefined }, { b: 1 }, [], null, new Date()]],
  ["a number", z.number(), [0, -0, Number.NaN, Infinity, "1", 1n]],
  ["a whole number", z.int(), [1, 1.5, 2 ** 60]],
  ["one of several", z.union([z.literal("a"), z.enum(["b", "c"]), z.null()]), ["a", "b", "d", null, undefined]],
  ["what has a default", z.looseObject({ a: z.string().default("x") }), [{}, { a: undefined }, { a: 1 }]],
  ["what is refined", z.looseObject({ a: z.number() }).refine(({ a }) => a > 1), [{ a: 1 }, { a: 2 }]],
  ["a list", z.array(z.string()), [[], ["a"], ["a", 1], "a", Object.assign(Array.from({ length: 0 }), { 1: "a" })]],
] satisfies [string, z.ZodType, unknown[]][])("%s is accepted exactly when zod accepts it", (_, schema, values) => {
  expect(values.map((value) => acceptsOf(schema)(value))).toEqual(values.map((value) => schema.safeParse(value).success));
});

it("a record with symbol keys is accepted, unlike by zod: JSON leaves them out, and real gateways have them", () => {
  expect(acceptsOf(z.record(z.string(), z.number()))({ a: 1, [Symbol("s")]: "x" })).toBe(true);
});
