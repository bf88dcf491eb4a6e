/**
 * Makes the reference pages from the tables they describe: `node scripts/docs.ts` writes them, `--check` only says whether they
 * are up to date. Nothing here is about one hook: what a page says of a hook, its example included, follows from its entry.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import * as z from "zod";
import { exitCodes, signature } from "../src/cli/help.ts";
import { COMMON } from "../src/cli/options.ts";
import type { Verb } from "../src/cli/verb.ts";
import { VERBS } from "../src/cli/verbs/index.ts";
import { CATALOG, FAMILIES } from "../src/protocol/catalog.ts";
import type { AnyHook, FieldMerge, HookKind } from "../src/protocol/catalog.ts";
import { ERRORS } from "../src/protocol/errors.ts";
import { ifItFails } from "../src/protocol/rules/failure-policy.ts";
import * as contexts from "../src/protocol/hooks/contexts.ts";
import { WHOLE } from "../src/protocol/hooks/define.ts";
import { fieldsOf, hookSchemas, jsonSchema, typeOf, variantsOf } from "../src/protocol/rules/json-schema.ts";
import type { JsonSchema, SchemaField } from "../src/protocol/rules/json-schema.ts";
import { ABSENT_MODULES } from "../src/protocol/guest-surface/absent.ts";
import { API_MEMBERS } from "../src/protocol/guest-surface/api-members.ts";
import type { MemberStatus } from "../src/protocol/guest-surface/api-members.ts";
import { GUEST_GLOBALS, GUEST_MODULES } from "../src/protocol/guest-surface/surface.ts";
import { apiPage } from "./api-page.ts";
import { configPage, configSchema, manifestSchema } from "./config-page.ts";
import { fieldDocs, hookDocs, onHook } from "./field-docs.ts";
import { dashboardFile } from "./grafana-dashboard.ts";
import { anchor, code, list, MADE, table } from "./markdown.ts";
import { permissionsPage } from "./permissions-page.ts";

const KINDS: Record<HookKind, string> = {
  modify: "handlers run one after the other, each sees what those before it made of the event, and their results merge by field",
  gate: "as modify, and a result that decides ends the run",
  claim: "handlers are asked one after the other; the first that takes the event ends the run, other results count for nothing",
  observe: "handlers run side by side, and what they return is ignored",
  evaluate: "handlers run side by side, and each one's result is kept, with its plugin's name",
  sync: "as gate, for a gateway that cannot wait: the handler must not return a promise",
};

const RULES: Record<FieldMerge["rule"], string> = {
  first: "the first handler that sets it wins",
  last: "the last handler that sets it wins",
  any: "true once any handler says so; false is no decision",
  assign: "laid over what stands, key by key",
  join: "texts are joined by a blank line",
  intersect: "only what is in every handler's list remains",
  append: "lists are appended",
  rank: "the highest wins",
  each: "the user is asked about every handler's request, and all must be allowed; it is in `outcome.approval` and not in the result",
};

const FAILURES = {
  open: "open: it is logged and skipped",
  closed: "**closed**: the operation is blocked, and the reason names the plugin",
};

const KEYS = {
  conversation: "needs `conversation` (OpenClaw: `hooks.allowConversationAccess: true`)",
  install: "needs `install`",
  prompt: "needs `prompt`, which a plugin from a folder has (OpenClaw: unless `hooks.allowPromptInjection: false`)",
};

const READERS = { gateway: "For the gateway's developer", author: "For the plugin's author", operator: "For the operator" };

/** Objects are opened, as `context.stopReason`. */
function openFieldsOf(schema: JsonSchema): SchemaField[] {
  return fieldsOf(schema).flatMap((field) => {
    const isList = field.schema.type === "array";
    const inner = isList ? (field.schema.items as JsonSchema) : field.schema;
    const prefix = isList ? `${field.name}[]` : field.name;
    return [field, ...(inner.properties ? openFieldsOf(inner).map((deep) => ({ ...deep, name: `${prefix}.${deep.name}` })) : [])];
  });
}

const duration = (ms: number): string => (ms % 1000 === 0 ? `${ms / 1000} s` : `${ms} ms`);

const fieldCells = ({ name, type, isRequired }: SchemaField): string[] => [code(name), code(type), isRequired ? "yes" : ""];

