/** Inside the isolate: tr46's tables, from what host/bundler-idna.ts made of them. */
import { RUN_KINDS, unpackNumbers, usualMapping } from "../../../protocol/unicode/packing.ts";
import type { PackedPattern, PackedTable } from "../../../protocol/unicode/packing.ts";

/** tr46's numbers. */
const STATUS = { mapped: 1, valid: 2, disallowed: 3, deviation: 6, ignored: 7 } as const;
const ALL = 0x110000;

interface Run {
  readonly first: number;
  readonly kind: (typeof RUN_KINDS)[number];
  /** Where its mappings begin. */
  readonly at: number;
}

/**
 * A table of all code points, one row each, as far as tr46 can tell: it searches by halves, and reads a row's first field and the
 * rest of the row it was looking for.
 */
export function unpackTable({ runs: packed, mappings }: PackedTable): unknown {
  const runs: Run[] = [];
  let first = 0;
  let at = 0;
  for (const number of unpackNumbers(packed)) {
    const kind = RUN_KINDS[number % RUN_KINDS.length]!;
    const length = Math.floor(number / RUN_KINDS.length) + 1;
    runs.push({ first, kind, at });
    first += length;
    if (kind === "mapped" || kind === "deviation") at += length;
  }
  const statusOf = (code: number): [status: number, mapping?: string] => {
    const run = runs[lastBefore(runs, code)]!;
    if (run.kind === "mapped" || run.kind === "deviation") return [STATUS[run.kind], mappings[run.at + code - run.first]!];
    if (run.kind !== "usual") return [STATUS[run.kind]];
    const text = String.fromCodePoint(code);
    const mapped = usualMapping(text);
    return mapped === text ? [STATUS.valid] : [STATUS.mapped, mapped];
  };
  const get = (_: object, key: string): unknown => (key === "length" ? ALL : { 0: Number(key), slice: () => statusOf(Number(key)) });
  return new Proxy({}, { get: get as ProxyHandler<object>["get"] & {} });
}

function lastBefore(runs: readonly Run[], code: number): number {
  let low = 0;
  let high = runs.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (runs[middle]!.first <= code) low = middle;
    else high = middle - 1;
  }
  return low;
}

export function unpackPattern(parts: PackedPattern): RegExp {
  return new RegExp(parts.map((part) => (typeof part === "string" ? part : `[${unpackSet(part.set)}]`)).join(""), "u");
}

function unpackSet(text: string): string {
  const numbers = unpackNumbers(text);
  let set = "";
  let at = 0;
  for (let i = 0; i < numbers.length; i += 2) {
    at += numbers[i]!;
    set += `\\u{${at.toString(16)}}`;
    at += numbers[i + 1]!;
    if (numbers[i + 1]! > 0) set += `-\\u{${at.toString(16)}}`;
  }
  return set;
}
