/** Mail from a cell is hostile text: it is read as items that add up, or refused as a whole. */
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { thrownBy } from "../../support/errors.ts";
import { MAIL, readMail } from "../../../src/protocol/messages/mail.ts";

it("items come out with their numbers and bodies", () => {
  expect(readMail("r0,0,7,2;l3,9,7,3;\n{}abc")).toEqual([
    { kind: MAIL.result, a: 0, b: 0, call: 7, body: "{}" },
    { kind: MAIL.log, a: 3, b: 9, call: 7, body: "abc" },
  ]);
  expect(readMail("\n")).toEqual([]);
});

it("bodies may hold anything, separators too", () => {
  const body = "a\n;,r0,0,0,0;\n";
  expect(readMail(`l1,1,1,${body.length};\n${body}`)).toEqual([{ kind: "l", a: 1, b: 1, call: 1, body }]);
});

it.each([
  ["no separator", "r0,0,0,0;"],
  ["nothing at all", ""],
  ["a number too few", "r0,0,0;\n"],
  ["a number too many", "r0,0,0,0,0;\n"],
  ["a negative number", "r0,-1,0,0;\n"],
  ["a fraction", "r0,0.5,0,0;\n"],
  ["something that is no number", "rx,0,0,0;\n"],
  ["a length past the end", "r0,0,0,5;\nabc"],
  ["text that no length counts", "r0,0,0,1;\nabc"],
  ["an enormous length", "r0,0,0,9007199254740991;\nabc"],
])("mail with %s is refused", (_, text) => {
  expect(() => readMail(text)).toThrow(SyntaxError);
});

it("whatever is read accounts for every character, and everything else is a SyntaxError", () => {
  const item = fc.tuple(fc.constantFrom("r", "l", "t", "?"), fc.array(fc.nat(20), { minLength: 3, maxLength: 5 }));
  const almost = fc
    .tuple(fc.array(item), fc.string())
    .map(([items, rest]) => `${items.map(([kind, numbers]) => `${kind}${numbers.join()};`).join("")}\n${rest}`);
  fc.assert(
    fc.property(fc.oneof(fc.string(), almost), (text) => {
      let bodies = text.slice(text.indexOf("\n") + 1);
      const error = thrownBy(() => {
        bodies = readMail(text)
          .map(({ body }) => body)
          .join("");
      });
      expect(error === undefined || error instanceof SyntaxError).toBe(true);
      expect(bodies).toBe(text.slice(text.indexOf("\n") + 1));
    }),
    { numRuns: 2_000 },
  );
});
