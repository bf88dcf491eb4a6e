/**
 * Runs in schema-thread.ts: checks a value against a third party's JSON Schema with @cfworker/json-schema, and says in
 * plain words what does not fit. Values are never repeated, since they may be secrets.
 */
import { format, Validator } from "@cfworker/json-schema";
import type { OutputUnit } from "@cfworker/json-schema";

export type Schema = boolean | { readonly [keyword: string]: unknown };

export interface Misfit {
  /** From the value that was checked. */
  readonly path: readonly string[];
  readonly message: string;
}

/** More at once would not be read. */
const MAX_MISFITS = 20;

// In JSON Schema 2020-12, formats inform and do not validate.
for (const name of Object.keys(format)) delete format[name];

/** Empty: it fits. Throws if the schema cannot be used, such as one with a reference that leads nowhere. */
export function misfits(schema: Schema, value: unknown): Misfit[] {
  const { valid, errors } = new Validator(schema, "2020-12", false).validate(value);
  if (valid) return [];
  const found = [...plain(errors, schema)].filter(
    (one, at, all) => all.findIndex(({ path, message }) => message === one.message && String(path) === String(one.path)) === at,
  );
  return found.length > 0 ? found.slice(0, MAX_MISFITS) : [{ path: [], message: "does not fit the schema" }];
}

/** The validator lists an enclosing error before the error itself. Only the innermost one is informative. */
function* plain(units: readonly OutputUnit[], schema: Schema): Generator<Misfit> {
  for (let at = 0; at < units.length; at += 1) {
    const unit = units[at]!;
    const { keyword, instanceLocation, keywordLocation, error } = unit;
    const path = stepsOf(instanceLocation);
    const bound = valueAt(schema, keywordLocation);
    if (keyword === "anyOf" || keyword === "oneOf") {
      const end = endOfNested(units, at);
      const matches = Number(/\((\d+) matches\)/.exec(error)?.[1] ?? 0);
      if (matches > 1) yield { path, message: `fits ${matches} of the alternatives, and must fit one` };
      else yield* nearest(units.slice(at + 1, end), keywordLocation, schema);
      at = end - 1;
    } else if (keyword === "additionalProperties") {
      const { properties = {} } = valueAt(schema, keywordLocation.slice(0, keywordLocation.lastIndexOf("/"))) as { properties?: object };
      const name = /^Property "(.*)" does not match/s.exec(error)?.[1] ?? "";
      const known = Object.keys(properties);
      // The validator takes a known property that does not fit for an additional one.
      if (known.includes(name)) at = endOfNested(units, at) - 1;
      else if (bound === false) {
        yield { path: [...path, name], message: `is not a known key (${known.join(", ") || "no keys are allowed here"})` };
        at += 1;
      }
    } else if (keyword === "required" || keyword === "dependentRequired")
      yield { path: [...path, /"([^"]*)"\.$/s.exec(error)?.[1] ?? ""], message: "is missing" };
    else {
      const message = MESSAGES[keyword]?.(bound);
      if (message !== undefined) yield { path, message };
    }
  }
}

/** The alternative that came furthest is the one that was meant. */
function nearest(units: readonly OutputUnit[], location: string, schema: Schema): Misfit[] {
  const groups = new Map<string, OutputUnit[]>();
  let current = "";
  for (const unit of units) {
    if (unit.keywordLocation.startsWith(`${location}/`)) current = unit.keywordLocation.slice(location.length + 1).split("/", 1)[0]!;
    groups.set(current, [...(groups.get(current) ?? []), unit]);
  }
  const all = Array.from(groups.values(), (group) => [...plain(group, schema)]).filter(({ length }) => length > 0);
  const depth = (some: readonly Misfit[]): number => Math.max(...some.map(({ path }) => path.length));
  return all.toSorted((a, b) => depth(b) - depth(a) || a.length - b.length)[0] ?? [];
}

/**
 * Units of subschemas follow. One of a `false` schema has no location in the schema, and belongs to the unit before it.
 */
function endOfNested(units: readonly OutputUnit[], at: number): number {
  let end = at + 1;
  while (
    end < units.length &&
    (units[end]!.keyword === "false" || units[end]!.keywordLocation.startsWith(`${units[at]!.keywordLocation}/`))
  )
    end += 1;
  return end;
}

/** `#/a~1b/0` → `a/b`, `0`. */
function stepsOf(pointer: string): string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((step) => decodeURI(step).replaceAll("~1", "/").replaceAll("~0", "~"));
}

function valueAt(schema: Schema, location: string): unknown {
  let at: unknown = schema;
  for (const step of stepsOf(location)) {
    if (typeof at !== "object" || at === null) return undefined;
    const next = (at as Record<string, unknown>)[step];
    at = step === "$ref" && typeof next === "string" ? valueAt(schema, next) : next;
  }
  return at;
}

const TYPES: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  integer: "a whole number",
  boolean: "true or false",
  null: "null",
  array: "an array",
  object: "an object",
};

const MESSAGES: Readonly<Record<string, (bound: unknown) => string>> = {
  false: () => "is not allowed",
  type: (types) =>
    `must be ${[types]
      .flat()
      .map((type) => TYPES[String(type)])
      .join(" or ")}`,
  enum: (values) => `must be one of ${(values as unknown[]).map((one) => JSON.stringify(one)).join(", ")}`,
  const: (value) => `must be ${JSON.stringify(value)}`,
  not: () => "is what the schema excludes",
  minimum: (bound) => `must be at least ${String(bound)}`,
  maximum: (bound) => `must be at most ${String(bound)}`,
  exclusiveMinimum: (bound) => `must be more than ${String(bound)}`,
  exclusiveMaximum: (bound) => `must be less than ${String(bound)}`,
  multipleOf: (bound) => `must be a multiple of ${String(bound)}`,
  minLength: (bound) => `must have at least ${String(bound)} characters`,
  maxLength: (bound) => `must have at most ${String(bound)} characters`,
  pattern: (bound) => `must match ${String(bound)}`,
  minItems: (bound) => `must have at least ${String(bound)} entries`,
  maxItems: (bound) => `must have at most ${String(bound)} entries`,
  uniqueItems: () => "has an entry twice",
  contains: () => "lacks a required entry",
  minContains: () => "lacks a required entry",
  maxContains: () => "has too many entries of one kind",
  minProperties: (bound) => `must have at least ${String(bound)} keys`,
  maxProperties: (bound) => `must have at most ${String(bound)} keys`,
};
