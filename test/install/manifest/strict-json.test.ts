/** Manifests: what is read is what JSON.parse reads, and what one reader could take otherwise than another is refused, with its place. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseStrictJson } from "../../../src/install/manifest/strict-json.ts";
import type { CreelError } from "../../../src/protocol/errors.ts";
import { thrownBy } from "../../support/errors.ts";

const parse = (text: string | Buffer): unknown => parseStrictJson(Buffer.from(text), { path: "package.json" });
const refusal = (text: string | Buffer): string => (thrownBy(() => parse(text)) as CreelError).message;

describe("hostile manifests: each is refused with its place", () => {
  it.each<[what: string, text: string | Buffer, at: string, detail: string]>([
    ["a key twice", '{\n  "id": "a",\n  "id": "b"\n}', "3:3", 'the key "id" is there twice'],
    ["a key twice, once with an escape", '{"id":"a","\\u0069d":"b"}', "1:11", 'the key "id" is there twice'],
    ["__proto__", '{"a":{"__proto__":{"x":1}}}', "1:7", 'the key "__proto__" is not allowed'],
    ["__proto__ with an escape", '{"\\u005f_proto__":{"x":1}}', "1:2", 'the key "__proto__" is not allowed'],
    ["constructor", '{"constructor":{"prototype":{}}}', "1:2", 'the key "constructor" is not allowed'],
    ["prototype", '{"prototype":{}}', "1:2", 'the key "prototype" is not allowed'],
    ["65 arrays", "[".repeat(65) + "]".repeat(65), "1:65", "it nests deeper than 64 levels"],
    ["200,000 arrays", "[".repeat(200_000), "1:65", "it nests deeper than 64 levels"],
    ["100,000 objects", '{"a":'.repeat(50_000), "1:321", "it nests deeper than 64 levels"],
    ["a file that is too long", JSON.stringify("x".repeat(300_000)), "1:1", "the file has 300002 bytes; the limit is 262144"],
    ["a number past what is exact", '{"a": 9007199254740993}', "1:7", "the number is too large to be exact"],
    ["an infinite number", "[1e999]", "1:2", "the number is too large to be exact"],
    ["half of a character", '"\\ud83d"', "1:1", "a string has half a surrogate pair"],
    ["bytes that are not UTF-8", Buffer.from([0x22, 0xff, 0x22]), "1:1", "the file is not UTF-8"],
    ["UTF-16", Buffer.from("\uFEFF{}", "utf16le"), "1:1", "the file is not UTF-8"],
    ["an overlong slash", Buffer.from([0x22, 0xc0, 0xaf, 0x22]), "1:1", "the file is not UTF-8"],
    ["a comment", '{\n // note\n "a": 1}', "2:2", "comments are not allowed here"],
    ["a comma too many", '{"a": 1,}', "1:9", "a key in double quotes is missing"],
    ["a comma too many in a list", "[1,]", "1:4", "a value is missing"],
    ["a comma too few", '{"a": 1 "b": 2}', "1:9", '"," or a closing bracket is missing'],
    ["a key without quotes", "{a: 1}", "1:2", "this is not JSON"],
    ["single quotes", "{'a': 1}", "1:2", "this is not JSON"],
    ["NaN", "[NaN]", "1:2", "this is not JSON"],
    ["a hexadecimal number", "[0x10]", "1:3", "this is not JSON"],
    ["a number with a leading zero", "[010]", "1:3", '"," or a closing bracket is missing'],
    ["a line break in a text", '"a\nb"', "1:1", "a string does not end"],
    ["a NUL in a text", '"a\0b"', "1:1", "a string has a character that must be escaped"],
    ["an unknown escape", '"\\x41"', "1:1", "a string has an invalid escape"],
    ["another value after it", "{}\n{}", "2:1", "there is more after the end of the value"],
    ["a NUL after it", "{}\0", "1:3", "this is not JSON"],
    ["a file that ends too early", '{"a":', "1:6", "a value is missing"],
    ["an empty file", "", "1:1", "a value is missing"],
    ["a word that begins like true", "[truely]", "1:2", "this is not JSON"],
  ])("%s", (_, text, at, detail) => {
    expect(refusal(text)).toBe(`package.json:${at}: ${detail}`);
    expect(({} as { x?: unknown }).x).toBeUndefined();
  });
});

it("a mark of the byte order at the beginning is no harm, as with npm", () => {
  expect(parse("\uFEFF{}")).toEqual({});
});

it("a text may be as long as a file", () => {
  const long = "ä\\n😀".repeat(20_000);
  expect(parse(`["${long}"]`)).toEqual(JSON.parse(`["${long}"]`));
});

it("what JSON.stringify writes is read as JSON.parse reads it", () => {
  fc.assert(
    fc.property(fc.jsonValue({ depthSize: "large" }), fc.constantFrom(undefined, 2, "\t"), (value, space) => {
      const text = JSON.stringify(value, null, space);
      // What is refused on purpose is another test's.
      fc.pre(!/"(?:__proto__|constructor|prototype)"|\\ud[89a-f]|\d{16}|e\+/i.test(text));
      expect(parse(text)).toEqual(JSON.parse(text));
    }),
    { seed: 6, numRuns: 500 },
  );
});

it("what JSON.parse does not take is not taken, and what is taken means the same", () => {
  const tokens = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    '"a"',
    '"b"',
    "1",
    "-",
    "0",
    ".5",
    "e3",
    "true",
    "null",
    " ",
    "\n",
    '"',
    "\\",
    "/**/",
    "\u00A0",
  ];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...tokens), { maxLength: 8 }), (parts) => {
      const text = parts.join("");
      const theirs = outcome(() => JSON.parse(text) as unknown);
      const ours = outcome(() => parse(text));
      expect(ours === undefined || JSON.stringify(ours) === JSON.stringify(theirs)).toBe(true);
    }),
    { seed: 6, numRuns: 5_000 },
  );
});

function outcome(act: () => unknown): { value: unknown } | undefined {
  try {
    return { value: act() };
  } catch {
    return undefined;
  }
}
