/**
 * Trusted side, in an author's test: events that nobody thought of. They are generated from the hook's own schema, with a
 * seed, so that a failure can be repeated; one that makes the plugin throw or overrun is made smaller until it does no
 * longer.
 */
import type { AnyHook } from "../../protocol/catalog.ts";
import { CreelError } from "../../protocol/errors.ts";
import { hookSchemas } from "../../protocol/rules/json-schema.ts";
import type { JsonSchema } from "../../protocol/rules/json-schema.ts";
import { ranOutOfCpu } from "../../protocol/outcome.ts";
import type { Call, Outcome } from "../../protocol/outcome.ts";

export interface FuzzOptions {
  /** How many events (default: 100). */
  readonly runs?: number;
  /** The same seed gives the same events (default: 1). */
  readonly seed?: number;
  /** Fields that each event has as they are here: the `toolName` that a handler's `matcher` lets through, and the like. */
  readonly fields?: Readonly<Record<string, unknown>>;
}

export interface FuzzFailure {
  /** The smallest event that was found. */
  readonly event: Record<string, unknown>;
  readonly call: Call;
}

export interface FuzzReport {
  readonly seed: number;
  /** Events that the plugin was called with. */
  readonly runs: number;
  /** Undefined: every event was answered. */
  readonly failure: FuzzFailure | undefined;
}

/** Texts that programs often get wrong. */
const TEXTS = [
  "",
  " ",
  "0",
  "null",
  "__proto__",
  "../../x",
  "rm -rf /",
  "é\u0301",
  "\u0000",
  "😀",
  "a".repeat(3_000),
  "{",
  "<b>",
  "%s",
  "\r\n",
];
const NUMBERS = [0, 1, -1, 0.5, 2 ** 31, Number.MAX_SAFE_INTEGER];
const MAX_DEPTH = 4;
/** Each try runs the plugin. */
const MAX_SHRINKS = 400;
/** Of a longer text, characters in the middle are not tried one by one. */
const SHORT = 24;

type Run = (event: Record<string, unknown>) => Promise<Outcome>;

/** Rejects if no event reached the plugin: that would prove nothing. */
export async function fuzz(hook: AnyHook, run: Run, { runs = 100, seed = 1, fields = {} }: FuzzOptions = {}): Promise<FuzzReport> {
  const random = generator(seed);
  const schema = hookSchemas(hook).event;
  let called = 0;
  let why = "the handler's own options, such as its matcher, leave them out";
  for (let at = 0; at < runs; at++) {
    const event = { ...(generate(schema, random, 0) as Record<string, unknown>), ...fields };
    const outcome = await outcomeOf(run, event);
    if (outcome instanceof CreelError) why = outcome.message;
    if (outcome instanceof CreelError || !outcome.calls.some(({ status }) => status !== "skipped")) continue;
    called += 1;
    const call = failed(outcome);
    if (call) return { seed, runs: called, failure: await shrunk({ event, call }, schema, run, fields) };
  }
  if (called === 0 && runs > 0)
    throw new Error(`the plugin was called with none of ${runs} events: ${why}; give the fields that it takes as "fields"`);
  return { seed, runs: called, failure: undefined };
}

/** What a schema cannot say in JSON, the host checks: an event that it refuses proves nothing. */
async function outcomeOf(run: Run, event: Record<string, unknown>): Promise<Outcome | CreelError> {
  try {
    return await run(event);
  } catch (error) {
    if (error instanceof CreelError && (error.code === "ERR_EVENT_INVALID" || error.code === "ERR_EVENT_SIZE")) return error;
    throw error;
  }
}

function failed(outcome: Outcome | CreelError): Call | undefined {
  return outcome instanceof CreelError ? undefined : outcome.calls.find(({ error }) => error);
}

async function shrunk(found: FuzzFailure, schema: JsonSchema, run: Run, fields: Readonly<Record<string, unknown>>): Promise<FuzzFailure> {
  const isKept = (event: Record<string, unknown>): boolean => Object.entries(fields).every(([name, value]) => event[name] === value);
  let smallest = found;
  let left = MAX_SHRINKS;
  for (let isSmaller = true; isSmaller && left > 0;) {
    isSmaller = false;
    for (const event of smaller(smallest.event, schema) as Iterable<Record<string, unknown>>) {
      if (!isKept(event)) continue;
      if (left-- <= 0) break;
      const call = failed(await outcomeOf(run, event));
      if (!call || !isAlike(call, found.call)) continue;
      smallest = { event, call };
      isSmaller = true;
      break;
    }
  }
  return smallest;
}

