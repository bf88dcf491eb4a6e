/** A text that would cost a parser too much is recognised without parsing it. */
import { assert, json, property } from "fast-check";
import { expect, it } from "vitest";
import { isBounded } from "../../../src/protocol/rules/json-bounds.ts";

function valuesIn(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  return 1 + Object.values(value).reduce<number>((sum, item) => sum + valuesIn(item), 0);
}

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

it("a text with as many values as it may have passes, and with half as many as it has does not", () => {
  assert(
    property(json({ maxDepth: 6 }), (text) => {
      const value = JSON.parse(text) as unknown;
      const [values, depth] = [valuesIn(value), depthOf(value)];
      const few = Math.floor(values / 2) - 1;
      expect([
        isBounded(text, 2 * values, depth),
        few > 0 && isBounded(text, few, depth),
        depth > 0 && isBounded(text, 2 * values, depth - 1),
      ]).toEqual([true, false, false]);
    }),
  );
});

it.each([
  ["quotes and brackets in texts are no structure", JSON.stringify({ a: '[[[[,,,,"\\"{{{{', b: "\\" }), true],
  ["a text that ends in backslashes ends", `{"a":"\\\\","b":[[[[]]]]}`, false],
  ["a text that never ends has no structure behind it", '["', true],
  ["many empty objects are many values", `[${"{},".repeat(100)}{}]`, false],
  ["many keys are many values", JSON.stringify(Object.fromEntries(Array.from({ length: 50 }, (_, n) => [n, n]))), false],
])("%s", (_, text, isFine) => {
  expect(isBounded(text, 20, 3)).toBe(isFine);
});
