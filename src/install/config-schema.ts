/**
 * Trusted side: what a manifest says about the plugin's configuration, and whether the operator's fits it. A `configSchema` comes from a stranger: it is
 * looked through first, keyword by keyword, and one that is no schema, is too large, refers to another file or uses what is not known here
 * is not used at all, which is said. It decides nothing but what operators are told.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { MANIFESTS } from "../host/manifest.ts";
import { oneLine } from "../host/guest-error.ts";
import type { InstallFinding } from "./package-findings.ts";
import { misfits, Uncheckable } from "./schema-check.ts";
import type { Schema } from "./schema-check.ts";

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

/** Every keyword that means something here, by what its value has to be. Those about a value that only inform are not listed, and may be anything. */
const SHAPES: Readonly<Record<Shape, string>> = {
  schema: "additionalProperties propertyNames additionalItems contains not if then else",
  schemas: "prefixItems allOf anyOf oneOf",
  items: "items",
  map: "properties $defs definitions",
  patterns: "patternProperties",
  dependents: "dependentRequired",
  names: "required",
  type: "type",
  list: "enum",
  any: "const",
  count: "minProperties maxProperties minItems maxItems minLength maxLength",
  number: "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf",
  boolean: "uniqueItems",
  pattern: "pattern",
  ref: "$ref",
};
const KEYWORDS: ReadonlyMap<string, Shape> = new Map(
  Object.entries(SHAPES).flatMap(([shape, names]) => names.split(" ").map((name) => [name, shape as Shape] as const)),
);
/** These would change what the others mean. */
const NOT_KNOWN = new Set(
  "$dynamicRef $recursiveRef $id unevaluatedProperties unevaluatedItems dependentSchemas dependencies minContains maxContains".split(" "),
);

export type ConfigSchema = { readonly schema: Schema } | { readonly fault: string };

/** Undefined: the manifest has none. */
export function configSchemaOf(manifest: Readonly<Record<string, unknown>>): ConfigSchema | undefined {
  const { configSchema } = manifest;
  if (configSchema === undefined) return undefined;
  const text = JSON.stringify(configSchema);
  if (text.length > MAX_CHARS) return { fault: `it has ${text.length} characters, the limit is ${MAX_CHARS}` };
  const looked = { count: 0 };
  const fault = faultOf(configSchema, "", 0, looked);
  return fault === undefined ? { schema: configSchema as Schema } : { fault: oneLine(fault, 200) };
}

/** What there is to say about the schema itself. `root`: the package. */
export function schemaFindings(schema: ConfigSchema | undefined, root: string): InstallFinding[] {
  if (!schema || "schema" in schema) return [];
  const file = MANIFESTS.find((name) => existsSync(join(root, name))) ?? MANIFESTS[0]!;
  const message = `its configSchema is of no use, so your configuration is not compared with it: ${schema.fault}`;
  return [{ rule: "config-schema", severity: "warn", file, line: 1, message }];
}

/** One line for each way in which the configuration is not what the plugin says it takes. */
export function configFaults({
  id,
  schema,
  config,
}: {
  id: string;
  schema: ConfigSchema | undefined;
  config: Readonly<Record<string, unknown>>;
}): ConfigFault[] {
  if (!schema || "fault" in schema) return [];
  try {
    return misfits(schema.schema, config).map(({ path, message }) => ({
      path,
      message: oneLine(`plugins.entries.${id}.config${path.map((step) => `.${step}`).join("")} ${message}`, 300),
    }));
  } catch (error) {
    if (!(error instanceof Uncheckable)) throw error;
    return [
      {
        path: [],
        message: oneLine(`plugins.entries.${id}.config cannot be checked against the plugin's configSchema: ${error.message}`, 300),
      },
    ];
  }
}

export interface ConfigFault {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** Undefined: it is a schema that can be used. */
function faultOf(schema: unknown, at: string, depth: number, looked: { count: number }): string | undefined {
  const where = at === "" ? "it" : at;
  if (depth > MAX_DEPTH) return `${where} nests deeper than ${MAX_DEPTH} levels`;
  if (++looked.count > MAX_SCHEMAS) return `it has more than ${MAX_SCHEMAS} parts`;
  if (typeof schema === "boolean") return undefined;
  if (!isObject(schema)) return `${where} is not a schema`;
  for (const [keyword, value] of Object.entries(schema)) {
    const name = at === "" ? keyword : `${at}.${keyword}`;
    // `$id` of the whole is its name, and changes nothing as long as nobody refers to it.
    if (NOT_KNOWN.has(keyword) && !(keyword === "$id" && at === "")) return `${name} is a keyword that is not known here`;
    const shape = KEYWORDS.get(keyword);
    const fault = shape && valueFault(shape, value, name, depth, looked);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function valueFault(shape: Shape, value: unknown, at: string, depth: number, looked: { count: number }): string | undefined {
  const within = (schemas: Iterable<readonly [string | number, unknown]>): string | undefined => {
    for (const [name, one] of schemas) {
      const fault = faultOf(one, `${at}.${name}`, depth + 1, looked);
      if (fault !== undefined) return fault;
    }
    return undefined;
  };
  const must = (isRight: boolean, what: string): string | undefined => (isRight ? undefined : `${at} must be ${what}`);
  switch (shape) {
    case "schema":
      return faultOf(value, at, depth + 1, looked);
    case "schemas":
      return Array.isArray(value) && value.length > 0 ? within(value.entries()) : must(false, "a list of schemas");
    case "items":
      return Array.isArray(value) ? within(value.entries()) : faultOf(value, at, depth + 1, looked);
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
        "a place in the same schema, such as #/$defs/name: others are not fetched",
      );
    default:
      return undefined;
  }
}

const isNames = (value: unknown): boolean => Array.isArray(value) && value.every((name) => typeof name === "string");

/** Only made, not tried: making one is quick, however bad it is. */
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
