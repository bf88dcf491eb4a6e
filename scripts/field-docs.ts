/**
 * Makes src/sdk/author/field-docs.ts, hook-docs.ts and on-hook.ts: the catalog's words about hooks and fields as JSDoc, which
 * editors show. Types made of zod's schemas lose comments, so they are intersected with interfaces whose fields say nothing but their
 * comment.
 */
import { CATALOG } from "../src/protocol/catalog.ts";
import type { AnyHook, FieldMerge } from "../src/protocol/catalog.ts";
import { FIELD_WORDS } from "../src/protocol/hooks/field-words.ts";
import { fieldsOf, hookSchemas } from "../src/protocol/rules/json-schema.ts";
import type { SchemaField } from "../src/protocol/rules/json-schema.ts";
import { innerWords } from "./inner-words.ts";

const HEAD = `/**
 * The author's side, types only: what editors show about hooks and fields. Made by scripts/field-docs.ts (npm run docs) of the catalog. Do
 * not edit.
 */
`;

const ON = "Listen to a hook. Only while `register` runs. A result field that the hook does not have is a type error.";

/** Fields of events and contexts. */
export function fieldDocs(): string {
  const fields = Object.entries(FIELD_WORDS).map(([name, words]) => `  ${name}: {\n    ${comment(words)}${name}?: unknown;\n  };`);
  return `${HEAD}
/** Fields of events and contexts, by name: each alone, since a type has the comments of its own fields only. */
export interface FieldDocs {
${fields.join("\n")}
}

/** Fields inside of these fields, in the same way; also of those that are inside of another. */
export interface InnerDocs {
${innerDocs().join("\n")}
}
`;
}

function innerDocs(): string[] {
  const parents = new Map<string, Set<string>>();
  const add = (fields: readonly SchemaField[]): void => {
    for (const { name, schema } of fields) {
      const inner = fieldsOf(schema);
      if (inner.length > 0) parents.set(name, new Set([...(parents.get(name) ?? []), ...inner.map((field) => field.name)]));
      add(inner);
    }
  };
  for (const hook of Object.values<AnyHook>(CATALOG)) {
    const { event, context } = hookSchemas(hook);
    for (const schema of [event, context]) add(fieldsOf(schema));
  }
  return Array.from(parents)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([parent, names]) => {
      const docs = [...names]
        .toSorted()
        .map((name) => `    ${name}: {\n      ${comment(innerWords(parent, name) ?? "")}${name}?: unknown;\n    };`);
      return `  ${parent}: {\n${docs.join("\n")}\n  };`;
    });
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

/** Names of fields that TypeScript infers from what a handler returns. */
const KEYS = ["F", "P"].map((name) => `${name} extends PropertyKey`).join(", ");

/** `api.on`, once for each hook. */
export function onHook(): string {
  const hooks = Object.values(CATALOG).map((hook: AnyHook) => {
    const name = JSON.stringify(hook.name);
    const isChecked = hook.kind !== "observe";
    const [given, handler] = isChecked ? [`<${KEYS}>`, `CheckedHandler<${name}, F, P>`] : ["", `HookHandlers[${name}]`];
    return `  ${comment(hookWords(hook)).trim()}\n  ${given}(hook: Named<${name}>, handler: ${handler}, options?: HandlerOptions): void;`;
  });
  return `${HEAD}import type { HookName } from "../../protocol/catalog.ts";
import type { CheckedHandler, HandlerOptions, HookHandlers } from "./plugin.ts";

/** The name itself. TypeScript tries signatures with a literal first, whatever their order, and the order matters here. */
type Named<N extends HookName> = N;

/**
 * Over the text of a hook's name in a call no editor shows anything: TypeScript has no symbol for it. It shows the comment of the
 * signature that the call has chosen, over \`on\` and while the call is written: hence a signature for each hook.
 */
// oxfmt-ignore
export interface OnHook {
  // No call chooses this one. TypeScript looks at a handler without parameters once, for the first signature: here it expects the result
  // of the named hook. It also stands for calls that are not complete yet.
  /** ${ON} */
  <N extends HookName>(this: never, hook: N, handler: HookHandlers[N], options?: HandlerOptions): void;
${hooks.join("\n")}
  // For a name that is a variable, and for errors: TypeScript says what is wrong by the last one.
  /** ${ON} */
  <N extends HookName, ${KEYS}>(hook: N, handler: CheckedHandler<N, F, P>, options?: HandlerOptions): void;
}
`;
}

export function hookWords({ summary, kind, failure, ifItFails }: AnyHook): string {
  const fails = ifItFails ? ` If it fails, ${ifItFails[failure]}.` : "";
  return `${summary} (${kind})${fails}`;
}

function resultDocs(hook: AnyHook, rules: Record<FieldMerge["rule"], string>): string {
  const fields = fieldsOf(hookSchemas(hook).result!).map(({ name, schema }) => {
    const rule = hook.merge[name];
    const merged = rule ? ` Of several handlers: ${rules[rule.rule].replaceAll("`", "")}.` : "";
    return `    ${comment(`${FIELD_WORDS[name] ?? ""}${merged}`.trim())}${name}?: ${innerType(name, fieldsOf(schema))};`;
  });
  return `  ${keyOf(hook.name)}: {\n${fields.join("\n")}\n  };`;
}

/** `unknown`: it has no fields, or they are not looked into, as those of lists. */
function innerType(parent: string, fields: readonly SchemaField[]): string {
  if (fields.length === 0) return "unknown";
  const inner = fields.map(({ name }) => `      ${comment(innerWords(parent, name) ?? "")}${name}?: unknown;`);
  return `{\n${inner.join("\n")}\n    }`;
}

const comment = (words: string): string => (words === "" ? "" : `/** ${words} */ `);
const keyOf = (name: string): string => (/^\w+$/.test(name) ? name : JSON.stringify(name));
