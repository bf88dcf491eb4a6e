/**
 * Trusted side: reads JSON that people or third parties wrote, with jsonc-parser. That parser recovers from every
 * mistake and keeps the last of two equal keys; here the first mistake, a duplicate key or too deep a nesting is an
 * error with line and column.
 */
import { createScanner, parseTree, printParseErrorCode } from "jsonc-parser";
import type { Node, ParseError } from "jsonc-parser";
import { printable } from "./printable.ts";

/** A node of the tree, with its offset and length in the text. */
export type JsonNode = Node;

export interface JsonRules {
  /** Plain JSON: no comments, no trailing commas. */
  readonly isPlain?: boolean;
  readonly depth?: number;
}

export class JsonSyntaxError extends SyntaxError {
  override readonly name = "JsonSyntaxError";
  readonly line: number;
  readonly column: number;
  readonly detail: string;

  constructor(text: string, offset: number, detail: string) {
    const before = text.slice(0, offset).split(/\r\n|\r|\n/);
    const [line, column] = [before.length, before.at(-1)!.length + 1];
    super(`line ${line}, column ${column}: ${detail}`);
    this.line = line;
    this.column = column;
    this.detail = detail;
  }
}

/** No real file nests deeper. jsonc-parser recurses once per level, so the depth is checked before it runs. */
const MAX_DEPTH = 256;

const DETAILS: Readonly<Record<string, string>> = {
  PropertyNameExpected: "a key in double quotes is missing",
  ValueExpected: "a value is missing",
  ColonExpected: '":" is missing',
  CommaExpected: '"," or a closing bracket is missing',
  CloseBraceExpected: '"}" is missing',
  CloseBracketExpected: '"]" is missing',
  EndOfFileExpected: "there is more after the end of the value",
  InvalidCommentToken: "comments are not allowed here",
  UnexpectedEndOfComment: "a comment does not end",
  UnexpectedEndOfString: "a string does not end",
  UnexpectedEndOfNumber: "a number is incomplete",
  InvalidUnicode: "a string has an invalid escape",
  InvalidEscapeCharacter: "a string has an invalid escape",
  InvalidCharacter: "a string has a character that must be escaped",
};

/** With comments and trailing commas. Throws a JsonSyntaxError. */
export function parseJsonc(text: string): unknown {
  return jsonValue(readJson(text));
}

/** Throws a JsonSyntaxError. */
export function readJson(text: string, { isPlain = false, depth = MAX_DEPTH }: JsonRules = {}): JsonNode {
  // A byte order mark counts as a blank, so that offsets stay valid.
  const source = text.replace(/^\ufeff/, " ");
  checkDepth(source, depth);
  const errors: ParseError[] = [];
  const root = parseTree(source, errors, { allowTrailingComma: !isPlain, disallowComments: isPlain });
  const [first] = errors;
  if (first) throw new JsonSyntaxError(source, first.offset, DETAILS[printParseErrorCode(first.error)] ?? "this is not JSON");
  checkKeys(root!, source);
  return root!;
}

/** Own keys only: `__proto__` is a key like any other. */
export function jsonValue(node: JsonNode): unknown {
  if (node.type === "array") return (node.children ?? []).map(jsonValue);
  if (node.type !== "object") return node.value;
  return Object.fromEntries((node.children ?? []).map((property) => [keyOf(property), jsonValue(property.children![1]!)]));
}

/** Of a property of an object. */
export function keyOf(property: JsonNode): string {
  return property.children![0]!.value as string;
}

function checkDepth(text: string, limit: number): void {
  const scanner = createScanner(text, true);
  let depth = 0;
  for (scanner.scan(); scanner.getTokenOffset() < text.length; scanner.scan()) {
    const token = text[scanner.getTokenOffset()]!;
    if ("]}".includes(token)) depth -= 1;
    // SECURITY: bounds every recursion over the tree. test/install/manifest/strict-json.test.ts
    if ("[{".includes(token) && ++depth > limit)
      throw new JsonSyntaxError(text, scanner.getTokenOffset(), `it nests deeper than ${limit} levels`);
  }
}

function checkKeys(node: JsonNode, text: string): void {
  const seen = new Set<string>();
  for (const child of node.children ?? []) {
    if (child.type === "property") {
      const key = keyOf(child);
      if (seen.has(key)) throw new JsonSyntaxError(text, child.offset, `the key "${printable(key)}" is there twice`);
      seen.add(key);
    }
    checkKeys(child, text);
  }
}
