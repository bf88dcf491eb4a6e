/** The texts of errors keep to the house style of src/protocol/errors.ts, and name only what exists. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { parse } from "../../src/cli/options.ts";
import { VERBS } from "../../src/cli/verbs/index.ts";
import { creelConfig } from "../../src/protocol/config/config.ts";
import { CreelError, ERRORS } from "../../src/protocol/errors.ts";
import type { ErrorCode } from "../../src/protocol/errors.ts";
import { jsonSchema } from "../../src/protocol/rules/json-schema.ts";
import type { JsonSchema } from "../../src/protocol/rules/json-schema.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const codes = Object.keys(ERRORS) as ErrorCode[];
const textsOf = (code: ErrorCode): string[] => [ERRORS[code].message, ERRORS[code].fix];
const placesOf = (text: string): string[] => Array.from(text.matchAll(/\{(\w+)\}/g), ([, name]) => name!);

/** The verbs with which a fix may begin. A new fix may add one; a noun or "see the message" is no order. */
const ORDERS = new Set(
  (
    "add ask call cancel check choose correct define delete do edit export fetch give grant install keep leave let look make name none " +
    "open pass patch put raise read register remove repair report request resolve restore return run schedule see send set settle " +
    "start try update use wait widen write"
  ).split(" "),
);

/** Names that open a key of creel.json, at its top or in a plugin's entry: `limits.bytesIn`, `hooks.timeoutMs`. */
const KEY = /(?<![\w/.])(?:limits|plugins|hooks|approvals|sandbox|secrets|audit|grants)(?:\.(?:<\w+>|\w+))+/g;

/** Words that a reader stumbles over. */
const IDIOM = /\b(?:whoever|nobody|somebody|stranger|mend|of its own|what is there|meanwhile|is none|ought)\b/i;

