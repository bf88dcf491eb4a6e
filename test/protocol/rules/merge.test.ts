/** The merge rules over long values. What they mean is tested in test/contract/modify.test.ts and test/property. */
import { expect, it } from "vitest";
import { CATALOG } from "creel";
import { merge, start } from "../../../src/protocol/rules/merge.ts";
import type { Fields, Merged } from "../../../src/protocol/rules/merge.ts";

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
