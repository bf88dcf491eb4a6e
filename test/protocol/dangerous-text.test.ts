/** Characters that are obeyed instead of seen: one list, used by all code that shows third-party text. */
import { describe, expect, it } from "vitest";
import { printableJson } from "../../src/cli/ui/text.ts";
import { oneLine } from "../../src/text/one-line.ts";
import { printable } from "../../src/text/printable.ts";
import { escapeInJson, isDangerous, NO_DANGER, withoutDanger } from "../../src/protocol/dangerous-text.ts";

const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, at) => from + at);
const DANGEROUS: Record<string, number[]> = {
  "old and new control characters": [...range(0, 0x1f), ...range(0x7f, 0x9f)],
  "a soft hyphen": [0xad],
  "marks of direction": [0x61c, 0x200e, 0x200f, ...range(0x202a, 0x202e), ...range(0x2066, 0x2069)],
  "characters without width": [...range(0x200b, 0x200d), ...range(0x2060, 0x2065), 0xfeff, 0x34f, 0x180e],
  "line and paragraph separators": [0x2028, 0x2029],
  "variation selectors": [...range(0xfe00, 0xfe0f), ...range(0xe0100, 0xe01ef)],
  "tags, which spell a text nobody sees": range(0xe0000, 0xe007f),
  "letters that are not drawn": [0x115f, 0x1160, 0x3164, 0xffa0],
  "halves of characters and what is no character": [0xd800, 0xdfff, 0xfffe, 0x1ffff],
  "private use": [0xe000, 0xf0000],
};

describe.each(Object.entries(DANGEROUS))("%s", (_, codes) => {
  const chars = codes.map((code) => String.fromCodePoint(code));

  it("are known, all of them", () => {
    expect(chars.filter((char) => !isDangerous(`a${char}b`) || NO_DANGER.test(`a${char}b`))).toEqual([]);
  });

  it("become a blank in a line of a log, a message or a terminal", () => {
    expect(chars.filter((char) => oneLine(`a${char}b`) !== "a b" || withoutDanger(`a${char}${char}b`) !== "a b")).toEqual([]);
  });

  it("are written as escapes in JSON for people, which means the same", () => {
    for (const char of chars) {
      const shown = printableJson({ text: `a${char}b` });
      expect(shown).toMatch(/^[\u0020-\u007e]*$/);
      expect(JSON.parse(shown)).toEqual({ text: `a${char}b` });
    }
  });

  it("are written as codes in names", () => {
    expect(chars.filter((char) => !/^a\\u\{[0-9a-f]+\}b$/.test(printable(`a${char}b`)))).toEqual([]);
  });
});

it("what people write stays as it is", () => {
  const texts = ["plain", "Grüße, 世界", "עברית", "naïve – “quoted”", "🎉", "한국어", "a\u00a0b"];
  expect(texts.map((text) => withoutDanger(text))).toEqual(texts);
  expect(texts.filter((text) => isDangerous(text))).toEqual([]);
});

it("JSON keeps its own lines", () => {
  const shown = printableJson({ a: "x\ny", b: [1] }, 2);
  expect(shown.split("\n")).toHaveLength(6);
  expect(escapeInJson(shown)).toBe(shown);
});

it("the mark that makes a character an emoji stays in text that is shown, and one that follows nothing does not", () => {
  expect(withoutDanger("\u2699\uFE0F runs\uFE0F\uFE0F")).toBe("\u2699\uFE0F runs ");
});
