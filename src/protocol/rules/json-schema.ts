/**
 * The catalog as JSON Schema (draft 2020-12), for gateways and tools in other languages. It describes data before zod's
 * clean-up: what a gateway may send, and what a handler may return.
 */
import * as z from "zod";
import { CATALOG } from "../catalog.ts";
import type { AnyHook, HookTable } from "../catalog.ts";

export type JsonSchema = z.core.JSONSchema.JSONSchema;

export interface HookSchemas {
  readonly event: JsonSchema;
  readonly context: JsonSchema;
  /** Undefined on observe hooks, whose results are ignored. */
  readonly result: JsonSchema | undefined;
}

export function hookSchemas({ kind, event, context, result }: AnyHook): HookSchemas {
  return {
    event: jsonSchema(event),
    context: jsonSchema(context),
    result: kind === "observe" ? undefined : jsonSchema(result),
  };
}

/** By hook name: of the catalog, unless a gateway passes its own table. */
export function catalogSchemas(hooks: HookTable = CATALOG): Record<string, HookSchemas> {
  return Object.fromEntries(Object.values(hooks).map((hook) => [hook.name, hookSchemas(hook)]));
}

export function jsonSchema(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, {
    target: "draft-2020-12",
    io: "input",
    unrepresentable: "any",
    override({ zodSchema, jsonSchema: target }) {
      const { type } = zodSchema._zod.def;
      if (type === "date") Object.assign(target, { type: "string", format: "date-time" });
      // The value that replaces an unreadable one is no default.
      if (type === "catch") delete target.default;
    },
  });
}

export interface SchemaField {
  readonly name: string;
  /** As TypeScript would write it. */
  readonly type: string;
  readonly isRequired: boolean;
  readonly schema: JsonSchema;
}

/** The alternatives of a schema, or the schema itself. */
export function variantsOf(schema: JsonSchema): readonly JsonSchema[] {
  return schema.oneOf ?? schema.anyOf ?? [schema];
}

/** The fields of an object, or of a union of objects. */
export function fieldsOf(schema: JsonSchema): SchemaField[] {
  const objects = variantsOf(schema);
  const names = new Set(objects.flatMap(({ properties }) => Object.keys(properties ?? {})));
  return Array.from(names, (name) => {
    const found = objects.flatMap(({ properties }) => (properties?.[name] as JsonSchema | undefined) ?? []);
    const field = (found.length === 1 ? found[0]! : { anyOf: found }) as JsonSchema;
    return { name, type: typeOf(field), isRequired: objects.every(({ required }) => required?.includes(name)), schema: field };
  });
}

export function typeOf(schema: JsonSchema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.anyOf ?? schema.oneOf) return [...new Set(variantsOf(schema).map(typeOf))].join(" | ");
  if (schema.type === "array") {
    const item = typeOf(schema.items as JsonSchema);
    return item.includes(" | ") ? `(${item})[]` : `${item}[]`;
  }
  if (schema.type === "object") {
    return schema.properties ? "object" : `Record<string, ${typeOf(schema.additionalProperties as JsonSchema)}>`;
  }
  return schema.type === undefined ? "unknown" : [schema.type].flat().join(" | ");
}