const fieldTable = (fields: readonly SchemaField[]): string => table(["field", "type", "required"], fields.map(fieldCells));

function mergeWords({ rule, ranks, follows, chains, freezes, stamps, approved, isolated }: FieldMerge): string {
  return [
    ranks ? `the highest wins: ${ranks.map(code).join(" < ")}` : RULES[rule],
    follows && `only handlers with the winning ${code(follows)} count`,
    chains && `later handlers see it as ${code(`event.${chains}`)}`,
    freezes && `from then on ${list(freezes)} cannot be changed`,
    approved && "changes after a request for approval are part of the question",
    stamps && `${code(stamps)} is written by the host`,
    isolated && `with \`rewrites: "isolated"\` ${RULES[isolated]} and later handlers see the original`,
  ]
    .filter(Boolean)
    .join("; ");
}

/** Of a choice between objects: which one needs the field. */
function neededWith(schema: JsonSchema, name: string): string {
  const needy = variantsOf(schema).filter(({ required }) => required?.includes(name));
  const marks = needy.flatMap((variant) => fieldsOf(variant).filter((field) => field.schema.const !== undefined));
  return marks.length === 0 ? "" : `with ${list(marks.map((mark) => `${mark.name}: ${mark.type}`))}`;
}

function resultSection({ kind, merge, nullIs }: AnyHook, result: JsonSchema): string {
  const whole = merge[WHOLE];
  if (whole) return `**Result** ${code(typeOf(result))}: ${mergeWords(whole)}`;
  const isStrict = variantsOf(result).some(({ additionalProperties }) => additionalProperties === false);
  const invalid = [isStrict && "an unknown field", nullIs && "`null`"].filter(Boolean).join(" or ");
  const fields = fieldsOf(result);
  return [
    "**Result**",
    kind === "evaluate"
      ? fieldTable(fields)
      : table(
          ["field", "type", "required", "several handlers"],
          fields.map((field) => {
            const [name, type, required] = fieldCells(field) as [string, string, string];
            const merging = merge[field.name];
            return [name, type, required || neededWith(result, field.name), merging ? mergeWords(merging) : ""];
          }),
        ),
    ...(invalid ? [`An answer with ${invalid} is invalid, which is a failure.`] : []),
  ].join("\n\n");
}

const SHARED = Object.entries(contexts)
  .flatMap(([name, schema]) =>
    schema instanceof z.ZodObject && Object.keys(schema.shape).length > 0
      ? [{ title: `The ${name.replace(/Context$/, "")} context`, schema: schema as z.ZodObject }]
      : [],
  )
  .toSorted((a, b) => a.title.localeCompare(b.title));

/** Contexts that several hooks share are described once. */
function contextSection({ context }: AnyHook): string {
  const described = jsonSchema(context);
  const fields = fieldsOf(described);
  if (fields.length === 0) return "**Context** empty: everything is in the event.";
  const shape = context instanceof z.ZodObject ? (context.shape as Record<string, unknown>) : {};
  const base = SHARED.find(({ schema }) => Object.entries(schema.shape).every(([name, field]) => shape[name] === field));
  if (!base) return `**Context**\n\n${fieldTable(openFieldsOf(described))}`;
  const own = fields.filter(({ name }) => !(name in base.schema.shape));
  const reference = `**Context** [${base.title.toLowerCase()}](#${anchor(base.title)})`;
  return own.length === 0 ? `${reference}.` : `${reference}, and\n\n${fieldTable(own)}`;
}

const decision = ({ field, equals }: NonNullable<AnyHook["terminal"]>): string => `${field}: ${JSON.stringify(equals ?? true)}`;