/** The texts that sources put into the place of an error: what follows `refuse(` and `detail:`. */
function details(): { path: string; text: string }[] {
  return globSync("src/**/*.ts", { cwd: root }).flatMap((path) =>
    Array.from(
      readFileSync(join(root, path), "utf8").matchAll(/\b(?:refuse\(|detail: )(?:"([^"\n]+)"|`([^`]+)`)/g),
      ([, plain, filled]) => ({
        path,
        text: plain ?? filled!,
      }),
    ),
  );
}

function hasKey(schema: JsonSchema | undefined, path: readonly string[]): boolean {
  const [name, ...rest] = path;
  if (schema === undefined || name === undefined) return schema !== undefined;
  const open = typeof schema.additionalProperties === "object" ? schema.additionalProperties : undefined;
  return hasKey((schema.properties?.[name] as JsonSchema | undefined) ?? open, rest);
}

const config = jsonSchema(creelConfig);
const entry = ((config.properties!.plugins as JsonSchema).properties!.entries as JsonSchema & { additionalProperties: JsonSchema })
  .additionalProperties;
const isKey = (key: string): boolean => [config, entry].some((schema) => hasKey(schema, key.split(".")));

/** A command of a text, as a user would type it; `<id>` and `{by}` stand for any word. */
function faultOf(command: string): string | undefined {
  const [, name, ...args] = command.replaceAll(/<\w+>|\{\w+\}/g, "x").split(" ");
  const verb = VERBS.find((one) => one.name === name);
  if (!verb) return `there is no verb "${name}"`;
  try {
    parse(verb, args);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** The text between a bracket and the one that closes it. */
function inside(text: string, from: number): string {
  let depth = 1;
  let at = from;
  for (; depth > 0 && at < text.length; at++) depth += "{([".includes(text[at]!) ? 1 : "})]".includes(text[at]!) ? -1 : 0;
  return text.slice(from, at - 1);
}

/** Each place of the sources that passes parameters with a code, as `"ERR_X", { a, b: 1, ...firstIssue(e) }`: which names it passes. */
function throwSites(): { code: ErrorCode; path: string; names: Set<string> }[] {
  return globSync("src/**/*.ts", { cwd: root }).flatMap((path) => {
    const text = readFileSync(join(root, path), "utf8");
    return Array.from(text.matchAll(/"(ERR_\w+)",\s*\{/g)).flatMap((match) => {
      const found = match[1]!;
      if (!Object.hasOwn(ERRORS, found)) return [];
      const object = inside(text, match.index + match[0].length);
      const names = new Set(Array.from(object.matchAll(/(?:^|[,{\s])(\w+)(?=\s*[:,]|\s*$)/g), ([, name]) => name!));
      if (/\.\.\.(?:firstIssue|manifestProblems|codeFrame)\(/.test(object)) for (const name of ["field", "detail"]) names.add(name);
      return [{ code: found as ErrorCode, path, names }];
    });
  });
}

describe("the text of an error", () => {
  it.each(codes)("%s is in the house style", (code) => {
    const { message, fix } = ERRORS[code];
    expect(message).toMatch(/^(?:[a-z"{]|Creel )/);
    expect(fix).toMatch(/^[a-z]/);
    expect([...ORDERS]).toContain(/^[a-z]+/.exec(fix)![0].replace(/^if$/, "run"));
    for (const text of [message, fix]) {
      expect(text).not.toMatch(/ {2}|^\s|\s$|\.$/);
      expect(text).not.toMatch(IDIOM);
    }
  });

  it.each(codes)("%s names only keys, commands and pages that exist", (code) => {
    for (const text of textsOf(code)) {
      expect((text.match(KEY) ?? []).filter((key) => !isKey(key))).toEqual([]);
      const commands = Array.from(text.matchAll(/"(creel [^"]+)"/g), ([, command]) => command!);
      expect(commands.flatMap((command) => faultOf(command) ?? [])).toEqual([]);
      expect(text.replaceAll(/"creel [^"]+"/g, "")).not.toMatch(/\bcreel [a-z]/);
      const pages = Array.from(text.matchAll(/([\w/]*)(docs\/[\w/-]+\.md)/g));
      for (const [, before, page] of pages) expect([before, existsSync(join(root, page!))]).toEqual(["node_modules/creel/", true]);
    }
  });

  it("the checks find what is not there", () => {
    expect(["limits.eventBytes", "limits.bytesIn", "plugins.entries", "hooks.timeoutMs", "sandbox.wals"].map(isKey)).toEqual([
      false,
      true,
      true,
      true,
      false,
    ]);
    expect(faultOf("creel serve --allow-failed")).toBeUndefined();
    expect(faultOf("creel instal x")).toContain("instal");
    expect(faultOf("creel serve --alow-failed")).toContain("--alow-failed");
  });
});

it("the details that sources pass to an error are in the house style", () => {
  const found = details();
  expect(found.length).toBeGreaterThan(150);
  expect(found.filter(({ text }) => IDIOM.test(text) || /^\s|[^.]\.$|\s$| {2}/.test(text))).toEqual([]);
});

describe("the places of a text", () => {
  const sites = throwSites();

  it("are filled by every place that throws", () => {
    expect(sites.length).toBeGreaterThan(150);
    // The bundler's process does not know the plugin or the limit: bundler.ts adds them.
    const added: Partial<Record<ErrorCode, string[]>> = {
      ERR_PLUGIN_BUNDLE_CRASH: ["plugin"],
      ERR_PLUGIN_BUNDLE_LIMIT: ["plugin"],
      ERR_PLUGIN_SIZE: ["limit", "largest"],
      ERR_STATE_CHANGED: ["plugin"],
    };
    const empty = sites.flatMap(({ code, path, names }) =>
      textsOf(code)
        .flatMap(placesOf)
        .filter((name) => !names.has(name) && !added[code]?.includes(name))
        .map((name) => `${code} {${name}} in ${path}`),
    );
    expect(empty).toEqual([]);
  });

  it.each(codes)("none remains in %s", (code) => {
    const params = Object.fromEntries(
      textsOf(code)
        .flatMap(placesOf)
        .map((name) => [name, `<${name}>`]),
    );
    const error = new CreelError(code, params);
    expect(`${error.message} ${error.fix}`).not.toMatch(/\{\w+\}/);
  });

  it("of a fix are rare: where only a code is known, as in a report on a plugin, nothing fills them", () => {
    expect(codes.filter((code) => placesOf(ERRORS[code].fix).length > 0)).toEqual([
      "ERR_OPENCLAW_SLOT",
      "ERR_INSTALL_GRANT",
      "ERR_GRANT_UNASKED",
      "ERR_GRANT_INSECURE",
      "ERR_INSTALL_BLOCKED",
    ]);
  });
});
