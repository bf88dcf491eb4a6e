/**
 * Trusted side: reads a third party's JSON. Beyond the checks of text/jsonc.ts it refuses what readers disagree about:
 * comments, numbers that JavaScript rounds, half a surrogate pair, and keys such as "__proto__".
 */
import { CreelError } from "../../protocol/errors.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { jsonValue, JsonSyntaxError, keyOf, readJson } from "../../text/jsonc.ts";
import type { JsonNode } from "../../text/jsonc.ts";

export interface StrictJsonOptions {
  /** For messages. */
  readonly path: string;
  readonly bytes?: number;
  readonly depth?: number;
}

/** Harmless as keys of data, until code copies the object in a loop. */
const FORBIDDEN_KEYS = new Set(["__proto__", "constructor", "prototype"]);

export function parseStrictJson(
  bytes: Uint8Array,
  { path, bytes: most = LIMITS.install.manifestBytes, depth = LIMITS.install.manifestDepth }: StrictJsonOptions,
): unknown {
  const refuse = ({ line, column, detail }: Pick<JsonSyntaxError, "line" | "column" | "detail">): CreelError =>
    new CreelError("ERR_INSTALL_JSON", { path, line, column, detail });
  if (bytes.length > most) throw refuse({ line: 1, column: 1, detail: `the file has ${bytes.length} bytes; the limit is ${most}` });
  let text: string;
  try {
    // Drops a byte order mark, as npm does.
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw refuse({ line: 1, column: 1, detail: "the file is not UTF-8" });
  }
  try {
    const root = readJson(text, { isPlain: true, depth });
    checkValues(root, text);
    return jsonValue(root);
  } catch (error) {
    throw error instanceof JsonSyntaxError ? refuse(error) : error;
  }
}

function checkValues(node: JsonNode, text: string): void {
  const refuse = (detail: string): JsonSyntaxError => new JsonSyntaxError(text, node.offset, detail);
  if (node.type === "number" && Math.abs(node.value as number) > Number.MAX_SAFE_INTEGER)
    throw refuse("the number is too large to be exact");
  if (node.type === "string" && !(node.value as string).isWellFormed()) throw refuse("a string has half a surrogate pair");
  // SECURITY: test/install/manifest/strict-json.test.ts
  if (node.type === "property" && FORBIDDEN_KEYS.has(keyOf(node))) throw refuse(`the key "${keyOf(node)}" is not allowed`);
  for (const child of node.children ?? []) checkValues(child, text);
}
