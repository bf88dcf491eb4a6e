/**
 * `creel.json` against its schema: every problem with its line, what is expected instead, and for a key that there is not the one that was meant. Where
 * other keys are allowed, since OpenClaw has more than Creel reads, one that is nearly Creel's is a warning.
 */
import { readFileSync } from "node:fs";
import type * as z from "zod";
import { suggest } from "../../host/suggest.ts";
import { creelConfig } from "../../protocol/config.ts";
import type { CreelConfig } from "../../protocol/config.ts";
import { jsonValue, readJsonc } from "../../protocol/jsonc.ts";
import type { JsonNode } from "../../protocol/jsonc.ts";
import { broken, ok, warn } from "./check.ts";
import type { Check } from "./check.ts";

export interface ConfigFindings {
  /** What can be gone on with; nothing, if it is not valid. */
  readonly config: CreelConfig;
  readonly isValid: boolean;
  readonly checks: readonly Check[];
  /** Where a value is, as file:line, for whoever finds something else about it. */
  readonly whereIs: (path: readonly PropertyKey[]) => string;
}

const MEANING = "docs/config.md has all keys";

export function configCheck(file: string | undefined): ConfigFindings {
  const none = { config: {}, isValid: true, whereIs: () => file ?? "" };
  if (file === undefined) return { ...none, checks: [ok("config", "there is no creel.json: everything is as it is by default")] };
  let text: string;
  let root: JsonNode;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    return { ...none, isValid: false, checks: [broken("config", (error as Error).message, "name a file that is there", file)] };
  }
  try {
    root = readJsonc(text);
  } catch (error) {
    const { message } = error as Error;
    const line = /^line (\d+)/.exec(message)?.[1] ?? "1";
    return { ...none, isValid: false, checks: [broken("config", message, "mend it: it is JSON, with comments", `${file}:${line}`)] };
  }
  const whereIs = (path: readonly PropertyKey[]): string => `${file}:${lineOf(text, startOf(root, path))}`;
  const parsed = creelConfig.safeParse(jsonValue(root));
  const problems = (parsed.error?.issues ?? []).flatMap((issue) => [...problemsOf(issue, creelConfig)]);
  const checks = [
    ...problems.map(({ path, what, fix }) => broken("config", `${path.map(String).join(".") || "the file"}: ${what}`, fix, whereIs(path))),
    ...[...nearKeys(creelConfig, root, [])].map(({ path, what, fix }) => warn("config", what, fix, whereIs(path))),
  ];
  return {
    config: parsed.data ?? {},
    isValid: parsed.success,
    checks: checks.length > 0 ? checks : [ok("config", `${file} is what it should be`)],
    whereIs,
  };
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
      const known = keysOf(schemaAt(schema, path));
      for (const name of issue.keys) {
        const meant = suggest(name, known);
        yield {
          path: [...path, name],
          what: `there is no such key${meant}`,
          fix:
            meant === "" ? `take it out; keys that there are: ${known.join(", ")}` : meant.replace(/^; did you mean (".*")\?$/, "write $1"),
        };
      }
      return;
    }
    case "invalid_union": {
      // Of the alternatives, the one that came furthest is the one that was meant.
      const all = issue.errors.flatMap((errors) => errors.slice(0, 1));
      const [best] = all.toSorted((a, b) => b.path.length - a.path.length);
      if (best && best.path.length > 0) yield* problemsOf({ ...best, path: [...path, ...best.path] }, schema);
      else yield { path, what: "it is none of what it may be", fix: `write ${all.map(wanted).join(", or ")}` };
      return;
    }
    default:
      yield { path, what: issue.message, fix: `write ${wanted(issue)}; ${MEANING}` };
  }
}

/** What to write instead, as far as the schema can say it. */
function wanted(issue: Issue): string {
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
      return issue.pattern === undefined ? "what is expected there" : `what fits ${issue.pattern}`;
    default:
      return "what is expected there";
  }
}

const WORDS: Partial<Record<string, string>> = {
  string: 'a text, in "quotes"',
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list, in [brackets]",
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

/** Without what only says that it may be left out. */
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

function keysOf(schema: z.core.$ZodType | undefined): string[] {
  if (!schema) return [];
  const { shape, options } = defOf(inner(schema));
  return shape ? Object.keys(shape) : (options ?? []).flatMap(keysOf);
}

/** Keys that Creel does not have, in places where it lets others be, and that are nearly one it has. */
function* nearKeys(schema: z.core.$ZodType, node: JsonNode, path: readonly PropertyKey[]): Generator<Problem> {
  if (node.kind === "plain") return;
  const known = keysOf(schema);
  const written = new Set(node.parts.map(({ key }) => key));
  for (const [index, { key, value }] of node.parts.entries()) {
    const at = key ?? index;
    const next = stepInto(schema, at);
    if (next) yield* nearKeys(next, value, [...path, at]);
    else if (key !== undefined && defOf(inner(schema)).shape && isLoose(inner(schema))) {
      const meant = suggest(
        key,
        known.filter((name) => !written.has(name)),
      );
      if (meant !== "")
        yield {
          path: [...path, key],
          what: `${[...path, key].map(String).join(".")}: Creel does not read that${meant}`,
          fix: meant.replace(/^; did you mean (".*")\?$/, "write $1, if that is what you mean; otherwise leave it"),
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
  if (first === undefined || node.kind === "plain") return node.start;
  const part = node.kind === "array" ? node.parts[Number(first)] : node.parts.find(({ key }) => key === first);
  if (!part) return node.start;
  return rest.length === 0 ? part.start : startOf(part.value, rest);
}

function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split(/\r\n|\r|\n/).length;
}
