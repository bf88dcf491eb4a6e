/**
 * Trusted side: changes one value in a text of JSON with comments. The rest of the text stays as it is, byte for byte: comments, the order
 * of keys, how it is indented and how its lines end. Comments go only with a value that they are inside of.
 */
import { isDeepStrictEqual } from "node:util";
import { jsonValue, readJsonc } from "../protocol/jsonc.ts";
import type { JsonContainer, JsonNode } from "../protocol/jsonc.ts";

/** Keys of objects, and places in lists; the place after the last one is where a list grows. */
export type JsonPath = readonly (string | number)[];

export interface TextEdit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The path leads nowhere. */
export class PathError extends Error {
  override readonly name = "PathError";
}

/** What is missing on the way is made. Nothing is edited if the value is there already. */
export function setIn(text: string, path: JsonPath, value: unknown): string {
  return applied(text, editsToSet(text, path, value));
}

/** What is not there need not be removed. */
export function removeIn(text: string, path: JsonPath): string {
  return applied(text, editsToRemove(text, path));
}

export function editsToSet(text: string, path: JsonPath, value: unknown): TextEdit[] {
  const { nodes, node } = walk(readJsonc(text), path);
  const page = new Page(text, nodes[0]!);
  const parents = nodes.slice(0, -1);
  const rest = path.slice(nodes.length - 1);
  if (rest.length === 0) {
    if (isDeepStrictEqual(jsonValue(node), value)) return [];
    const isTall = parents.length === 0 || page.isTall(parents);
    return [{ start: node.start, end: node.end, text: page.write(value, isTall ? page.indentAt(node.start) : undefined) }];
  }
  const [step, ...further] = rest;
  const made = further.reduceRight<unknown>((inner, key) => {
    if (typeof key === "number" && key !== 0) throw new PathError(`there is no list with a place ${key}`);
    return typeof key === "number" ? [inner] : { [key]: inner };
  }, value);
  return page.append(nodes as JsonContainer[], typeof step === "string" ? step : undefined, made);
}

export function editsToRemove(text: string, path: JsonPath): TextEdit[] {
  const { nodes } = walk(readJsonc(text), path);
  if (path.length === 0) throw new PathError("the whole file cannot be removed");
  if (nodes.length <= path.length) return [];
  const container = nodes.at(-2) as JsonContainer;
  return removal(text, container, indexOf(container, path.at(-1)!));
}

/** In order, and where two begin at one place the first comes first. */
export function applied(text: string, edits: readonly TextEdit[]): string {
  let at = 0;
  const pieces: string[] = [];
  for (const edit of edits.toSorted((a, b) => a.start - b.start)) {
    pieces.push(text.slice(at, edit.start), edit.text);
    at = edit.end;
  }
  return pieces.join("") + text.slice(at);
}

/** As far as the path leads: the nodes on it, from the root on, and the last of them. */
function walk(root: JsonNode, path: JsonPath): { nodes: JsonNode[]; node: JsonNode } {
  const nodes = [root];
  let node = root;
  for (const [depth, step] of path.entries()) {
    const kind = typeof step === "string" ? "object" : "array";
    const where = path.slice(0, depth).join(".") || "the whole file";
    if (node.kind !== kind) throw new PathError(`${where} is not ${kind === "object" ? "an object" : "a list"}`);
    const index = indexOf(node, step);
    if (typeof step === "number" && (step < 0 || step > node.parts.length)) throw new PathError(`${where} has no place ${step}`);
    const part = node.parts[index];
    if (!part) break;
    node = part.value;
    nodes.push(node);
  }
  return { nodes, node };
}

function indexOf({ parts }: JsonContainer, step: string | number): number {
  return typeof step === "number" ? step : parts.findIndex(({ key }) => key === step);
}

/** How a text is laid out, and new parts in the same way. */
class Page {
  readonly #text: string;
  readonly #eol: string;
  /** One level of indentation. */
  readonly #unit: string;

