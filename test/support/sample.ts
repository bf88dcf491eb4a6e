/** The smallest value that a JSON Schema takes: for tests that need an event of every hook and care about none of its fields. */
import { hookSchemas } from "../../src/protocol/json-schema.ts";
import type { JsonSchema } from "../../src/protocol/json-schema.ts";
import type { AnyHook } from "../../src/protocol/catalog.ts";

export function sampleEvent(hook: AnyHook): unknown {
  return sample(hookSchemas(hook).event);
}

function sample(schema: JsonSchema): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  const [variant] = schema.oneOf ?? schema.anyOf ?? [];
  if (variant) return sample(variant);
  switch ([schema.type].flat()[0]) {
    case "object":
      return Object.fromEntries((schema.required ?? []).map((name) => [name, sample((schema.properties?.[name] ?? {}) as JsonSchema)]));
    case "array":
      return Array.from({ length: schema.minItems ?? 0 }, () => sample(schema.items as JsonSchema));
    case "string":
      return schema.format === "date-time" ? new Date(0) : "x".repeat(Math.max(1, schema.minLength ?? 1));
    case "number":
    case "integer":
      return Math.max(1, schema.minimum ?? 1);
    case "boolean":
      return true;
    case "null":
      return null;
    default:
      return "x";
  }
}
