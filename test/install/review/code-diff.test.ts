/** What an operator sees of changed code: the right lines, in a bounded time, and nothing that a terminal obeys. */
import { array, assert as holds, constantFrom, property } from "fast-check";
import { describe, expect, it } from "vitest";
import { codeWords, comparedCode, visible } from "../../../src/install/review/code-diff.ts";
import { lineDiff } from "../../../src/install/review/line-diff.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";

const MAP = JSON.stringify({ version: 3, sources: ["index.ts"], names: [], mappings: "AAAA;AACA;AACA" });
const texts = (bundle: string, own = "", map = MAP) => ({ bundle, map, own });
const digests = { from: "sha256-A", to: "sha256-B" };
const lines = (text: string): string[] => text.split("");

const unlike = (letter: string): string[] => Array.from({ length: 30_000 }, (_, at) => `${letter}${at}`);

describe("a difference of lines", () => {
  it.each([
    ["abc", "abc", ""],
    ["abc", "axc", "-1 +1"],
    ["abc", "ac", "-1"],
    ["ac", "abc", "+1"],
    ["", "ab", "+0 +1"],
    ["ab", "", "-0 -1"],
    ["abcd", "bcde", "-0 +3"],
    ["xaybz", "xbyaz", "-1 -2 +2 +3"],
  ])("between %j and %j is %j", (before, after, expected) => {
    expect(
      lineDiff(lines(before), lines(after))
        .map(({ sign, line }) => `${sign}${line}`)
        .join(" "),
    ).toBe(expected);
  });

  it("makes the one of the other, whatever they are", () => {
    const some = array(constantFrom("a", "b", "c"), { maxLength: 40 });
    holds(
      property(some, some, (before, after) => {
        const changes = lineDiff(before, after);
        const gone = new Set(changes.filter(({ sign }) => sign === "-").map(({ line }) => line));
        const come = new Set(changes.filter(({ sign }) => sign === "+").map(({ line }) => line));
        expect(before.filter((_, at) => !gone.has(at))).toEqual(after.filter((_, at) => !come.has(at)));
      }),
    );
  });

  it("of texts that share nothing is all of both, after bounded work", () => {
    expect(lineDiff(unlike("a"), unlike("b"))).toHaveLength(60_000);
  });
});

const own = (text: string) =>
  JSON.stringify([
    ["data.txt", 1, "u", text],
    ["index.ts", 2, "u", text],
    ["x.bin", 3, "b", text],
  ]);

describe("the row about code", () => {
  it("counts lines by the file that they are from, and names both bundles", () => {
    const { change } = comparedCode(texts("one\ntwo\nthree\n"), texts("one\n2\n3\nthree\n"), digests);
    expect(change).toMatchObject({ files: [{ file: "index.ts", added: 2, removed: 1 }], added: 2, removed: 1, isKnown: true });
    expect(codeWords(change)).toBe("1 file, +2 -1 lines (index.ts +2 -1); bundle sha256-A → sha256-B");
  });

  it("counts data that the code can read, and no source twice", () => {
    const { change, text } = comparedCode(texts("one\n", own("a\n")), texts("one\n", own("b\n")), digests);
    expect(change.files.map(({ file }) => file)).toEqual(["data.txt", "x.bin"]);
    expect(text()).toContain("+ b");
  });

  it("says so when what is installed cannot be read", () => {
    const { change } = comparedCode(undefined, texts("one\n"), digests);
    expect(codeWords(change)).toBe("cannot be compared: the installed files were changed; bundle sha256-A → sha256-B");
  });
});

describe("the text of a difference", () => {
  it("shows every character that a terminal would obey, or an eye would miss, by its number", () => {
    const hidden = "\u001b[2J\u0000\r\u009b\u200b\u202e\u2066\u061c\ufeff\u{e0041}\u00ad";
    const { text } = comparedCode(texts("a\n"), texts(`a\n\tif (${hidden}) {}\n`), digests);
    const shown = text().join("\n");
    expect(shown).toContain("+   if (\\u{1b}[2J\\u{0}\\u{d}\\u{9b}\\u{200b}\\u{202e}\\u{2066}\\u{61c}\\u{feff}\\u{e0041}\\u{ad}) {}");
    expect(shown).toMatch(/^[\n\x20-\x7e]*$/);
  });

  it("says how much of a long line, and of many lines, is not shown", () => {
    expect(visible(`${" ".repeat(LIMITS.install.diffLineChars)}evil()`)).toMatch(/… \(and 6 more characters\)$/);
    const many = Array.from({ length: LIMITS.install.diffShownLines + 10 }, (_, at) => `line ${at}`).join("\n");
    const shown = comparedCode(texts(""), texts(many), digests).text();
    expect(shown.length).toBeLessThanOrEqual(LIMITS.install.diffShownLines + 2);
    expect(shown.at(-1)).toMatch(/^… and \d+ more lines$/);
  });
});
