/**
 * Trusted side: what a manifest says about the plugin's configuration, and whether the operator's configuration fits
 * it. A third party wrote the `configSchema`, so it is reviewed first, keyword by keyword: Creel ignores one that is
 * malformed, too large or refers to another file, and says so. Then a thread checks the configuration, with a time
 * limit and a memory cap. The result only informs operators.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { MANIFESTS } from "../../discovery/manifest.ts";
import { oneLine } from "../../text/one-line.ts";
import type { InstallFinding } from "./package-findings.ts";
import type { Misfit, Schema } from "./schema-check.ts";

const THREAD = new URL(`./schema-thread${import.meta.url.slice(import.meta.url.lastIndexOf("."))}`, import.meta.url);
/** A check takes a millisecond. The rest is for a busy machine. */
const CHECK_MS = 2_000;
const CHECK_HEAP_MB = 64;
const MAX_CHARS = 64 * 1024;
const MAX_SCHEMAS = 2_000;
const MAX_DEPTH = 32;
const MAX_PATTERN_CHARS = 512;

const TYPES = new Set(["string", "number", "integer", "boolean", "null", "array", "object"]);

type Shape =
  | "schema"
  | "schemas"
  | "map"
  | "number"
  | "count"
  | "boolean"
  | "names"
  | "ref"
  | "pattern"
  | "patterns"
  | "any"
  | "list"
  | "type"
  | "items"
  | "dependents";

/** Every keyword that validates, by what its value has to be. Keywords that only inform may be anything. */
const SHAPES: Readonly<Record<Shape, string>> = {
  schema: "additionalProperties propertyNames additionalItems contains not if then else unevaluatedProperties unevaluatedItems",
  schemas: "prefixItems allOf anyOf oneOf",
  items: "items",
  map: "properties $defs definitions dependentSchemas",
  patterns: "patternProperties",
  dependents: "dependentRequired",
  names: "required",
  type: "type",
  list: "enum",
  any: "const",
  count: "minProperties maxProperties minItems maxItems minContains maxContains minLength maxLength",
  number: "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf",
  boolean: "uniqueItems",
  pattern: "pattern",
  ref: "$ref",
};
const KEYWORDS: ReadonlyMap<string, Shape> = new Map(
  Object.entries(SHAPES).flatMap(([shape, names]) => names.split(" ").map((name) => [name, shape as Shape] as const)),
);
/** The validator does not know these, or resolves them against other files. */
const UNSUPPORTED = new Set(["$dynamicRef", "$recursiveRef", "$id", "id", "dependencies"]);

export type ConfigSchema = { readonly schema: Schema } | { readonly fault: string };

/** Undefined: the manifest has none. */
export function configSchemaOf(manifest: Readonly<Record<string, unknown>>): ConfigSchema | undefined {
  const { configSchema } = manifest;
  if (configSchema === undefined) return undefined;
  const text = JSON.stringify(configSchema);
  if (text.length > MAX_CHARS) return { fault: `it has ${text.length} characters, the limit is ${MAX_CHARS}` };
  const seen = { count: 0 };
  const fault = faultOf(configSchema, "", 0, seen);
  return fault === undefined ? { schema: configSchema as Schema } : { fault: oneLine(fault, 200) };
}

/** `root` is the folder of the package. */
export function schemaFindings(schema: ConfigSchema | undefined, root: string): InstallFinding[] {
  if (!schema || "schema" in schema) return [];
  const file = MANIFESTS.find((name) => existsSync(join(root, name))) ?? MANIFESTS[0]!;
  const message = `its configSchema cannot be used, so your configuration is not checked: ${schema.fault}`;
  return [{ rule: "config-schema", severity: "warn", file, line: 1, message }];
}

/** One line for each way in which the configuration does not fit the plugin's schema. */
export async function configFaults({
  id,
  schema,
  config,
}: {
  id: string;
  schema: ConfigSchema | undefined;
  config: Readonly<Record<string, unknown>>;
}): Promise<ConfigFault[]> {
  if (!schema || "fault" in schema) return [];
  const entry = `plugins.entries.${id}.config`;
  const result = await checkInThread(schema.schema, config);
  if ("fault" in result)
    return [{ path: [], message: oneLine(`${entry} cannot be checked against the plugin's configSchema: ${result.fault}`, 300) }];
  return result.misfits.map(({ path, message }) => ({ path, message: oneLine(`${[entry, ...path].join(".")} ${message}`, 300) }));
}

type CheckResult = { readonly misfits: readonly Misfit[] } | { readonly fault: string };