/** The same failure. A call that takes too long is stopped for one reason or the other, as busy as the machine is. */
function isAlike(one: Call, other: Call): boolean {
  return one.error?.code === other.error?.code || (ranOutOfCpu(one) && ranOutOfCpu(other));
}

/** Values that are a step smaller, the boldest steps first. */
function* smaller(value: unknown, schema: JsonSchema): Iterable<unknown> {
  if (typeof value === "string") {
    if (value !== "" && !schema.enum && schema.const === undefined) yield* shorter(value);
  } else if (typeof value === "number") {
    const half = Math.trunc(value / 2);
    yield* new Set([0, half, value - Math.sign(value)].filter((less) => less !== value && Math.abs(less) < Math.abs(value)));
  } else if (Array.isArray(value)) {
    for (const at of value.keys()) yield value.toSpliced(at, 1);
    for (const [at, item] of value.entries())
      for (const less of smaller(item, (schema.items ?? {}) as JsonSchema)) yield value.with(at, less);
  } else if (typeof value === "object" && value !== null) {
    const required = new Set(schema.required);
    const entries = Object.entries(value);
    for (const [name] of entries) if (!required.has(name)) yield Object.fromEntries(entries.filter(([other]) => other !== name));
    for (const [name, field] of entries)
      for (const less of smaller(field, (schema.properties?.[name] ?? {}) as JsonSchema)) yield { ...value, [name]: less };
  }
}

/** Without ever smaller parts of its beginning and its end, and, where it is short, without any one character. */
function* shorter(value: string): Iterable<string> {
  yield "";
  for (let part = value.length >> 1; part > 0; part >>= 1) yield* new Set([value.slice(0, -part), value.slice(part)]);
  if (value.length <= SHORT) for (let at = 1; at < value.length - 1; at++) yield value.slice(0, at) + value.slice(at + 1);
}

function generate(schema: JsonSchema, random: () => number, depth: number): unknown {
  const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)]!;
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return pick(schema.enum);
  const variants = schema.oneOf ?? schema.anyOf;
  if (variants?.length) return generate(pick(variants), random, depth);
  switch (pick([schema.type].flat())) {
    case "object":
      return object(schema, random, depth);
    case "array": {
      const length = (schema.minItems ?? 0) + (depth < MAX_DEPTH ? Math.floor(random() * 3) : 0);
      return Array.from({ length }, () => generate((schema.items ?? {}) as JsonSchema, random, depth + 1));
    }
    case "string":
      return schema.format === "date-time" ? new Date(Math.floor(random() * 2e12)).toISOString() : text(schema, random);
    case "number":
    case "integer": {
      const number = pick(NUMBERS);
      return Math.max(schema.minimum ?? -Infinity, schema.type === "integer" ? Math.trunc(number) : number);
    }
    case "boolean":
      return random() < 0.5;
    case "null":
      return null;
    default:
      // Any value: what agents put into parameters.
      return depth >= MAX_DEPTH
        ? text({}, random)
        : pick([text({}, random), pick(NUMBERS), null, true, [text({}, random)], { [text({}, random)]: 1 }]);
  }
}

function object(schema: JsonSchema, random: () => number, depth: number): Record<string, unknown> {
  const required = new Set(schema.required);
  const known = Object.entries(schema.properties ?? {}).filter(([name]) => required.has(name) || (depth < MAX_DEPTH && random() < 0.5));
  const made: [string, unknown][] = known.map(([name, field]) => [name, generate(field as JsonSchema, random, depth + 1)]);
  const more = schema.additionalProperties;
  if (typeof more === "object" && depth < MAX_DEPTH)
    for (let count = Math.floor(random() * 3); count > 0; count--)
      made.push([random() < 0.5 ? "command" : text({}, random), generate(more, random, depth + 1)]);
  return Object.fromEntries(made);
}

function text({ minLength = 0 }: JsonSchema, random: () => number): string {
  const known = TEXTS[Math.floor(random() * TEXTS.length)]!;
  return random() < 0.2 ? `${known}${known}`.padEnd(minLength, "x") : known.padEnd(minLength, "x");
}

/** Mulberry32: small, and the same on every machine. */
function generator(seed: number): () => number {
  let state = Math.trunc(seed);
  return () => {
    state = Math.trunc(state + 0x6d2b79f5);
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