  constructor(text: string, root: JsonNode) {
    this.#text = text;
    this.#eol = /\r?\n/.exec(text)?.[0] ?? "\n";
    const first = root.kind === "plain" ? undefined : root.parts[0];
    this.#unit = (first && isFirstInLine(text, first.start) && this.indentAt(first.start)) || "  ";
  }

  /** Of the line. */
  indentAt(offset: number): string {
    const line = this.#text.slice(lineStart(this.#text, offset), offset);
    return /^\ufeff?([ \t]*)/.exec(line)![1]!;
  }

  /** Does the last of the nodes have its parts below each other? */
  isTall(nodes: readonly JsonNode[]): boolean {
    const { kind, start, end, ...rest } = nodes.at(-1)!;
    if (kind === "plain") return false;
    const { parts, tail } = rest as JsonContainer;
    const close = end - 1;
    if (/[\r\n]/.test(this.#text.slice(start, parts[0]?.start ?? close)) || /[\r\n]/.test(this.#text.slice(tail, close))) return true;
    // An empty one does as the one around it.
    return parts.length === 0 && (nodes.length === 1 || this.isTall(nodes.slice(0, -1)));
  }

  /** Without an indentation, in one line. */
  write(value: unknown, indent: string | undefined): string {
    const json = JSON.stringify(value, undefined, indent === undefined ? undefined : this.#unit) as string | undefined;
    if (json === undefined) throw new PathError("the value cannot be written as JSON");
    return indent === undefined ? json : json.replaceAll("\n", this.#eol + indent);
  }

  /** To the last of the nodes, as its last part. */
  append(nodes: readonly JsonContainer[], key: string | undefined, value: unknown): TextEdit[] {
    const { start, end, parts, tail, kind } = nodes.at(-1)!;
    const last = parts.at(-1);
    const isTall = this.isTall(nodes);
    const outer = this.indentAt(start);
    const indent = last && isFirstInLine(this.#text, last.start) ? this.indentAt(last.start) : outer + this.#unit;
    const part = (key === undefined ? "" : `${JSON.stringify(key)}: `) + this.write(value, isTall ? indent : undefined);
    if (!last) {
      const blank = kind === "object" ? " " : "";
      return [{ start: tail, end: end - 1, text: isTall ? this.#eol + indent + part + this.#eol + outer : blank + part + blank }];
    }
    // Whoever ends lists with a comma goes on to.
    const added = (isTall ? this.#eol + indent : " ") + part + (last.comma === undefined ? "" : ",");
    const comma = last.comma === undefined ? [{ start: last.value.end, end: last.value.end, text: "," }] : [];
    return [...comma, { start: tail, end: tail, text: added }];
  }
}

function removal(text: string, { parts }: JsonContainer, index: number): TextEdit[] {
  const { start: partStart, value, comma } = parts[index]!;
  let start = partStart;
  let { end } = value;
  const edits: TextEdit[] = [];
  const drop = (at: number) => edits.push({ start: at, end: at + 1, text: "" });
  if (comma !== undefined && text.slice(end, comma).trim() === "") end = comma + 1;
  else if (comma !== undefined) drop(comma);
  // It was the last, and now the one before it is.
  else if (index > 0) drop(parts[index - 1]!.comma!);
  const after = end + /^[ \t]*/.exec(text.slice(end))![0].length;
  const eol = /^(?:\r?\n|$)/.exec(text.slice(after));
  if (isFirstInLine(text, start) && eol) {
    start = lineStart(text, start);
    end = after + eol[0].length;
  } else if (index === parts.length - 1) {
    while (/[ \t]/.test(text[start - 1] ?? "")) start -= 1;
  } else end = after;
  return [...edits, { start, end, text: "" }];
}

function lineStart(text: string, offset: number): number {
  return text.lastIndexOf("\n", offset - 1) + 1;
}

function isFirstInLine(text: string, offset: number): boolean {
  return lineStart(text, offset) > 0 && text.slice(lineStart(text, offset), offset).trim() === "";
}
