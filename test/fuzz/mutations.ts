/** Damage to what is real: texts with parts changed, cut, doubled or exchanged, and JSON values with a value somewhere in them replaced. */
import * as fc from "fast-check";

/** Numbers at which something is over. */
const EDGES = [-1, 0, 1, 255, 256, 65_535, 65_536, 2 ** 31, 2 ** 32, 2 ** 53 - 1, 2 ** 53, 1e308, -0, 0.5, Number.NaN, Infinity];
export const edgeNumber = fc.constantFrom(...EDGES);
const KEYS = ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "length", "then", "toJSON", "", "0", "\u0000", "é"];
const TOKENS = [
  "{",
  "}",
  "[",
  "]",
  ",",
  ":",
  ";",
  "\n",
  '"',
  "\\",
  "\\u0000",
  "null",
  "true",
  "-",
  "e9",
  "1e999",
  "A",
  "R",
  "\ud800",
  "\u202e",
  "%",
  "/",
  "../",
  "0".repeat(40),
];

type Edit =
  | { readonly kind: "set"; readonly at: number; readonly text: string }
  | { readonly kind: "cut" | "double"; readonly at: number; readonly length: number }
  | { readonly kind: "cross"; readonly at: number; readonly other: number };

const at = fc.double({ min: 0, max: 1, noNaN: true });
const edit: fc.Arbitrary<Edit> = fc.oneof(
  fc.record({
    kind: fc.constant("set" as const),
    at,
    text: fc.oneof(fc.constantFrom(...TOKENS), fc.string({ maxLength: 4 }), edgeNumber.map(String)),
  }),
  fc.record({ kind: fc.constantFrom("cut" as const, "double" as const), at, length: fc.nat(40) }),
  fc.record({ kind: fc.constant("cross" as const), at, other: fc.nat() }),
);

function edited(text: string, change: Edit, samples: readonly string[]): string {
  const place = Math.floor(change.at * text.length);
  switch (change.kind) {
    case "set":
      return text.slice(0, place) + change.text + text.slice(place + 1);
    case "cut":
      return text.slice(0, place) + text.slice(place + change.length);
    case "double":
      return text.slice(0, place + change.length) + text.slice(place);
    default: {
      const other = samples[change.other % samples.length]!;
      return text.slice(0, place) + other.slice(Math.floor(change.at * other.length));
    }
  }
}

/** One of the samples as it is, or with a few changes. */
export function damaged(samples: readonly string[], maxEdits = 3): fc.Arbitrary<string> {
  return fc
    .tuple(fc.constantFrom(...samples), fc.array(edit, { maxLength: maxEdits }))
    .map(([text, edits]) => edits.reduce((now, change) => edited(now, change, samples), text));
}

const deep = fc.integer({ min: 1, max: 3_000 }).map((depth) => `${"[".repeat(depth)}${"]".repeat(depth)}`);

/** Values that break what is not careful. JSON has no more than these. */
export const oddValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  edgeNumber.map((number) => (Number.isFinite(number) ? number : null)),
  fc.constantFrom(...KEYS).map((key) => ({ [key]: 1 })),
  fc.integer({ min: 0, max: 5_000 }).map((length) => "x".repeat(length)),
  fc.integer({ min: 0, max: 2_000 }).map((length) => Array.from({ length }, (_, index) => index)),
  deep.map((text) => JSON.parse(text) as unknown),
  fc.constantFrom("\u202e\u0000\u001b[2J", "../../etc/passwd", "javascript:", "https://user:pass@x.example/#", "\ud800"),
);

/** Replaces, drops or renames one value somewhere inside of it. */
export function bent(values: readonly unknown[], maxBends = 3): fc.Arbitrary<unknown> {
  const bend = fc.record({
    path: fc.array(fc.nat(), { maxLength: 6 }),
    how: fc.constantFrom("replace", "drop", "rename", "add"),
    key: fc.oneof(fc.constantFrom(...KEYS), fc.string({ maxLength: 8 })),
    value: oddValue,
  });
  return fc
    .tuple(fc.constantFrom(...values), fc.array(bend, { maxLength: maxBends }))
    .map(([value, bends]) => bends.reduce<unknown>((now, { path, how, key, value: odd }) => bentAt(now, path, how, key, odd), value));
}

function bentAt(value: unknown, path: readonly number[], how: string, key: string, odd: unknown): unknown {
  if (typeof value !== "object" || value === null || path.length === 0)
    return how === "replace" || typeof value !== "object" ? odd : with_(value, key, odd);
  const entries = Object.entries(value);
  if (entries.length === 0) return with_(value, key, odd);
  const [first, ...rest] = path;
  const place = first! % entries.length;
  const [name, inner] = entries[place]!;
  if (rest.length > 0) entries[place] = [name, bentAt(inner, rest, how, key, odd)];
  else if (how === "replace") entries[place] = [name, odd];
  else if (how === "drop") entries.splice(place, 1);
  else if (how === "rename") entries[place] = [key, inner];
  else entries.push([key, odd]);
  return Array.isArray(value) ? entries.map(([, one]) => one) : Object.fromEntries(entries);
}

function with_(value: object | null, key: string, odd: unknown): unknown {
  return Array.isArray(value) ? [...(value as unknown[]), odd] : Object.fromEntries([...Object.entries(value ?? {}), [key, odd]]);
}
