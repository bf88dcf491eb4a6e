/** The pages that operators read: every command can be typed, every key and every permission is what the code takes. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { configExample } from "../../scripts/config-page.ts";
import { parse } from "../../src/cli/options.ts";
import { VERBS } from "../../src/cli/verbs/index.ts";
import { grantOf, permissionKey } from "../../src/protocol/config/permission-key.ts";
import { acceptedBy } from "../../src/install/review/permission-keys.ts";
import { FACT_NAMES } from "../../src/protocol/fact-names.ts";
import { creelConfig } from "../../src/protocol/config/config.ts";
import { pluginGrants } from "../../src/protocol/config/grants.ts";
import { jsonSchema, variantsOf } from "../../src/protocol/rules/json-schema.ts";
import type { JsonSchema } from "../../src/protocol/rules/json-schema.ts";
import { parseJsonc } from "../../src/text/jsonc.ts";
import { PERMISSION_NAMES, PERMISSION_TABLE, permissionOf } from "../../src/protocol/config/permission-table.ts";
import type { PermissionAbout } from "../../src/protocol/config/permission-table.ts";
import { requestedPermissions, requestsByKind } from "../../src/protocol/config/permissions.ts";
import { wordsOfLine } from "../support/command-line.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Lines of code blocks, after a prompt or not, and what stands in a sentence as code. */
function commandsOf(text: string): string[] {
  const blocks = Array.from(text.matchAll(/^```\w*\n([^]*?)^```$/gm), ([, block]) => block!);
  const lines = blocks.flatMap((block) => Array.from(block.matchAll(/^(?:\$ )?((?:npx )?creel [a-z].*)$/gm), ([, line]) => line!));
  const inline = Array.from(text.replaceAll(/^```[^]*?^```$/gm, "").matchAll(/`((?:npx )?creel [a-z-][^`]*)`/g), ([, line]) => line!);
  return [...lines, ...inline].map((line) => line.replace(/^npx /, "").replaceAll("\\|", "|"));
}

/** What is wrong with a command line; undefined: nothing. Words that stand for others (`<id>`, `…`) are taken for any. */
function faultOf(line: string): string | undefined {
  // `creel --fleet <verb>` takes what the verb takes.
  const own = line.replace(/ \[options\]$/, "").replace(/^creel --fleet /, "creel ");
  const [, name, ...args] = wordsOfLine(own.replaceAll(/<[^>]*>|\[[^\]]*\]|…/g, "x"));
  const verb = VERBS.find((one) => one.name === name);
  if (!verb) return `${line}: there is no verb "${name}"`;
  try {
    parse(verb, args);
    return undefined;
  } catch (error) {
    return `${line}: ${(error as Error).message}`;
  }
}

describe("commands in the docs", () => {
  const pages = ["README.md", ...globSync("docs/**/*.md", { cwd: root })];
  it.each(pages)("%s has none that creel would not take", (page) => {
    const commands = commandsOf(readFileSync(join(root, page), "utf8"));
    expect(commands.flatMap((line) => faultOf(line) ?? [])).toEqual([]);
  });

  it("are found at all, and their mistakes, too", () => {
    expect(commandsOf(readFileSync(join(root, "docs/guides/operating.md"), "utf8")).length).toBeGreaterThan(20);
    expect(commandsOf("```sh\n$ creel instal x\n```\nand `creel list --jsn`").map(faultOf)).toEqual([
      'creel instal x: there is no verb "instal"',
      expect.stringContaining("--jsn"),
    ]);
  });
});

/** Keys without a word about what they mean. */
function silent(schema: JsonSchema, path: string): string[] {
  return variantsOf(schema).flatMap((variant) => [
    ...Object.entries(variant.properties ?? {}).flatMap(([name, field]) => [
      ...((field as JsonSchema).description === undefined ? [`${path}.${name}`] : []),
      ...silent(field as JsonSchema, `${path}.${name}`),
    ]),
    ...(typeof variant.additionalProperties === "object" ? silent(variant.additionalProperties, `${path}.*`) : []),
    ...(variant.items ? silent(variant.items as JsonSchema, `${path}[]`) : []),
  ]);
}

describe("creel.json", () => {
  it("every key says what it means", () => {
    expect(silent(jsonSchema(creelConfig), "")).toEqual([]);
    expect(silent({ type: "object", properties: { a: { type: "string" } } }, "")).toEqual([".a"]);
  });

  it("the example is one, and has no key that nobody knows", () => {
    const config = creelConfig.parse(parseJsonc(configExample()));
    expect(Object.keys(config).filter((name) => !(name in creelConfig.shape))).toEqual([]);
    expect(config.plugins?.entries?.weather?.permissions).toHaveLength(1);
  });
});

describe("permissions", () => {
  it("every grant and every hook permission is in the table, and nothing else", () => {
    const grants = Object.keys(pluginGrants.shape).flatMap((name) => (name === "session" ? ["session:get", "session:patch"] : [name]));
    expect(PERMISSION_NAMES.toSorted()).toEqual([...grants, "conversation", "prompt", "install", "required"].toSorted());
  });

  it.each(PERMISSION_NAMES)("%s can be granted by the keys of the table, and asked for as it says", (name) => {
    const { narrow, wide, isAsked }: PermissionAbout = PERMISSION_TABLE[name];
    for (const key of [narrow, wide]) {
      expect([permissionKey(grantOf(key)!), permissionOf(key)]).toEqual([key, name]);
      expect(() => acceptedBy([key], [])).not.toThrow();
    }
    expect(requestedPermissions.safeParse(requestsByKind(isAsked ? { [narrow]: "a reason" } : {})).error).toBeUndefined();
  });
});

const page = (name: string): string => readFileSync(join(root, "docs", name), "utf8");
const codeWords = (text: string): string[] => Array.from(text.matchAll(/`([a-z]+)`/g), ([, word]) => word!).toSorted();

it("every fact is in the list of the socket's protocol and in the table of embedders, and no other", () => {
  const [, list = ""] = /Facts: (.*)\n/.exec(page("reference/serve-protocol.md")) ?? [];
  const [, section = ""] = /\n## Facts\n([^]*?)\n## /.exec(page("guides/embedding.md")) ?? [];
  const facts = FACT_NAMES.toSorted();
  expect(codeWords(list)).toEqual(facts);
  const rows = section.split("\n").filter((line) => line.startsWith("| `"));
  expect(rows.flatMap((row) => codeWords(row.split("|")[1]!)).toSorted()).toEqual(facts);
});
