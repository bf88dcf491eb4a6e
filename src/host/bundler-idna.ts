/** Bundler process: packs the tables of tr46, see protocol/unicode/packing.ts. */
import { packNumber, RUN_KINDS, usualMapping } from "../protocol/unicode/packing.ts";
import type { PackedPattern, PackedTable, RunKind } from "../protocol/unicode/packing.ts";

/** tr46's own: a code point or the first and last of several, a status, and what it is mapped to. */
export type Tr46Row = readonly [range: number | readonly [number, number], status: number, mapping?: string];
const STATUS: Readonly<Record<number, RunKind>> = { 1: "mapped", 2: "valid", 3: "disallowed", 6: "deviation", 7: "ignored" };

export function packTable(rows: readonly Tr46Row[]): PackedTable {
  let runs = "";
  const mappings: string[] = [];
  let current: RunKind | undefined;
  let length = 0;
  const end = (): void => {
    if (current !== undefined) runs += packNumber((length - 1) * RUN_KINDS.length + RUN_KINDS.indexOf(current));
  };
  const add = (kind: RunKind, count: number): void => {
    if (kind !== current) {
      end();
      current = kind;
      length = 0;
    }
    length += count;
  };
  for (const [range, status, mapping = ""] of rows) {
    const [first, last] = typeof range === "number" ? [range, range] : range;
    const kind = STATUS[status]!;
    if (kind === "valid") {
      for (const [isUsual, count] of valid(first, last)) add(isUsual ? "usual" : "valid", count);
    } else if (kind === "mapped" && usualMapping(String.fromCodePoint(first)) === mapping) {
      add("usual", last - first + 1);
    } else {
      add(kind, last - first + 1);
      if (kind === "mapped" || kind === "deviation") for (let code = first; code <= last; code++) mappings.push(mapping);
    }
  }
  end();
  return { runs, mappings };
}

/** A range is nearly always usual as a whole, and that is quickly seen. */
function valid(first: number, last: number): [isUsual: boolean, count: number][] {
  const codes = Array.from({ length: last - first + 1 }, (_, at) => first + at);
  const whole = codes.map((code) => String.fromCodePoint(code)).join(" ");
  if (usualMapping(whole) === whole) return [[true, codes.length]];
  return codes.map((code) => [usualMapping(String.fromCodePoint(code)) === String.fromCodePoint(code), 1]);
}

const ESCAPE = /\\u\{([\dA-F]+)\}|\\u([\dA-F]{4})|\\x([\dA-F]{2})|\\(0)|\\?([^])/iuy;

export function packPattern(source: string): PackedPattern {
  const parts: (string | { set: string })[] = [];
  for (const [text, set] of source.matchAll(/\[((?:\\[^]|[^\]\\])*)\]|(?:\\[^]|[^[\\])+/gu))
    parts.push(set === undefined || set.startsWith("^") ? text : { set: packSet(set) });
  return parts;
}

function packSet(text: string): string {
  const codes: [code: number, isDash: boolean][] = [];
  ESCAPE.lastIndex = 0;
  for (let found = ESCAPE.exec(text); found; found = ESCAPE.exec(text)) {
    const hex = found[1] ?? found[2] ?? found[3];
    codes.push([hex === undefined ? (found[4] ? 0 : found[5]!.codePointAt(0)!) : Number.parseInt(hex, 16), found[0] === "-"]);
  }
  let packed = "";
  let at = 0;
  for (let i = 0; i < codes.length; i++) {
    const first = codes[i]![0];
    const last = codes[i + 1]?.[1] && i + 2 < codes.length ? codes[i + 2]![0] : first;
    if (last !== first || codes[i + 1]?.[1]) i += 2;
    packed += packNumber(first - at) + packNumber(last - first);
    at = last;
  }
  return packed;
}
