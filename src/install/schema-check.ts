/**
 * Trusted side: does a value fit a stranger's JSON Schema? Both are data, and nothing in here is compiled into code. What a schema can cost has an end:
 * so many steps, so many levels, and patterns, which are programs of their own, run under V8's watchdog in a context without anything else in it. A schema
 * that goes past that is not checked, and that is said. SECURITY: test/install/config-schema.test.ts
 */
import { createContext, Script } from "node:vm";
import { isDeepStrictEqual } from "node:util";

export type Schema = boolean | { readonly [keyword: string]: unknown };

/** `path` from the value that was given. Values are never repeated: they may be secrets. */
export interface Misfit {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** It costs more than it may, or refers to nothing. */
export class Uncheckable extends Error {}

const MAX_STEPS = 20_000;
const MAX_DEPTH = 64;
/** For all patterns together. A good one takes microseconds; but on a busy machine whoever is timed may have to wait for a processor first. */
const PATTERNS_MS = 2_000;
const TRY = new Script("new RegExp(pattern, 'u').test(text)");
/** People mend one thing after the other. */
const MAX_MISFITS = 20;

/** Empty: it fits. Throws Uncheckable. */
export function misfits(schema: Schema, value: unknown): Misfit[] {
  return [...new Checker(schema).check(schema, value, [], 0)].slice(0, MAX_MISFITS);
}

type Path = readonly (string | number)[];
type Obj = Readonly<Record<string, unknown>>;

class Checker {
  readonly #root: Schema;
  #steps = 0;
  #patternsMs = PATTERNS_MS;
  /** Made when the first pattern is tried. */
  #scope: object | undefined;

  constructor(root: Schema) {
    this.#root = root;
  }

