/** Packed tables say what tr46's own say, code point by code point. */
import { createRequire } from "node:module";
import { expect, it } from "vitest";
import { packPattern, packTable } from "../../src/host/bundler-idna.ts";
import type { Tr46Row } from "../../src/host/bundler-idna.ts";
import { unpackPattern, unpackTable } from "../../src/sandbox/guest/web/idna-unpack.ts";

const tr46 = createRequire(import.meta.resolve("tr46"));
const CHARACTERS = 0x110000;

it("the table gives every code point the status and mapping it had", () => {
  const rows = tr46("./lib/mappingTable.json") as Tr46Row[];
  const packed = packTable(rows);
  expect(JSON.stringify(packed).length).toBeLessThan(6_000);
  const table = unpackTable(packed) as { length: number; [code: number]: { slice(from: 1): [status: number, mapping?: string] } };
  expect(table.length).toBe(CHARACTERS);
  const different: unknown[] = [];
  for (const [range, status, mapping] of rows) {
    const [first, last] = typeof range === "number" ? [range, range] : range;
    for (let code = first; code <= last; code++) {
      const [gotStatus, gotMapping] = table[code]!.slice(1);
      if (gotStatus !== status || (gotMapping ?? "") !== (mapping ?? "")) different.push([code, gotStatus, gotMapping]);
    }
  }
  expect(different).toEqual([]);
});

it("every pattern finds the characters it found", () => {
  const patterns = Object.entries(tr46("./lib/regexes.js") as Record<string, RegExp>);
  expect(patterns.length).toBeGreaterThan(10);
  // Beyond these there are ideographs, which are all alike, and nothing.
  const codes = [...Array(0x20000).keys(), ...Array.from({ length: 0x1000 }, (_, at) => 0xe0000 + at), CHARACTERS - 1];
  for (const [name, pattern] of patterns) {
    const unpacked = unpackPattern(packPattern(pattern.source));
    const different: number[] = [];
    for (const code of codes) {
      const text = String.fromCodePoint(code);
      if (pattern.test(text) !== unpacked.test(text)) different.push(code);
    }
    expect([name, different]).toEqual([name, []]);
  }
});
