/**
 * Trusted side: configurations to try a plugin with that throws while it registers because it is not configured. The
 * plugin's own configSchema says what they look like; nobody's values are in them, and none is kept. Untrusted side: the
 * schema is a third party's, and was reviewed before (configSchemaOf).
 */
import type { ConfigSchema } from "../manifest/config-schema.ts";
import type { Schema } from "../manifest/schema-check.ts";

type Fields = Readonly<Record<string, unknown>>;

const MAX_DEPTH = 8;
/** Schemas can name more values than anybody tries. */
const MAX_VALUES = 500;

/** The operator's configuration with what the schema requires, then with everything it names. Empty: there is no schema. */
export function sampleConfigs(schema: ConfigSchema | undefined, config: Fields): Record<string, unknown>[] {
  if (!schema || "fault" in schema) return [];
  const texts = new Set([JSON.stringify(config)]);
  return [false, true].flatMap((isWhole) => {
    const made = filled(schema.schema, config, { isWhole, depth: 0, left: { values: MAX_VALUES } });
    const same = JSON.stringify(made);
    if (!isObject(made) || texts.has(same)) return [];
    texts.add(same);
    return [made];
  });
}

interface Filling {
  /** With what is optional, too. */
  readonly isWhole: boolean;
  readonly depth: number;
  readonly left: { values: number };
}

/** `value`: what the operator has set there, which stays. */
function filled(schema: Schema, value: unknown, filling: Filling): unknown {
  const { isWhole, depth, left } = filling;
  if (value !== undefined && !isObject(value)) return value;
  if (typeof schema === "boolean" || depth > MAX_DEPTH || left.values === 0) return value ?? "sample";
  left.values -= 1;
  if (value === undefined && schema["default"] !== undefined) return schema["default"];
  if (value === undefined && schema["const"] !== undefined) return schema["const"];
  if (value === undefined && Array.isArray(schema["enum"])) return schema["enum"][0];
  const within = (inner: unknown, set?: unknown): unknown =>
    filled(isObject(inner) ? inner : true, set, { isWhole, depth: depth + 1, left });
  const [variant] = [schema["oneOf"], schema["anyOf"]].find(Array.isArray) ?? [];
  const type = [schema["type"]].flat()[0] ?? (schema["properties"] ? "object" : undefined);
  if (type === undefined && variant !== undefined) return within(variant, value);
  switch (type) {
    case "object":
      // What is left out then, nobody sees.
      if (left.values === 0) return value ?? {};
      return object(schema, value ?? {}, isWhole, within);
    case "array":
      return Array.from({ length: Math.min(Math.max(number(schema["minItems"], 0), isWhole ? 1 : 0), 8) }, () => within(schema["items"]));
    case "number":
    case "integer":
      return number(schema["minimum"], number(schema["maximum"], 1));
    case "boolean":
      return true;
    case "null":
      return null;
    default:
      return text(schema);
  }
}

function object(schema: Fields, set: Fields, isWhole: boolean, within: (inner: unknown, value?: unknown) => unknown): Fields {
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  const required = Array.isArray(schema["required"]) ? schema["required"].map(String) : [];
  const names = new Set([...required, ...Object.keys(isWhole ? properties : set)]);
  const made = Object.fromEntries(
    Array.from(names, (name) => [
      name,
      Object.hasOwn(properties, name) ? within(properties[name], set[name]) : Object.hasOwn(set, name) ? set[name] : "sample",
    ]),
  );
  // A map from names to something.
  const more = schema["additionalProperties"];
  return { ...set, ...made, ...(names.size === 0 && isObject(more) && { sample: within(more) }) };
}

function text(schema: Fields): string {
  const { format, description } = schema;
  const isAddress = format === "uri" || format === "url" || (typeof description === "string" && /\burl\b|https?:/i.test(description));
  return (isAddress ? "https://sample.invalid/" : "sample").padEnd(Math.min(number(schema["minLength"], 0), 256), "e");
}

function number(value: unknown, otherwise: number): number {
  return typeof value === "number" ? value : otherwise;
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