function facts(hook: AnyHook): string {
  const { terminal, filters, authority, promptFields, contextFrom, agrees, fills, hides, echo } = hook;
  const lines: (string | false | undefined)[] = [
    `**Kind** ${hook.kind}: ${KINDS[hook.kind]}.`,
    terminal &&
      `**Decides** ${code(decision(terminal))} ends the run with ${code(terminal.decision)}${terminal.reason ? `; ${code(terminal.reason)} says why` : ""}.`,
    `**A handler that fails** ${FAILURES[hook.failure]}.`,
    hook.kind !== "observe" && `**If it fails** ${ifItFails(hook, hook.failure)}; of a required plugin: ${ifItFails(hook, "closed")}.`,
    `**Budget** ${duration(hook.budget.wallMs)} per call.`,
    hook.permission.length > 0 && `**Permission** ${hook.permission.map((name) => KEYS[name]).join("; ")}.`,
    promptFields && `**Permission** with \`allowPromptInjection: false\` ${list(promptFields)} are left out, and the rest counts.`,
    ...Object.entries(filters ?? {}).map(
      ([option, { from, field }]) => `**Option of \`api.on\`** ${code(option)}: a list, compared with ${code(`${from}.${field}`)}.`,
    ),
    authority &&
      `**Second phase** with ${code(`context.${authority.context}`)} only handlers with \`requiresToolAuthority: true\` run, and only ${list(authority.keeps)} count.`,
    contextFrom &&
      `**Context left out** ${Object.entries(contextFrom)
        .map(([field, path]) => `${code(field)} is taken from ${code(`event.${path}`)}`)
        .join(", ")}.`,
    agrees && `**The same in both** ${list(agrees)}: a run whose context differs from its event there is refused.`,
    ...Object.entries(fills ?? {}).map(
      ([field, from]) => `**Filled** ${code(`event.${field}`)}, from ${code(`context.${from}`)}, if the event lacks it.`,
    ),
    hides && `**Hidden** ${list(hides.map((path) => `event.${path}`))}: no plugin sees it or sets it.`,
    echo && `**In place** a handler that changes ${code(`event.${echo}`)} and returns nothing counts as returning it.`,
    hook.guardsReentry && "**Recursion** a plugin is not called for what it did itself, unless its handler is `reentrant`.",
    hook.guardsNesting && "**Recursion** it is not run inside itself: a run of it that one of its handlers causes calls nobody.",
    ...Object.entries(hook.live ?? {}).map(([field, words]) => `**Live in OpenClaw** ${code(field)} is ${words}.`),
    `**Since** ${hook.since === "creel" ? "Creel's own" : `OpenClaw ${hook.since}`}.`,
  ];
  return lines
    .filter(Boolean)
    .map((line) => `- ${line}`)
    .join("\n");
}

/** A value of the type, as TypeScript. */
function sample(schema: JsonSchema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return JSON.stringify(schema.enum[0]);
  if (schema.type === "boolean") return "true";
  if (schema.type === "number" || schema.type === "integer") return "1";
  if (schema.type === "array") return `[${sample(schema.items as JsonSchema)}]`;
  if (schema.type !== "object") return `"…"`;
  if (!schema.properties) return `{ ${typeOf(schema) === "Record<string, unknown>" ? "text" : "NAME"}: "…" }`;
  const fields = fieldsOf(schema);
  const chosen = fields.some(({ isRequired }) => isRequired) ? fields.filter(({ isRequired }) => isRequired) : fields.slice(0, 1);
  return `{ ${chosen.map((field) => `${field.name}: ${sample(field.schema)}`).join(", ")} }`;
}

/** What a handler could return: a decision first, then a change. */
function answers({ merge, terminal }: AnyHook, result: JsonSchema): string[] {
  if (merge[WHOLE]) return [`return ${sample(result)};`];
  const value = ({ name, schema }: SchemaField): string => {
    if (name === terminal?.field) return JSON.stringify(terminal.equals ?? true);
    if (merge[name]?.ranks) return JSON.stringify(merge[name].ranks.at(-1));
    return merge[name]?.chains ? `event.${merge[name].chains}` : sample(schema);
  };
  // Of a choice between objects, the one that says something.
  const fits = (variant: JsonSchema) => fieldsOf(variant).every((field) => field.schema.const === undefined || value(field) === field.type);
  const fields = fieldsOf(variantsOf(result).find(fits) ?? result);
  const object = (chosen: readonly SchemaField[]) => `{ ${chosen.map((field) => `${field.name}: ${value(field)}`).join(", ")} }`;
  const change = fields.filter(({ name, isRequired }) => (terminal ? merge[name]?.chains : isRequired || name === fields[0]!.name));
  const deciding = fields.filter(
    ({ name, isRequired }) =>
      isRequired || name === terminal?.field || name === terminal?.reason || (terminal?.decision === "handled" && !merge[name]?.chains),
  );
  return [
    ...(terminal ? [`if (yours(event)) return ${object(deciding)};`] : []),
    ...(change.length > 0 ? [`return ${object(change)};`] : []),
  ];
}

