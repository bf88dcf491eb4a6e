/**
 * Author's side: TypeScript types of a plugin's configuration, from the `configSchema` of its manifest. For authors
 * (`definePlugin<Config>`) and for gateways that set it in code. What it cannot express becomes `unknown`.
 */
import { withoutDanger } from "../../protocol/dangerous-text.ts";
import { configSchemaOf } from "../manifest/config-schema.ts";
import type { Schema } from "../manifest/schema-check.ts";

const MAX_DEPTH = 8;
const NAME = /^[A-Za-z_$][\w$]*$/;

/** Undefined: the manifest has no usable schema of an object. */
export function configTypes(manifest: Readonly<Record<string, unknown>>): string | undefined {
  const found = configSchemaOf(manifest);
  if (!found || "fault" in found || typeof found.schema === "boolean" || found.schema.type !== "object") return undefined;
  return `/** The plugin's configuration, by the configSchema of its manifest. */\nexport interface Config ${bodyOf(found.schema, 0)}\n`;
}

function bodyOf(schema: Exclude<Schema, boolean>, depth: number): string {
  const required = new Set((schema.required as string[] | undefined) ?? []);
  const pad = "  ".repeat(depth + 1);
  const lines = Object.entries((schema.properties ?? {}) as Record<string, Schema>).map(([name, field]) => {
    const about = typeof field === "object" && typeof field.description === "string" ? `${pad}/** ${comment(field.description)} */\n` : "";
    const key = NAME.test(name) ? name : JSON.stringify(name);
    return `${about}${pad}${key}${required.has(name) ? "" : "?"}: ${typeOf(field, depth + 1)};\n`;
  });
  if (schema.additionalProperties !== false) lines.push(`${pad}[key: string]: unknown;\n`);
  return `{\n${lines.join("")}${"  ".repeat(depth)}}`;
}

function typeOf(schema: Schema, depth: number): string {
  if (typeof schema === "boolean" || depth > MAX_DEPTH) return "unknown";
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join(" | ") || "never";
  const several = (schema.anyOf ?? schema.oneOf) as Schema[] | undefined;
  if (several) return [...new Set(several.map((one) => typeOf(one, depth)))].join(" | ");
  const types = [schema.type].flat().map((type) => {
    if (type === "array") return `(${Array.isArray(schema.items) || !schema.items ? "unknown" : typeOf(schema.items as Schema, depth)})[]`;
    if (type === "object") return schema.properties ? bodyOf(schema, depth) : "Record<string, unknown>";
    if (type === "integer") return "number";
    return typeof type === "string" ? type : "unknown";
  });
  return [...new Set(types)].join(" | ");
}

const comment = (text: string): string => withoutDanger(text).replaceAll("*/", "* /").replaceAll(/\s+/g, " ");
