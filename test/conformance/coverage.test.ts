/** Every fact that applies has a test that is named by its number, and no test names another. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { FACTS, FIRST_WINS, ISOLATED } from "./facts.ts";

const NAME = /\bit\(\s*["'`](\d+)\. (overridden: |rewrites isolated: |first wins: )?/g;

const files = readdirSync(import.meta.dirname).filter((name) => /^facts-.*\.test\.ts$/.test(name));
const named = files.flatMap((name) =>
  Array.from(readFileSync(join(import.meta.dirname, name), "utf8").matchAll(NAME), ([, number, how]) => ({
    number: Number(number),
    how: how?.slice(0, -2) ?? "holds",
  })),
);

/** The facts that have a test which says so. */
const tested = (how: string) => new Set(named.filter((test) => test.how === how).map(({ number }) => number));
const marked = (how: string) => new Set([...FACTS].filter(([, applies]) => applies === how).map(([number]) => number));

it.each(["holds", "overridden"])("the facts marked '%s' are those whose tests are named so", (how) => {
  expect(tested(how)).toEqual(marked(how));
});

it("facts about rewrites and several requests are also tested as OpenClaw's, and no others", () => {
  expect(tested("rewrites isolated")).toEqual(new Set(ISOLATED));
  expect(tested("first wins")).toEqual(new Set(FIRST_WINS));
});

it("a fact that does not apply says why", () => {
  const silent = [...FACTS].filter(
    ([, applies]) => applies !== "holds" && applies !== "overridden" && !/^does not apply: .{20,}/.test(applies),
  );
  expect(silent).toEqual([]);
});
