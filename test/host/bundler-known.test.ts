/** What is known when the guest is built is written into it: no cell makes a table that it reads two numbers of. */
import { expect, it } from "vitest";
import { withValues } from "../../src/host/bundler-known.ts";
import { guestCode } from "../../src/host/guest-code.ts";
import { LIMITS } from "../../src/protocol/limits.ts";
import { GUEST_MODULES, LIBRARY_MARK, pairs } from "../../src/protocol/surface.ts";

it("a limit becomes its number", () => {
  expect(withValues("if (text.length > LIMITS.logBytes) return -LIMITS.nameChars;")).toBe(
    `if (text.length > (${LIMITS.logBytes})) return -(${LIMITS.nameChars});`,
  );
});

it("a limit that is no number, or not there, is left as it is", () => {
  expect(withValues("LIMITS.breakerWeights LIMITS.nothing OTHER_LIMITS.logBytes")).toBe(
    "LIMITS.breakerWeights LIMITS.nothing OTHER_LIMITS.logBytes",
  );
});

it("the pairs of a table become a list", () => {
  expect(withValues("const a = pairs(GUEST_MODULES);")).toBe(`const a = ${JSON.stringify(pairs(GUEST_MODULES))};`);
  expect(withValues("pairs(OTHER) pairs(GUEST_NOTHING)")).toBe("pairs(OTHER) pairs(GUEST_NOTHING)");
});

it("neither the table of limits nor one of the surface's is made in a cell", async () => {
  const [bootstrap, library] = (await guestCode()).split(LIBRARY_MARK);
  // Whole texts in a report help nobody.
  const has = (text: string | RegExp) => [bootstrap!, library!].map((part) => part.search(text) >= 0);
  expect(has("awaitedWallMs")).toEqual([false, false]);
  expect(has(/\{global:/)).toEqual([false, false]);
  expect(has(/global\W+web\/global/)).toEqual([true, false]);
});
