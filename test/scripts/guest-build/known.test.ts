/** Constants that are known at build time are written into the guest, so that no cell builds a table to read two numbers of it. */
import { expect, it } from "vitest";
import { withValues } from "../../../scripts/guest-build/known.ts";
import { guestCode } from "../../../src/bundler/guest-code.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";
import { GUEST_MODULES, LIBRARY_MARK, pairs } from "../../../src/protocol/guest-surface/surface.ts";

it("a limit becomes its number", () => {
  expect(withValues("if (text.length > LIMITS.log.bytes) return -LIMITS.call.nameChars;")).toBe(
    `if (text.length > (${LIMITS.log.bytes})) return -(${LIMITS.call.nameChars});`,
  );
});

it("a limit that is no number, or not there, is left as it is", () => {
  expect(withValues("LIMITS.blame.strikePoints LIMITS.log.nothing LIMITS.nothing.at OTHER_LIMITS.logBytes")).toBe(
    "LIMITS.blame.strikePoints LIMITS.log.nothing LIMITS.nothing.at OTHER_LIMITS.logBytes",
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