export function example(hook: AnyHook): string {
  const { event, result } = hookSchemas(hook);
  const open = openFieldsOf(event);
  const required = new Set(open.filter(({ isRequired }) => isRequired).map(({ name }) => name));
  const isThere = (name: string) => name.split(".").every((_, at, path) => required.has(path.slice(0, at + 1).join(".")));
  const shown = open.filter(({ name, type }) => isThere(name) && /^(string|number|boolean)$/.test(type)).slice(0, 2);
  const lines = result ? answers(hook, result) : [`api.logger.info("${hook.name}"${shown.map(({ name }) => `, event.${name}`).join("")});`];
  const takes = lines.some((line) => line.includes("event.") || line.includes("(event)")) ? "event" : "";
  return [`api.on("${hook.name}", (${takes}) => {`, ...lines.map((line) => `  ${line}`), "});"].join("\n");
}

function hookSection(hook: AnyHook): string {
  const { event, result } = hookSchemas(hook);
  return [
    `### \`${hook.name}\``,
    hook.summary,
    facts(hook),
    `**Event**\n\n${fieldTable(openFieldsOf(event))}`,
    contextSection(hook),
    ...(result ? [resultSection(hook, result)] : []),
    `\`\`\`ts\n${example(hook)}\n\`\`\``,
  ].join("\n\n");
}

export function hooksPage(): string {
  const all: AnyHook[] = Object.values(CATALOG);
  return `${[
    MADE,
    "# Hooks",
    `Every hook there is: ${all.length} of them. Unknown fields of events and contexts pass through to the plugins, unknown fields of results ` +
      "are dropped. Dates arrive as ISO text. `null` or nothing from a handler is no result. In the examples `yours` stands for a rule of your own.",
    "A listener on the first word of an internal event (`session`) hears its whole family, before the listeners on the exact name. " +
      "What the gateway leaves out of such an event is filled in: an empty `context`, empty `messages`, the time as `timestamp`, which is a Date to handlers of `api.registerHook`.",
    "Without a context a hook gets the one that **Context left out** says; what it needs and the event does not have is refused (`ERR_CONTEXT_INVALID`), " +
      "as in a context that lacks it.",
    `## Kinds\n\n${Object.entries(KINDS)
      .map(([kind, words]) => `- **${kind}**: ${words}.`)
      .join("\n")}`,
    "## Overview",
    table(
      ["hook", "kind", "what for", "ends the run", "fails", "permission"],
      all.map(({ name, kind, summary, terminal, failure, permission }) => [
        `[${code(name)}](#${anchor(name)})`,
        kind,
        summary,
        terminal ? code(decision(terminal)) : "",
        failure,
        permission.join(", "),
      ]),
    ),
    ...Object.entries(FAMILIES).flatMap(([title, hooks]) => [`## ${title}`, ...hooks.map(hookSection)]),
    "## Contexts",
    ...SHARED.flatMap(({ title, schema }) => [`### ${title}`, fieldTable(openFieldsOf(jsonSchema(schema)))]),
  ].join("\n\n")}\n`;
}

export function errorsPage(): string {
  return `${[
    MADE,
    "# Errors",
    "Every error has a stable code (`error.code`), and says what to do about it (`error.fix`). `{…}` is filled in.",
    ...Object.entries(READERS).flatMap(([audience, title]) => [
      `## ${title}`,
      table(
        ["code", "what happened", "what to do"],
        Object.entries(ERRORS)
          .filter(([, entry]) => entry.audience === audience)
          .map(([name, { message, fix }]) => [code(name), message, fix]),
      ),
    ]),
  ].join("\n\n")}\n`;
}

function verbSection(verb: Verb): string {
  const { name, summary, takes, options, examples, prints } = verb;
  const rows = Object.entries(options).map(([option, about]) => [code(signature(option, about)), about.help]);
  return [
    `## \`creel ${name}\``,
    `${summary[0]!.toUpperCase()}${summary.slice(1)}.`,
    `\`\`\`sh\n${examples.join("\n")}\n\`\`\``,
    `**Usage** ${code(["creel", name, takes, "[options]"].filter(Boolean).join(" "))}`,
    ...(rows.length > 0 ? [table(["option", ""], rows)] : []),
    `**With \`--json\`** ${prints}.`,
    `**Exit codes** ${exitCodes(verb)}.`,
  ].join("\n\n");
}

