/**
 * Trusted side: changes one value in a text of JSON with comments, and keeps every other byte: comments, order of keys,
 * indentation, line ends. jsonc-parser gives the offsets. Its own `modify` reformats whole lines and drops comments
 * beside a removed value, so the edits are made here.
 */
import { isDeepStrictEqual } from "node:util";
import { createScanner } from "jsonc-parser";
import { jsonValue, keyOf, readJson } from "../../text/jsonc.ts";
import type { JsonNode } from "../../text/jsonc.ts";

/** Keys of objects and indexes of arrays. The index after the last one appends. */
export type JsonPath = readonly (string | number)[];

export interface TextEdit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The path cannot be followed. */
export class PathError extends Error {
  override readonly name = "PathError";
}

/** Creates missing objects and arrays on the way. Changes nothing if the value is there already. */
export function setIn(text: string, path: JsonPath, value: unknown): string {
  return applied(text, editsToSet(text, path, value));
}

/** Changes nothing if the path does not exist. */
export function removeIn(text: string, path: JsonPath): string {
  return applied(text, editsToRemove(text, path));
}

export function editsToSet(text: string, path: JsonPath, value: unknown): TextEdit[] {
  const nodes = walk(readJson(text), path);
  const node = nodes.at(-1)!;
  const layout = new Layout(text, nodes[0]!);
  const rest = path.slice(nodes.length - 1);
  const [step, ...further] = rest;
  if (step === undefined) {
    if (isDeepStrictEqual(jsonValue(node), value)) return [];
    const isMultiline = nodes.length === 1 || layout.isMultiline(nodes.slice(0, -1));
    const indent = isMultiline ? layout.indentAt(node.offset) : undefined;
    return [{ start: node.offset, end: endOf(node), text: layout.write(value, indent) }];
  }
  const made = further.reduceRight<unknown>((inner, key) => {
    if (typeof key === "number" && key !== 0) throw new PathError(`there is no array with an index ${key}`);
    return typeof key === "number" ? [inner] : { [key]: inner };
  }, value);
  return layout.append(nodes, typeof step === "string" ? step : undefined, made);
}

export function editsToRemove(text: string, path: JsonPath): TextEdit[] {
  const nodes = walk(readJson(text), path);
  if (path.length === 0) throw new PathError("the whole file cannot be removed");
  if (nodes.length <= path.length) return [];
  const parts = nodes.at(-2)!.children!;
  const index = indexOf(nodes.at(-2)!, path.at(-1)!);
  return removal(text, parts, index);
}

export function applied(text: string, edits: readonly TextEdit[]): string {
  let at = 0;
  const pieces: string[] = [];
  for (const edit of edits.toSorted((a, b) => a.start - b.start)) {
    pieces.push(text.slice(at, edit.start), edit.text);
    at = edit.end;
  }
  return pieces.join("") + text.slice(at);
}

/** The values on the path, from the root as far as it exists. */
function walk(root: JsonNode, path: JsonPath): JsonNode[] {
  const nodes = [root];
  for (const [depth, step] of path.entries()) {
    const node = nodes.at(-1)!;
    const type = typeof step === "string" ? "object" : "array";
    const where = path.slice(0, depth).join(".") || "the whole file";
    if (node.type !== type) throw new PathError(`${where} is not an ${type}`);
    if (typeof step === "number" && (step < 0 || step > node.children!.length)) throw new PathError(`${where} has no index ${step}`);
    const part = node.children![indexOf(node, step)];
    if (!part) break;
    nodes.push(part.type === "property" ? part.children![1]! : part);
  }
  return nodes;
}

function indexOf({ children }: JsonNode, step: string | number): number {
  return typeof step === "number" ? step : children!.findIndex((property) => keyOf(property) === step);
}

/** How the text is indented, and new parts in the same way. */
class Layout {
  readonly #text: string;
  readonly #eol: string;
  /** One level of indentation. */
  readonly #unit: string;

  constructor(text: string, root: JsonNode) {
    this.#text = text;
    this.#eol = /\r?\n/.exec(text)?.[0] ?? "\n";
    const first = root.children?.[0];
    this.#unit = (first && isFirstInLine(text, first.offset) && this.indentAt(first.offset)) || "  ";
  }