/** SECURITY: patterns and references of a schema can run for ever. test/install/manifest/config-schema.test.ts */
async function checkInThread(schema: Schema, value: unknown): Promise<CheckResult> {
  const resourceLimits = { maxOldGenerationSizeMb: CHECK_HEAP_MB, maxYoungGenerationSizeMb: 8 };
  const thread = new Worker(THREAD, { env: {}, execArgv: [], resourceLimits, workerData: { schema, value } });
  const { promise, resolve } = Promise.withResolvers<CheckResult>();
  const timer = setTimeout(() => resolve({ fault: `it takes longer than ${CHECK_MS} ms` }), CHECK_MS);
  thread.once("message", resolve);
  thread.once("error", () => resolve({ fault: `it needs more than ${CHECK_HEAP_MB} MB of memory` }));
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    await thread.terminate();
  }
}

export interface ConfigFault {
  readonly path: readonly string[];
  readonly message: string;
}

/** Undefined: the schema can be used. */
function faultOf(schema: unknown, at: string, depth: number, seen: { count: number }): string | undefined {
  const where = at === "" ? "it" : at;
  if (depth > MAX_DEPTH) return `${where} nests deeper than ${MAX_DEPTH} levels`;
  if (++seen.count > MAX_SCHEMAS) return `it has more than ${MAX_SCHEMAS} parts`;
  if (typeof schema === "boolean") return undefined;
  if (!isObject(schema)) return `${where} is not a schema`;
  for (const [keyword, value] of Object.entries(schema)) {
    const name = at === "" ? keyword : `${at}.${keyword}`;
    // At the root, `$id` is the name of the schema and changes nothing.
    if (UNSUPPORTED.has(keyword) && !(keyword === "$id" && at === "")) return `${name} is not supported`;
    const shape = KEYWORDS.get(keyword);
    const fault = shape && valueFault(shape, value, name, depth, seen);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function valueFault(shape: Shape, value: unknown, at: string, depth: number, seen: { count: number }): string | undefined {
  const within = (schemas: Iterable<readonly [string | number, unknown]>): string | undefined => {
    for (const [name, one] of schemas) {
      const fault = faultOf(one, `${at}.${name}`, depth + 1, seen);
      if (fault !== undefined) return fault;
    }
    return undefined;
  };
  const must = (isRight: boolean, what: string): string | undefined => (isRight ? undefined : `${at} must be ${what}`);
  switch (shape) {
    case "schema":
      return faultOf(value, at, depth + 1, seen);
    case "schemas":
      return Array.isArray(value) && value.length > 0 ? within(value.entries()) : must(false, "a list of schemas");
    case "items":
      return Array.isArray(value) ? within(value.entries()) : faultOf(value, at, depth + 1, seen);
    case "map":
      return isObject(value) ? within(Object.entries(value)) : must(false, "an object of schemas");
    case "patterns":
      if (!isObject(value)) return must(false, "an object of schemas");
      for (const pattern of Object.keys(value))
        if (!isPattern(pattern))
          return must(false, `an object whose keys are regular expressions of at most ${MAX_PATTERN_CHARS} characters`);
      return within(Object.entries(value));
    case "dependents":
      return must(isObject(value) && Object.values(value).every(isNames), "an object of lists of names");
    case "type":
      return must(
        [value].flat().length > 0 && [value].flat().every((type) => typeof type === "string" && TYPES.has(type)),
        `one of ${[...TYPES].join(", ")}, or a list of those`,
      );
    case "number":
      return must(typeof value === "number" && (!at.endsWith("multipleOf") || value > 0), "a number");
    case "count":
      return must(Number.isInteger(value) && (value as number) >= 0, "a whole number");
    case "boolean":
      return must(typeof value === "boolean", "true or false");
    case "names":
      return must(isNames(value), "a list of names");
    case "list":
      return must(Array.isArray(value), "a list");
    case "pattern":
      return must(typeof value === "string" && isPattern(value), `a regular expression of at most ${MAX_PATTERN_CHARS} characters`);
    case "ref":
      return must(
        typeof value === "string" && /^#(?:\/[^%]*)?$/.test(value),
        "a reference into the same schema, such as #/$defs/name; others are not fetched",
      );
    default:
      return undefined;
  }
}

const isNames = (value: unknown): boolean => Array.isArray(value) && value.every((name) => typeof name === "string");

/** Compiled and not run: compiling is quick, even for a pattern that backtracks without end. */
function isPattern(text: string): boolean {
  if (text.length > MAX_PATTERN_CHARS) return false;
  try {
    return new RegExp(text, "u").source !== "";
  } catch {
    return false;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
