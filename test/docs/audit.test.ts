/** docs/reference/audit.md names every kind of line and every field of it: whoever writes a reader has nothing else. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { auditLine } from "../../src/protocol/audit-line.ts";
import { jsonSchema, variantsOf } from "../../src/protocol/rules/json-schema.ts";
import type { JsonSchema } from "../../src/protocol/rules/json-schema.ts";

const page = readFileSync(join(import.meta.dirname, "../../docs/reference/audit.md"), "utf8");
/** What stands in the page as code; a question mark says that a field may be missing. */
const words = new Set(Array.from(page.matchAll(/`([^`\n]+)`/g), ([, word]) => word!.replace(/\?$/, "")).concat(["text", "chars", "value"]));

function namesOf(schema: JsonSchema): string[] {
  const all = variantsOf(schema);
  if (all[0] !== schema) return all.flatMap(namesOf);
  return all.flatMap((variant) => [
    ...Object.entries(variant.properties ?? {}).flatMap(([name, inner]) => [name, ...namesOf(inner as JsonSchema)]),
    ...(typeof variant.items === "object" && !Array.isArray(variant.items) ? namesOf(variant.items) : []),
    ...(typeof variant.const === "string" ? [variant.const] : []),
  ]);
}

it("names them all", () => {
  const names = new Set(namesOf(jsonSchema(auditLine)));
  expect([...names]).toEqual(expect.arrayContaining(["run", "dropped", "refusedFetch", "resolution", "origin", "chars"]));
  expect([...names].filter((name) => !words.has(name))).toEqual([]);
});