  indentAt(offset: number): string {
    const line = this.#text.slice(lineStart(this.#text, offset), offset);
    return /^\ufeff?([ \t]*)/.exec(line)![1]!;
  }

  /** Does the last of the nodes have a line for each of its parts? */
  isMultiline(nodes: readonly JsonNode[]): boolean {
    const node = nodes.at(-1)!;
    if (!node.children) return false;
    const close = endOf(node) - 1;
    const [first] = node.children;
    const blanks = this.#text.slice(node.offset, first?.offset ?? close) + this.#text.slice(tailOf(this.#text, node), close);
    if (/[\r\n]/.test(blanks)) return true;
    // An empty one follows the one around it.
    return !first && (nodes.length === 1 || this.isMultiline(nodes.slice(0, -1)));
  }

  /** On one line if no indentation is given. */
  write(value: unknown, indent: string | undefined): string {
    const json = JSON.stringify(value, undefined, indent === undefined ? undefined : this.#unit) as string | undefined;
    if (json === undefined) throw new PathError("the value cannot be written as JSON");
    return indent === undefined ? json : json.replaceAll("\n", this.#eol + indent);
  }

  /** Adds the last part of the last of the nodes. */
  append(nodes: readonly JsonNode[], key: string | undefined, value: unknown): TextEdit[] {
    const node = nodes.at(-1)!;
    const last = node.children!.at(-1);
    const isMultiline = this.isMultiline(nodes);
    const outer = this.indentAt(node.offset);
    const indent = last && isFirstInLine(this.#text, last.offset) ? this.indentAt(last.offset) : outer + this.#unit;
    const part = (key === undefined ? "" : `${JSON.stringify(key)}: `) + this.write(value, isMultiline ? indent : undefined);
    const tail = tailOf(this.#text, node);
    if (!last) {
      const blank = node.type === "object" ? " " : "";
      const text = isMultiline ? this.#eol + indent + part + this.#eol + outer : blank + part + blank;
      return [{ start: tail, end: endOf(node) - 1, text }];
    }
    // A trailing comma before means a trailing comma after.
    const hasComma = commaAfter(this.#text, last) !== undefined;
    const added = (isMultiline ? this.#eol + indent : " ") + part + (hasComma ? "," : "");
    const comma = hasComma ? [] : [{ start: endOf(last), end: endOf(last), text: "," }];
    return [...comma, { start: tail, end: tail, text: added }];
  }
}

function removal(text: string, parts: readonly JsonNode[], index: number): TextEdit[] {
  const part = parts[index]!;
  let start = part.offset;
  let end = endOf(part);
  const edits: TextEdit[] = [];
  const drop = (at: number): void => void edits.push({ start: at, end: at + 1, text: "" });
  const comma = commaAfter(text, part);
  if (comma !== undefined && text.slice(end, comma).trim() === "") end = comma + 1;
  else if (comma !== undefined) drop(comma);
  // It was the last part; the part before it is the last one now.
  else if (index > 0) drop(commaAfter(text, parts[index - 1]!)!);
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

const endOf = ({ offset, length }: JsonNode): number => offset + length;

/** Undefined: a bracket follows. */
function commaAfter(text: string, part: JsonNode): number | undefined {
  const scanner = createScanner(text, true);
  scanner.setPosition(endOf(part));
  scanner.scan();
  return text[scanner.getTokenOffset()] === "," ? scanner.getTokenOffset() : undefined;
}

/** Where the last part, comma or comment before the closing bracket ends. */
function tailOf(text: string, node: JsonNode): number {
  const last = node.children?.at(-1);
  const scanner = createScanner(text);
  let tail = last ? endOf(last) : node.offset + 1;
  scanner.setPosition(tail);
  for (scanner.scan(); scanner.getTokenOffset() < endOf(node) - 1; scanner.scan())
    if (text.slice(scanner.getTokenOffset(), scanner.getPosition()).trim() !== "") tail = scanner.getPosition();
  return tail;
}

function lineStart(text: string, offset: number): number {
  return text.lastIndexOf("\n", offset - 1) + 1;
}

function isFirstInLine(text: string, offset: number): boolean {
  return lineStart(text, offset) > 0 && text.slice(lineStart(text, offset), offset).trim() === "";
}
