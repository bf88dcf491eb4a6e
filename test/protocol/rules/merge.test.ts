/** The merge rules over long values. What they mean is tested in test/contract/modify.test.ts and test/property. */
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { CATALOG } from "creel";
import { merge, start } from "../../../src/protocol/rules/merge.ts";
import type { Fields, Merged, Own } from "../../../src/protocol/rules/merge.ts";

const by = { plugin: { id: "p" } };
const merged = (answers: readonly Fields[]): Fields =>
  answers.reduce<Merged>((state, answer) => merge(CATALOG.before_prompt_build, state, answer, by), start({ prompt: "" })).result!;

// Name by name, or copy by copy, each of these would take minutes, and the test its time limit.
it("two long lists are intersected without comparing each name with each", () => {
  const names = Array.from({ length: 400_000 }, (_, at) => `tool-${at}`);
  expect(merged([{ toolsAllow: names }, { toolsAllow: names.toReversed().slice(10) }])).toEqual({ toolsAllow: names.slice(0, -10) });
});

it("many texts are joined without copying what is there already", () => {
  const { prependContext } = merged(Array.from({ length: 20_000 }, () => ({ prependContext: "x".repeat(5_000) })));
  expect((prependContext as string).length).toBe(20_000 * 5_000 + 19_999 * 2);
});

it("an empty text adds nothing to a join, and no blank line", () => {
  expect(merged([{ prependContext: "" }, { prependContext: "a" }, { prependContext: "" }, { prependContext: "b" }])).toEqual({
    prependContext: "a\n\nb",
  });
  expect(merged([{ prependContext: "" }])).toEqual({ prependContext: "" });
});

const params = (answers: readonly Fields[], event: Fields, own?: Own) =>
  answers.reduce<Merged>((state, answer) => merge(CATALOG.before_tool_call, state, { params: answer }, by, own), start(event));

const answer = fc.dictionary(fc.constantFrom("a", "b", "__proto__", "constructor", "toString"), fc.jsonValue({ maxDepth: 1 }));

it("what is written into a run's own object comes to the same as copies, and changes no object of the gateway or a handler", () => {
  fc.assert(
    fc.property(answer, fc.array(answer, { maxLength: 5 }), (given, answers) => {
      const before = JSON.stringify([given, answers]);
      const [copied, written] = [params(answers, { params: given }), params(answers, { params: given }, new Set())];
      expect(written).toEqual(copied);
      expect(JSON.stringify(written)).toBe(JSON.stringify(copied));
      expect(JSON.stringify([given, answers])).toBe(before);
    }),
  );
});

it("a key named __proto__ stays a key, in a run's own object, too", () => {
  const evil = JSON.parse(`{"__proto__":{"polluted":1}}`) as Fields;
  const both = params([{ a: 1 }, evil], { params: {} }, new Set()).result!.params as Fields;
  expect(Object.getPrototypeOf(both)).toBe(Object.prototype);
  expect(JSON.stringify(both)).toBe(`{"a":1,"__proto__":{"polluted":1}}`);
});
