/** What editors show: every field of the catalog has a sentence, and no sentence is about a field that no hook has. */
import { expect, it } from "vitest";
import { CATALOG } from "../../../src/protocol/catalog.ts";
import type { AnyHook } from "../../../src/protocol/catalog.ts";
import { FIELD_WORDS } from "../../../src/protocol/hooks/field-words.ts";
import { fieldsOf, hookSchemas } from "../../../src/protocol/rules/json-schema.ts";

it("every field of an event, a context or a result has a sentence, and every sentence a field", () => {
  const names = (Object.values(CATALOG) as AnyHook[]).flatMap((hook) => {
    const { event, context, result } = hookSchemas(hook);
    return [event, context, ...(result ? [result] : [])].flatMap((schema) => fieldsOf(schema).map(({ name }) => name));
  });
  expect([...new Set(names)].toSorted()).toEqual(Object.keys(FIELD_WORDS).toSorted());
});