  check(schema: Schema, value: unknown, path: Path, depth: number): Misfit[] {
    if (++this.#steps > MAX_STEPS || depth > MAX_DEPTH) throw new Uncheckable("it takes too many steps");
    if (schema === true) return [];
    if (schema === false) return [{ path, message: "must not be there" }];
    const found: Misfit[] = [];
    const no = (message: string, at: Path = path): void => void found.push({ path: at, message });
    const inner = (next: unknown, at: unknown = value, where: Path = path): Misfit[] => this.check(next as Schema, at, where, depth + 1);
    const fits = (next: unknown, at: unknown = value): boolean => inner(next, at).length === 0;

    if (schema.$ref !== undefined) found.push(...inner(this.#resolve(schema.$ref as string)));
    if (schema.type !== undefined) {
      const types = [schema.type].flat() as string[];
      if (!types.some((type) => isOfType(value, type)))
        return [{ path, message: `must be ${types.map((type) => WORDS[type]).join(" or ")}` }];
    }
    if (schema.enum !== undefined && !(schema.enum as unknown[]).some((one) => isDeepStrictEqual(one, value)))
      no(`must be one of ${(schema.enum as unknown[]).map((one) => JSON.stringify(one)).join(", ")}`);
    if ("const" in schema && !isDeepStrictEqual(schema.const, value)) no(`must be ${JSON.stringify(schema.const)}`);

    if (typeof value === "number") for (const message of numberFaults(schema, value)) no(message);
    if (typeof value === "string") {
      // Characters, not halves of them.
      const length = Array.from(value).length;
      if (length < ((schema.minLength as number) ?? 0)) no(`must have at least ${schema.minLength as number} characters`);
      if (length > ((schema.maxLength as number) ?? Infinity)) no(`must have at most ${schema.maxLength as number} characters`);
      if (schema.pattern !== undefined && !this.#matches(schema.pattern as string, value)) no(`must match ${schema.pattern as string}`);
    }
    if (Array.isArray(value)) this.#array(schema, value, path, no, inner, fits, found);
    if (isObject(value)) this.#object(schema, value, path, no, inner, found);

    for (const one of (schema.allOf as Schema[]) ?? []) found.push(...inner(one));
    if (schema.anyOf !== undefined) found.push(...this.#nearest(schema.anyOf as Schema[], inner));
    if (schema.oneOf !== undefined) {
      const count = (schema.oneOf as Schema[]).filter((one) => fits(one)).length;
      if (count === 0) found.push(...this.#nearest(schema.oneOf as Schema[], inner));
      else if (count > 1) no(`fits ${count} of the alternatives, and must fit one`);
    }
    if (schema.not !== undefined && fits(schema.not)) no("is what it must not be");
    if (schema.if !== undefined) {
      const next = fits(schema.if) ? schema.then : schema.else;
      if (next !== undefined) found.push(...inner(next));
    }
    return found;
  }

  #array(
    schema: Obj,
    value: readonly unknown[],
    path: Path,
    no: (message: string) => void,
    inner: (next: unknown, at?: unknown, where?: Path) => Misfit[],
    fits: (next: unknown, at?: unknown) => boolean,
    found: Misfit[],
  ): void {
    // What an older draft said with a list.
    const first = (schema.prefixItems ?? (Array.isArray(schema.items) ? schema.items : [])) as Schema[];
    const rest = Array.isArray(schema.items) ? schema.additionalItems : schema.items;
    for (const [index, item] of value.entries()) {
      const next = index < first.length ? first[index] : rest;
      if (next !== undefined) found.push(...inner(next, item, [...path, index]));
    }
    if (value.length < ((schema.minItems as number) ?? 0)) no(`must have at least ${schema.minItems as number} entries`);
    if (value.length > ((schema.maxItems as number) ?? Infinity)) no(`must have at most ${schema.maxItems as number} entries`);
    if (schema.uniqueItems === true) {
      this.#steps += (value.length * value.length) / 2;
      if (this.#steps > MAX_STEPS) throw new Uncheckable("it takes too many steps");
      if (value.some((one, at) => value.slice(0, at).some((other) => isDeepStrictEqual(one, other)))) no("has an entry twice");
    }
    if (schema.contains !== undefined && !value.some((item) => fits(schema.contains, item))) no("lacks an entry that it must have");
  }

  #object(
    schema: Obj,
    value: Obj,
    path: Path,
    no: (message: string, at?: Path) => void,
    inner: (next: unknown, at?: unknown, where?: Path) => Misfit[],
    found: Misfit[],
  ): void {
    const keys = Object.keys(value);
    const properties = (schema.properties ?? {}) as Record<string, Schema>;
    const patterns = Object.entries((schema.patternProperties ?? {}) as Record<string, Schema>);
    for (const name of (schema.required as string[]) ?? []) if (!Object.hasOwn(value, name)) no("is missing", [...path, name]);
    for (const [name, needed] of Object.entries((schema.dependentRequired ?? {}) as Record<string, string[]>))
      for (const other of Object.hasOwn(value, name) ? needed : [])
        if (!Object.hasOwn(value, other)) no(`is missing: ${name} is there`, [...path, other]);
    for (const name of keys) {
      const matching = patterns.filter(([pattern]) => this.#matches(pattern, name)).map(([, next]) => next);
      const all = Object.hasOwn(properties, name) ? [properties[name]!, ...matching] : matching;
      for (const next of all) found.push(...inner(next, value[name], [...path, name]));
      if (all.length > 0 || schema.additionalProperties === undefined) continue;
      if (schema.additionalProperties === false)
        no(`is not a key that it has (${Object.keys(properties).join(", ") || "it has none"})`, [...path, name]);
      else found.push(...inner(schema.additionalProperties, value[name], [...path, name]));
    }
    if (schema.propertyNames !== undefined) for (const name of keys) found.push(...inner(schema.propertyNames, name, [...path, name]));
    if (keys.length < ((schema.minProperties as number) ?? 0)) no(`must have at least ${schema.minProperties as number} keys`);
    if (keys.length > ((schema.maxProperties as number) ?? Infinity)) no(`must have at most ${schema.maxProperties as number} keys`);
  }

  /** What is wrong by the alternative that was meant: the one that came furthest. */
  #nearest(alternatives: readonly Schema[], inner: (next: unknown) => Misfit[]): Misfit[] {
    const all = alternatives.map((one) => inner(one));
    if (all.some(({ length }) => length === 0)) return [];
    const depth = (some: readonly Misfit[]): number => Math.max(...some.map(({ path }) => path.length));
    return all.toSorted((a, b) => depth(b) - depth(a) || a.length - b.length)[0] ?? [];
  }

  #resolve(ref: string): Schema {
    let at: unknown = this.#root;
    for (const step of ref.split("/").slice(1)) {
      const name = decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
      at = (isObject(at) || Array.isArray(at)) && Object.hasOwn(at, name) ? (at as Obj)[name] : undefined;
    }
    if (typeof at !== "boolean" && !isObject(at)) throw new Uncheckable(`"${ref}" leads nowhere`);
    return at;
  }

  /** The context holds two strings and nothing of ours; V8 ends what takes longer. */
  #matches(pattern: string, text: string): boolean {
    const startedMs = performance.now();
    const scope = (this.#scope ??= createContext({ __proto__: null }, { codeGeneration: { strings: false, wasm: false } }));
    Object.assign(scope, { pattern, text });
    try {
      return TRY.runInContext(scope, { timeout: Math.max(1, Math.ceil(this.#patternsMs)) }) === true;
    } catch {
      throw new Uncheckable(`the pattern ${pattern} takes too long`);
    } finally {
      this.#patternsMs -= performance.now() - startedMs;
    }
  }
}

function isObject(value: unknown): value is Obj {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const WORDS: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  integer: "a whole number",
  boolean: "true or false",
  null: "null",
  array: "a list",
  object: "an object",
};

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "object":
      return isObject(value);
    case "integer":
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

function* numberFaults(schema: Obj, value: number): Generator<string> {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema as Record<string, number | undefined>;
  if (minimum !== undefined && value < minimum) yield `must be at least ${minimum}`;
  if (maximum !== undefined && value > maximum) yield `must be at most ${maximum}`;
  if (exclusiveMinimum !== undefined && value <= exclusiveMinimum) yield `must be more than ${exclusiveMinimum}`;
  if (exclusiveMaximum !== undefined && value >= exclusiveMaximum) yield `must be less than ${exclusiveMaximum}`;
  if (multipleOf !== undefined && !Number.isInteger(value / multipleOf)) yield `must be a multiple of ${multipleOf}`;
}
