/**
 * How the tables of UTS #46 travel inside the guest's library: host/bundler-idna.ts packs tr46's own at build time, a cell unpacks
 * them when it meets a host name outside ASCII. 220 KB become 25: most of what the tables say is what normalization and
 * lower-casing do anyway, and V8 knows those.
 */

/** What holds for a run of code points. Its number counts within `RUN_KINDS`, so the order matters. */
export const RUN_KINDS = ["usual", "disallowed", "ignored", "valid", "mapped", "deviation"] as const;
export type RunKind = (typeof RUN_KINDS)[number];

/** What a usual code point is mapped to; to itself: it is valid. */
export function usualMapping(text: string): string {
  return text.normalize("NFKC").toLowerCase().normalize("NFKC");
}

/** Numbers as letters to the base of 26; the last digit of each is a capital. */
export function packNumber(value: number): string {
  let text = String.fromCharCode(65 + (value % 26));
  for (let rest = Math.floor(value / 26); rest > 0; rest = Math.floor(rest / 26)) text = String.fromCharCode(97 + (rest % 26)) + text;
  return text;
}

export function unpackNumbers(text: string): number[] {
  const numbers: number[] = [];
  let value = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    const isLast = code < 97;
    value = value * 26 + code - (isLast ? 65 : 97);
    if (!isLast) continue;
    numbers.push(value);
    value = 0;
  }
  return numbers;
}

/** What a packed table is: the runs, and the mappings of those that are not usual, in their order. */
export interface PackedTable {
  readonly runs: string;
  readonly mappings: readonly string[];
}

/** A regular expression in pieces: text as it is, and sets of characters as distances between and lengths of their ranges. */
export type PackedPattern = readonly (string | { readonly set: string })[];
