/** A plugin's first error must not cost the gateway a quarter of a second: places are found as Node finds them, from a map that is read as far as needed. */
import { SourceMap } from "node:module";
import { array, assert, integer, property, record } from "fast-check";
import { expect, it } from "vitest";
import { LIMITS } from "../../../src/protocol/limits.ts";
import { SourceLines } from "../../../src/host/report/source-lines.ts";

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

function written(value: number): string {
  let rest = value < 0 ? (-value << 1) | 1 : value << 1;
  let text = "";
  do {
    const digit = rest & 31;
    rest >>>= 5;
    text += DIGITS[rest > 0 ? digit | 32 : digit];
  } while (rest > 0);
  return text;
}

interface Segment {
  readonly step: number;
  readonly source: number;
  readonly line: number;
  readonly column: number;
}

/** `lines` of segments, each with absolute numbers but for its distance from the one before it. */
function mapOf(lines: readonly (readonly Segment[])[]): string {
  let last = { source: 0, line: 0, column: 0 };
  const mappings = lines
    .map((segments) =>
      segments
        .map(({ step, source, line, column }) => {
          const text = [step, source - last.source, line - last.line, column - last.column].map(written).join("");
          last = { source, line, column };
          return text;
        })
        .join(","),
    )
    .join(";");
  return JSON.stringify({ version: 3, sources: ["a.ts", "b.ts", "c.ts"], names: [], mappings });
}

const segment = record({
  step: integer({ min: 1, max: 2_000 }),
  source: integer({ min: 0, max: 2 }),
  line: integer({ min: 0, max: 100_000 }),
  column: integer({ min: 0, max: 500 }),
});

it("a place is found where Node finds it", () => {
  assert(
    property(array(array(segment, { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 8 }), (lines) => {
      const map = mapOf(lines);
      const [ours, nodes] = [new SourceLines(map), new SourceMap(JSON.parse(map) as ConstructorParameters<typeof SourceMap>[0])];
      for (const [at, segments] of lines.entries()) {
        const first = segments[0]!.step;
        for (const column of [first + 1, first + 7, first + 5_000]) {
          const { fileName, lineNumber, columnNumber } = nodes.findOrigin(at + 1, column) as {
            fileName: string;
            lineNumber: number;
            columnNumber: number;
          };
          expect(ours.find(at + 1, column)).toEqual({ file: fileName, line: lineNumber, column: columnNumber });
        }
        expect(ours.find(at + 1, first)).toBeUndefined();
      }
      expect(ours.find(lines.length + 1, 1)).toBeUndefined();
    }),
  );
});

it("a place in a bundle of several scripts is found in the script's own map, where Node finds it", () => {
  const sections = [
    { offset: { line: 3, column: 0 }, map: JSON.parse(mapOf([[{ step: 2, source: 0, line: 5, column: 1 }]])) as object },
    { offset: { line: 9, column: 4 }, map: JSON.parse(mapOf([[{ step: 0, source: 1, line: 7, column: 3 }]])) as object },
  ];
  const map = { version: 3, sections };
  const [ours, nodes] = [new SourceLines(JSON.stringify(map)), new SourceMap(map as unknown as ConstructorParameters<typeof SourceMap>[0])];
  for (const [line, column] of [
    [4, 3],
    [4, 9],
    [10, 5],
    [10, 12],
  ] as const) {
    const { fileName, lineNumber, columnNumber } = nodes.findOrigin(line, column) as Record<string, unknown>;
    expect(ours.find(line, column)).toEqual({ file: fileName, line: lineNumber, column: columnNumber });
  }
  expect([ours.find(2, 1), ours.find(4, 1)]).toEqual([undefined, undefined]);
});

it.each([
  ["no JSON", "{"],
  ["no map", "{}"],
  ["numbers that never end", JSON.stringify({ sources: ["a"], mappings: "g".repeat(1_000) })],
  ["what is no number", JSON.stringify({ sources: ["a"], mappings: "€€;~~,,\u0000" })],
  ["a source that is not there", JSON.stringify({ sources: [], mappings: "AAAA" })],
  ["a map that is too long", JSON.stringify({ sources: ["a"], mappings: "AAAA,".repeat(LIMITS.bundler.sourceMapChars / 5 + 1) })],
])("%s has no places", (_, map) => {
  expect(new SourceLines(map).find(1, 1)).toBeUndefined();
});
