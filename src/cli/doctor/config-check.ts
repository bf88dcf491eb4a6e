/**
 * Checks `creel.json` against its schema: every problem with its line, the expected value and, for an unknown key, the
 * nearest known one. Where OpenClaw's own keys are allowed, a key that nearly matches one of Creel's is a warning.
 */
import { readFileSync } from "node:fs";
import type * as z from "zod";
import { suggest } from "../../text/did-you-mean.ts";
import { creelConfig, FIRST_WINS } from "../../protocol/config/config.ts";
import { configKeysOf } from "../../protocol/config/permission-key.ts";
import type { CreelConfig, PluginEntry } from "../../protocol/config/config.ts";
import { jsonValue, JsonSyntaxError, keyOf, readJson } from "../../text/jsonc.ts";
import type { JsonNode } from "../../text/jsonc.ts";
import { broken, ok, warn } from "./check.ts";
import type { Check } from "./check.ts";

export interface ConfigFindings {
  /** Empty if the file is not valid. */
  readonly config: CreelConfig;
  readonly isValid: boolean;
  readonly checks: readonly Check[];
  /** The location of a value as file:line, for other checks. */
  readonly whereIs: (path: readonly PropertyKey[]) => string;
}

const MEANING = '"creel help config" lists all keys';

export function configCheck(file: string | undefined): ConfigFindings {
  const none = { config: {}, isValid: true, whereIs: () => file ?? "" };
  if (file === undefined) return { ...none, checks: [ok("config", "there is no creel.json: all settings have their defaults")] };
  let text: string;
  let root: JsonNode;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    return { ...none, isValid: false, checks: [broken("config", (error as Error).message, "name a file that exists", file)] };
  }
  try {
    root = readJson(text);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    const check = broken("config", error.message, "correct the file: it is JSON with comments", `${file}:${error.line}`);
    return { ...none, isValid: false, checks: [check] };
  }
  const whereIs = (path: readonly PropertyKey[]): string => `${file}:${lineOf(text, startOf(root, path))}`;
  const parsed = creelConfig.safeParse(jsonValue(root));
  const problems = (parsed.error?.issues ?? []).flatMap((issue) => [...problemsOf(issue, creelConfig)]);
  const checks = [
    ...problems.map(({ path, what, fix }) => broken("config", `${path.map(String).join(".") || "the file"}: ${what}`, fix, whereIs(path))),
    ...[...nearKeys(creelConfig, root, [])].map(({ path, what, fix }) => warn("config", what, fix, whereIs(path))),
    ...(parsed.data?.record?.enabled
      ? [
          warn(
            "config",
            "record.enabled is set: whole events, with what users and models say, are written to recordings/ of the state folder",
            "take the key out when you need no more recordings, and delete the folder",
            whereIs(["record", "enabled"]),
          ),
        ]
      : []),
    ...olderForms(parsed.data?.plugins?.entries ?? {}, whereIs),
    ...(parsed.data?.approvals?.plugin?.compat === "first-wins"
      ? [warn("config", FIRST_WINS.meaning, FIRST_WINS.fix, whereIs(FIRST_WINS.setting))]
      : []),
  ];
  return {
    config: parsed.data ?? {},
    isValid: parsed.success,
    checks: checks.length > 0 ? checks : [ok("config", `${file} is valid`)],
    whereIs,
  };
}

/** Entries that grant by kind, with the same by permission keys. */
function olderForms(entries: Readonly<Record<string, PluginEntry>>, whereIs: ConfigFindings["whereIs"]): Check[] {
  return Object.entries(entries).flatMap(([id, { grants, permissions = [] }]) => {
    if (!grants) return [];
    const keys = [...new Set([...permissions, ...configKeysOf(grants)])];
    const path = ["plugins", "entries", id, "grants"];
    const fix = `write "permissions": ${JSON.stringify(keys)} instead`;
    return [warn("config", `${path.join(".")} is an older form of permissions, which is still read`, fix, whereIs(path))];
  });
}

interface Problem {
  readonly path: readonly PropertyKey[];
  readonly what: string;
  readonly fix: string;
}

type Issue = z.core.$ZodIssue;

function* problemsOf(issue: Issue, schema: z.core.$ZodType): Generator<Problem> {
  const { path } = issue;
  switch (issue.code) {
    case "unrecognized_keys": {
      const known = keysOfSchema(schemaAt(schema, path));
      for (const name of issue.keys) {
        const meant = suggest(name, known);
        yield {
          path: [...path, name],
          what: `unknown key${meant}`,
          fix: meant === "" ? `remove it; known keys: ${known.join(", ")}` : meant.replace(/^; did you mean (".*")\?$/, "write $1"),
        };
      }
      return;
    }
    case "invalid_union": {
      // Of the alternatives, the one that came furthest is the one that was meant.
      const all = issue.errors.flatMap((errors) => errors.slice(0, 1));
      const [best] = all.toSorted((a, b) => b.path.length - a.path.length);
      if (best && best.path.length > 0) yield* problemsOf({ ...best, path: [...path, ...best.path] }, schema);
      else yield { path, what: "the value has none of the allowed forms", fix: `write ${all.map(expected).join(", or ")}` };
      return;
    }
    default:
      yield { path, what: issue.message, fix: `write ${expected(issue)}; ${MEANING}` };
  }
}

