/**
 * The operator's own patterns: `{ "patterns": [{ "name": "employee id", "pattern": "\\bEMP-\\d{6}\\b" }] }`. A mistake in them
 * stops the plugin from loading, with a sentence that says which one: a filter that silently filters less is worse than none.
 */
import type { SecretPattern } from "./patterns.ts";

export function readPatterns(config: unknown): SecretPattern[] {
  if (config === undefined) return [];
  if (!Array.isArray(config)) throw new TypeError('"patterns" must be a list of { name, pattern }');
  return config.map((entry: unknown, index) => readPattern(entry, `patterns[${index}]`));
}

function readPattern(entry: unknown, where: string): SecretPattern {
  const { name, pattern, flags } = (typeof entry === "object" && entry !== null ? entry : {}) as Record<string, unknown>;
  if (typeof name !== "string" || name === "") throw new TypeError(`${where}.name must be a text`);
  if (typeof pattern !== "string" || pattern === "") throw new TypeError(`${where}.pattern must be a regular expression as text`);
  if (flags !== undefined && (typeof flags !== "string" || !/^[imsu]*$/.test(flags)))
    throw new TypeError(`${where}.flags may have "i", "m", "s" and "u"`);
  let regex: RegExp;
  try {
    regex = new RegExp(pattern, `g${flags ?? ""}`);
  } catch (error) {
    throw new TypeError(`${where}.pattern: ${(error as Error).message}`, { cause: error });
  }
  if (regex.test("")) throw new TypeError(`${where}.pattern matches the empty text, and would match everywhere`);
  return { name, regex };
}
