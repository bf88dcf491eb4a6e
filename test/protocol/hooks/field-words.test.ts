/** What editors show: every field of the catalog has a sentence, and no sentence is about a field that no hook has. */
import { expect, it } from "vitest";
import { CATALOG } from "../../../src/protocol/catalog.ts";
import type { AnyHook } from "../../../src/protocol/catalog.ts";
import { FIELD_WORDS } from "../../../src/protocol/hooks/field-words.ts";
import { innerNames, innerWords } from "../../../scripts/inner-words.ts";
import { fieldsOf, hookSchemas } from "../../../src/protocol/rules/json-schema.ts";
import type { SchemaField } from "../../../src/protocol/rules/json-schema.ts";

it("so does every field inside of one, by the field that it is in", () => {
  const [known, missing] = [new Set<string>(), new Set<string>()];
  const look = (parent: string, fields: readonly SchemaField[]): void => {
    for (const { name, schema } of fields) {
      known.add(`${parent}.${name}`);
      if (innerWords(parent, name) === undefined) missing.add(`${parent}.${name}`);
      look(name, fieldsOf(schema));
    }
  };
  for (const hook of Object.values(CATALOG) as AnyHook[]) {
    const { event, context, result } = hookSchemas(hook);
    for (const schema of [event, context, ...(result ? [result] : [])])
      for (const { name, schema: field } of fieldsOf(schema)) look(name, fieldsOf(field));
  }
  expect([...missing]).toEqual([]);
  expect(innerNames().filter((name) => !known.has(name))).toEqual([]);
});

it("every field of an event, a context or a result has a sentence, and every sentence a field", () => {
  const names = (Object.values(CATALOG) as AnyHook[]).flatMap((hook) => {
    const { event, context, result } = hookSchemas(hook);
    return [event, context, ...(result ? [result] : [])].flatMap((schema) => fieldsOf(schema).map(({ name }) => name));
  });
  expect([...new Set(names)].toSorted()).toEqual(Object.keys(FIELD_WORDS).toSorted());
});