export function cliPage(): string {
  return `${[
    MADE,
    "# The command line",
    `\`creel <verb> [options]\`. Every verb has ${Object.entries(COMMON)
      .map(([name, { help }]) => `${code(`--${name}`)} (${help})`)
      .join(" and ")}. Errors go to stderr and say what to do. Colours are for terminals only; \`NO_COLOR\` turns them off.`,
    table(
      ["verb", ""],
      VERBS.map(({ name, summary }) => [`[${code(name)}](#${anchor(`creel ${name}`)})`, summary]),
    ),
    ...VERBS.map(verbSection),
  ].join("\n\n")}\n`;
}

const MEMBERS: Record<MemberStatus, string> = {
  works: "works",
  inert: "does nothing, with a diagnostic",
  absent: "absent, with a diagnostic",
};

/** Those of one kind that have nothing more to be said about them share a row. */
function membersTable(): string {
  const all = Object.entries(API_MEMBERS);
  const noted = all.filter(([, { note }]) => note !== undefined);
  const plain = Object.entries(MEMBERS).flatMap(([is, words]) => {
    const names = all.filter(([, member]) => member.is === is && member.note === undefined).map(([name]) => code(name));
    return names.length > 0 ? [[names.join(" "), words]] : [];
  });
  return table(["member", ""], [...noted.map(([name, { is, note }]) => [code(name), `${MEMBERS[is]}: ${note}`]), ...plain]);
}

function modulesTable(): string {
  const absent = Map.groupBy(Object.entries(ABSENT_MODULES), ([, { why, instead }]) => `${why}; ${instead}`);
  return table(
    ["module", ""],
    [
      [Object.keys(GUEST_MODULES).map(code).join(" "), "there"],
      ...Array.from(absent, ([words, entries]) => [entries.map(([name]) => code(name)).join(" "), words]),
    ],
  );
}

const globalsList = (): string => Object.keys(GUEST_GLOBALS).map(code).join(" ");

/** A page that is written by hand, with tables in it that are not: each stands between `<!-- made: name -->` and `<!-- end -->`. */
function withTables(page: string, tables: Readonly<Record<string, () => string>>): string {
  const text = readFileSync(pathOf(page), "utf8");
  return text.replaceAll(
    /(<!-- made: (\w+) -->\n)[^]*?(<!-- end -->)/g,
    (_, head: string, name: string, tail: string) => `${head}${tables[name]!()}\n${tail}`,
  );
}

const openclawPage = (): string =>
  withTables("guides/openclaw-plugins.md", { api: membersTable, modules: modulesTable, globals: globalsList });

/** By path below docs/. */
export const pages = (): Record<string, string> => ({
  "reference/api.md": apiPage(),
  "reference/hooks.md": hooksPage(),
  "reference/errors.md": errorsPage(),
  "reference/cli.md": cliPage(),
  "guides/openclaw-plugins.md": openclawPage(),
  "reference/permissions.md": permissionsPage(),
  "reference/config.md": configPage(),
  "reference/creel.schema.json": configSchema(),
  "reference/creel.plugin.schema.json": manifestSchema(),
  "grafana/creel.json": dashboardFile(),
  "../src/sdk/author/field-docs.ts": fieldDocs(),
  "../src/sdk/author/hook-docs.ts": hookDocs(RULES),
  "../src/sdk/author/on-hook.ts": onHook(),
});

export const pathOf = (page: string): string => fileURLToPath(new URL(`../docs/${page}`, import.meta.url));

function main(): void {
  const isCheck = process.argv.includes("--check");
  for (const [page, content] of Object.entries(pages())) {
    if (!isCheck) writeFileSync(pathOf(page), content);
    else if (readFileSync(pathOf(page), "utf8") !== content) {
      process.exitCode = 1;
      console.error(`docs/${page} is not up to date: npm run docs`);
    }
  }
}

if (import.meta.main) main();
