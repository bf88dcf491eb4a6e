/**
 * Checks quickly whether a schema accepts an event or a context, without making a copy as zod's parsing does. It is
 * compiled from the schema once. If it says no, or does not know a kind of schema, zod decides and writes the message.
 */
import type * as z from "zod";

export type Accepts = (value: unknown) => boolean;

const known = new WeakMap<z.ZodType, Accepts>();

export function acceptsOf(schema: z.ZodType): Accepts {
  let check = known.get(schema);
  if (!check) known.set(schema, (check = checkOf(schema)));
  return check;
}

/** The part of zod's own description of a schema that is used here. */
interface Definition {
  readonly type: string;
  readonly checks?: readonly unknown[];
  readonly coerce?: boolean;
  /** For kinds that are built on another one, such as integers on numbers. */
  readonly check?: unknown;
  readonly format?: unknown;
  readonly innerType: z.ZodType;
  readonly element: z.ZodType;
  readonly shape: Readonly<Record<string, z.ZodType>>;
  readonly catchall?: z.ZodType;
  readonly options: readonly z.ZodType[];
  readonly entries: Readonly<Record<string, unknown>>;
  readonly values: readonly unknown[];
  readonly keyType: z.ZodType;
  readonly valueType: z.ZodType;
}

/** Schemas being compiled: a schema may contain itself. */
const open = new Set<z.ZodType>();

function checkOf(schema: z.ZodType): Accepts {
  // It will be known by the time it is called.
  if (open.has(schema)) return (value) => acceptsOf(schema)(value);
  open.add(schema);
  try {
    return madeOf(schema) ?? ((value) => schema.safeParse(value).success);
  } finally {
    open.delete(schema);
  }
}

function madeOf(schema: z.ZodType): Accepts | undefined {
  const definition = schema._zod.def as unknown as Definition;
  const least = leastLength(definition);
  if (least !== undefined) return (value) => typeof value === "string" && value.length >= least;
  return isUnconditional(definition) ? MAKERS[definition.type]?.(definition) : undefined;
}

/** A text with a length limit and no other condition. Undefined: it is something else. */
function leastLength(definition: Definition): number | undefined {
  const { type, checks } = definition;
  const [only] = (checks ?? []) as { readonly _zod: { readonly def: { readonly check: string; readonly minimum?: number } } }[];
  if (type !== "string" || !isUnconditional({ ...definition, checks: [] }) || checks?.length !== 1 || only!._zod.def.check !== "min_length")
    return undefined;
  return only!._zod.def.minimum;
}

function isUnconditional({ checks, coerce, check, format }: Definition): boolean {
  return (checks?.length ?? 0) === 0 && coerce !== true && check === undefined && format === undefined;
}

/** By kind of schema. Undefined: zod decides. */
const MAKERS: Readonly<Record<string, (definition: Definition) => Accepts | undefined>> = {
  string: () => (value) => typeof value === "string",
  number: () => (value) => Number.isFinite(value),
  boolean: () => (value) => typeof value === "boolean",
  undefined: () => (value) => value === undefined,
  unknown: () => () => true,
  any: () => () => true,
  enum: ({ entries }) => isOneOf(Object.values(entries)),
  literal: ({ values }) => isOneOf(values),
  optional: ({ innerType }) => {
    const check = checkOf(innerType);
    return (value) => value === undefined || check(value);
  },
  nullable: ({ innerType }) => {
    const check = checkOf(innerType);
    return (value) => value === null || check(value);
  },
  array: ({ element }) => {
    const check = checkOf(element);
    return (value) => {
      if (!Array.isArray(value)) return false;
      // Not `every`, which skips holes.
      for (let at = 0; at < value.length; at++) if (!check(value[at])) return false;
      return true;
    };
  },
  union: ({ options }) => {
    const checks = options.map(checkOf);
    return (value) => checks.some((check) => check(value));
  },
  record: ({ keyType, valueType }) => {
    if (!isPlainly(keyType, "string")) return undefined;
    const check = isPlainly(valueType, "unknown") ? undefined : checkOf(valueType);
    return (value) => {
      // Symbol keys do not count: JSON leaves them out, so no plugin sees them.
      if (typeof value !== "object" || value === null) return false;
      const prototype: unknown = Object.getPrototypeOf(value);
      if (prototype !== Object.prototype && prototype !== null) return false;
      return !check || Object.values(value).every(check);
    };
  },
  object: ({ shape, catchall }) => {
    // Strict objects are rare, and not on the path of a call.
    if (catchall && !isPlainly(catchall, "unknown")) return undefined;
    const checks = Object.entries(shape).map(([name, field]) => ({ name, check: checkOf(field) }));
    return (value) => {
      if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
      for (const { name, check } of checks) if (!check((value as Record<string, unknown>)[name])) return false;
      return true;
    };
  },
};

function isPlainly(schema: z.ZodType, type: string): boolean {
  const definition = schema._zod.def as unknown as Definition;
  return definition.type === type && isUnconditional(definition);
}

function isOneOf(values: readonly unknown[]): Accepts {
  const all = new Set(values);
  return (value) => all.has(value);
}
