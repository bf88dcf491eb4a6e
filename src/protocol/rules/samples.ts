/**
 * The smallest event that a hook accepts, made from its schema: as a start for people, and for tests that do not care
 * about its fields.
 */
import type { AnyHook } from "../catalog.ts";
import { hookSchemas } from "./json-schema.ts";
import type { JsonSchema } from "./json-schema.ts";

/** Plain data. `text` stands for every text. */
export function sampleEvent(hook: AnyHook, text = "…"): Record<string, unknown> {
  return sample(hookSchemas(hook).event, text) as Record<string, unknown>;
}

/** The smallest context that a hook accepts. */
export function sampleContext(hook: AnyHook, text = "…"): Record<string, unknown> {
  return sample(hookSchemas(hook).context, text) as Record<string, unknown>;
}

function sample(schema: JsonSchema, text: string): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  const [variant] = schema.oneOf ?? schema.anyOf ?? [];
  if (variant) return sample(variant, text);
  switch ([schema.type].flat()[0]) {
    case "object":
      return Object.fromEntries(
        (schema.required ?? []).map((name) => [name, sample((schema.properties?.[name] ?? {}) as JsonSchema, text)]),
      );
    case "array":
      return Array.from({ length: schema.minItems ?? 0 }, () => sample(schema.items as JsonSchema, text));
    case "string":
      return schema.format === "date-time" ? new Date(0).toISOString() : text.padEnd(schema.minLength ?? 1, text);
    case "number":
    case "integer":
      return Math.max(1, schema.minimum ?? 1);
    case "boolean":
      return true;
    case "null":
      return null;
    default:
      return text;
  }
}