/** The expected value, as far as the schema describes it. */
function expected(issue: Issue): string {
  switch (issue.code) {
    case "invalid_type":
      return WORDS[issue.expected] ?? `a value of type ${issue.expected}`;
    case "invalid_value":
      return issue.values.map((value) => JSON.stringify(value)).join(" or ");
    case "too_big":
      return `at most ${issue.maximum}`;
    case "too_small":
      return `${issue.inclusive === false ? "more than" : "at least"} ${issue.minimum}`;
    case "invalid_format":
      return issue.pattern === undefined ? "a value of the expected form" : `a value that matches ${issue.pattern}`;
    default:
      return "a value of the expected form";
  }
}

const WORDS: Partial<Record<string, string>> = {
  string: 'a string, in "quotes"',
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "an array, in [brackets]",
  object: "an object, in {braces}",
  record: "an object, in {braces}",
};

type Def = z.core.$ZodTypeDef & {
  readonly shape?: Readonly<Record<string, z.core.$ZodType>>;
  readonly innerType?: z.core.$ZodType;
  readonly valueType?: z.core.$ZodType;
  readonly element?: z.core.$ZodType;
  readonly options?: readonly z.core.$ZodType[];
};

const defOf = (schema: z.core.$ZodType): Def => schema._zod.def;

/** The schema without its optional wrapper. */
function inner(schema: z.core.$ZodType): z.core.$ZodType {
  const { innerType } = defOf(schema);
  return innerType ? inner(innerType) : schema;
}

function stepInto(schema: z.core.$ZodType, key: PropertyKey): z.core.$ZodType | undefined {
  const { shape, valueType, element, options } = defOf(inner(schema));
  if (shape) return shape[String(key)];
  if (options) return options.map((option) => stepInto(option, key)).find((found) => found !== undefined);
  return typeof key === "number" ? element : valueType;
}

function schemaAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): z.core.$ZodType | undefined {
  return path.reduce<z.core.$ZodType | undefined>((at, key) => at && stepInto(at, key), schema);
}

function keysOfSchema(schema: z.core.$ZodType | undefined): string[] {
  if (!schema) return [];
  const { shape, options } = defOf(inner(schema));
  return shape ? Object.keys(shape) : (options ?? []).flatMap(keysOfSchema);
}

/** Keys that Creel does not have, in places where it lets others be, and that are nearly one it has. */
function* nearKeys(schema: z.core.$ZodType, node: JsonNode, path: readonly PropertyKey[]): Generator<Problem> {
  const parts = node.children ?? [];
  const known = keysOfSchema(schema);
  const written = new Set(node.type === "object" ? parts.map(keyOf) : []);
  for (const [index, part] of parts.entries()) {
    const key = part.type === "property" ? keyOf(part) : undefined;
    const at = key ?? index;
    const next = stepInto(schema, at);
    if (next) yield* nearKeys(next, part.type === "property" ? part.children![1]! : part, [...path, at]);
    else if (key !== undefined && defOf(inner(schema)).shape && isLoose(inner(schema))) {
      const meant = suggest(
        key,
        known.filter((name) => !written.has(name)),
      );
      if (meant !== "")
        yield {
          path: [...path, key],
          what: `${[...path, key].map(String).join(".")}: Creel does not know this key${meant}`,
          fix: meant.replace(/^; did you mean (".*")\?$/, "write $1 if that is what you mean; otherwise ignore this"),
        };
    }
  }
}

function isLoose(schema: z.core.$ZodType): boolean {
  const { catchall } = defOf(schema) as Def & { catchall?: z.core.$ZodType };
  return catchall !== undefined && catchall._zod.def.type !== "never";
}

/** Where the key of that path begins, or the nearest thing around it. */
function startOf(node: JsonNode, path: readonly PropertyKey[]): number {
  const [first, ...rest] = path;
  const parts = node.children ?? [];
  const part = node.type === "object" ? parts.find((property) => keyOf(property) === first) : parts[Number(first)];
  if (first === undefined || !part) return node.offset;
  return rest.length === 0 ? part.offset : startOf(part.type === "property" ? part.children![1]! : part, rest);
}

function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split(/\r\n|\r|\n/).length;
}
