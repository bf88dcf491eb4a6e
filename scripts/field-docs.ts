/**
 * Makes src/sdk/author/field-docs.ts and hook-docs.ts: the catalog's words about hooks and fields as JSDoc, which editors show. Types made of zod's schemas lose
 * comments, so they are intersected with these interfaces, whose fields say nothing but their comment.
 */
import { CATALOG } from "../src/protocol/catalog.ts";
import type { AnyHook, FieldMerge } from "../src/protocol/catalog.ts";
import { FIELD_WORDS } from "../src/protocol/hooks/field-words.ts";
import { fieldsOf, hookSchemas } from "../src/protocol/rules/json-schema.ts";

const HEAD = `/**
 * The author's side, types only: what editors show about hooks and fields. Made by scripts/field-docs.ts (npm run docs) of the catalog. Do
 * not edit.
 */
`;

/** Fields of events and contexts. */
export function fieldDocs(): string {
  const fields = Object.entries(FIELD_WORDS).map(([name, words]) => `  ${name}: {\n    ${comment(words)}${name}?: unknown;\n  };`);
  return `${HEAD}
/** Fields of events and contexts, by name: each alone, since a type has the comments of its own fields only. */
export interface FieldDocs {
${fields.join("\n")}
}
`;
}

/** Hooks, and the fields of their results. */
export function hookDocs(rules: Record<FieldMerge["rule"], string>): string {
  const hooks: AnyHook[] = Object.values(CATALOG);
  const withResults = hooks.filter((hook) => hook.kind !== "observe" && fieldsOf(hookSchemas(hook).result!).length > 0);
  return `${HEAD}
/** Every hook, by name. */
export interface HookDocs {
${hooks.map((hook) => `  ${comment(hookWords(hook))}${keyOf(hook.name)}: unknown;`).join("\n")}
}

/** Fields of results, by hook. */
export interface ResultDocs {
${withResults.map((hook) => resultDocs(hook, rules)).join("\n")}
}
`;
}

export function hookWords({ summary, kind, failure, ifItFails }: AnyHook): string {
  const fails = ifItFails ? ` If it fails, ${ifItFails[failure]}.` : "";
  return `${summary} (${kind})${fails}`;
}

function resultDocs(hook: AnyHook, rules: Record<FieldMerge["rule"], string>): string {
  const fields = fieldsOf(hookSchemas(hook).result!).map(({ name }) => {
    const rule = hook.merge[name];
    const merged = rule ? ` Of several handlers: ${rules[rule.rule].replaceAll("`", "")}.` : "";
    return `    ${comment(`${FIELD_WORDS[name] ?? ""}${merged}`.trim())}${name}?: unknown;`;
  });
  return `  ${keyOf(hook.name)}: {\n${fields.join("\n")}\n  };`;
}

const comment = (words: string): string => (words === "" ? "" : `/** ${words} */ `);
const keyOf = (name: string): string => (/^\w+$/.test(name) ? name : JSON.stringify(name));
