/**
 * Adds and removes Creel's entries in an agent's JSON settings by inserting and cutting text, so that everything else in
 * the file stays byte for byte: comments, order, layout, line ends. What was added is cut out again exactly.
 */
import { jsonValue, keyOf, readJson } from "../../text/jsonc.ts";
import type { JsonNode } from "../../text/jsonc.ts";

/** Of one event. */
export interface Wanted {
  /** Undefined: none. */
  readonly entry: object | undefined;
  /** Part of every command of Creel's for this event. */
  readonly mark: string;
}

/** Throws a JsonSyntaxError for a file that is not JSON, and an Error if its `hooks` is not an object of lists. */
export function edited(text: string, wanted: ReadonlyMap<string, Wanted>): string {
  let now = text.trim() === "" ? "{}\n" : text;
  for (const [event, { entry, mark }] of wanted) {
    const ours = entriesOf(now, event).filter((node) => hasMark(node, mark));
    // The entry is up to date.
    if (entry && ours.length === 1 && JSON.stringify(jsonValue(ours[0]!)) === JSON.stringify(entry)) continue;
    const isOurs = ours.length > 0;
    for (let left = ours.length; left > 0; left--) now = withoutOne(now, event, mark);
    if (entry) now = withEntry(now, event, entry);
    else if (isOurs && entriesOf(now, event).length === 0) now = withoutEvent(now, event);
  }
  return now;
}

/** Is nothing left in it? */
export function isEmptyObject(text: string): boolean {
  return /^\s*\{\s*\}\s*$/.test(text);
}

function withEntry(text: string, event: string, entry: object): string {
  const root = readJson(text);
  const hooks = propertyOf(root, "hooks");
  if (!hooks) return appended(text, root, "hooks", { [event]: [entry] });
  const entries = propertyOf(hooks, event);
  return entries ? appended(text, entries, undefined, entry) : appended(text, hooks, event, [entry]);
}

/** Cuts the last group with the mark, or only the hook in it, if there are others beside it. */
function withoutOne(text: string, event: string, mark: string): string {
  const entries = propertyOf(propertyOf(readJson(text), "hooks")!, event)!;
  const group = entries.children!.findLast((node) => hasMark(node, mark))!;
  const hooks = propertyOf(group, "hooks");
  const inGroup = hooks?.type === "array" ? hooks.children! : [];
  const isShared = inGroup.some((hook) => !hasMark(hook, mark));
  return isShared
    ? cut(
        text,
        hooks!,
        inGroup.findLast((hook) => hasMark(hook, mark))!,
      )
    : cut(text, entries, group);
}

function withoutEvent(text: string, event: string): string {
  const root = readJson(text);
  const hooks = propertyOf(root, "hooks")!;
  const left = hooks.children!.filter((property) => keyOf(property) !== event);
  if (left.length === 0) return cut(text, root, hooks.parent!);
  return cut(text, hooks, propertyOf(hooks, event)!.parent!);
}

function entriesOf(text: string, event: string): readonly JsonNode[] {
  const root = readJson(text);
  if (root.type !== "object") throw new Error("it is not a JSON object");
  const hooks = propertyOf(root, "hooks");
  if (!hooks) return [];
  if (hooks.type !== "object") throw new Error(`"hooks" is not an object`);
  const entries = propertyOf(hooks, event);
  if (entries && entries.type !== "array") throw new Error(`"hooks.${event}" is not a list`);
  return entries?.children ?? [];
}

function propertyOf(node: JsonNode, key: string): JsonNode | undefined {
  if (node.type !== "object") return undefined;
  return node.children!.find((property) => keyOf(property) === key)?.children![1];
}

function hasMark(node: JsonNode, mark: string): boolean {
  if (node.type === "string") return (node.value as string).includes(`${mark} `);
  return (node.children ?? []).some((child) => hasMark(child, mark));
}

/** After the last child, laid out as the file is. */
function appended(text: string, container: JsonNode, key: string | undefined, value: unknown): string {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const unit = /\n([ \t]+)"/.exec(text)?.[1] ?? "  ";
  const [open, close] = [container.offset + 1, container.offset + container.length - 1];
  const last = container.children!.at(-1);
  const outer = indentAt(text, container.offset);
  const piece = (indent: string): string => {
    const json = JSON.stringify(value, undefined, unit).replaceAll("\n", `${eol}${indent}`);
    return key === undefined ? json : `${JSON.stringify(key)}: ${json}`;
  };
  if (!last) {
    const inner = text.slice(open, close);
    const end = /^\s*\n/.test(inner) ? "" : `${eol}${outer}`;
    return splice(text, open, open, `${eol}${outer}${unit}${piece(outer + unit)}${end}`);
  }
  const at = last.offset + last.length;
  const isOneLine = !text.slice(open, last.offset).includes("\n");
  if (!isOneLine) return splice(text, at, at, `,${eol}${indentAt(text, last.offset)}${piece(indentAt(text, last.offset))}`);
  const flat = JSON.stringify(value);
  return splice(text, at, at, `, ${key === undefined ? flat : `${JSON.stringify(key)}: ${flat}`}`);
}

/** With the comma before it, or after it if it is the first. */
function cut(text: string, container: JsonNode, child: JsonNode): string {
  const children = container.children!;
  const at = children.findIndex(({ offset }) => offset === child.offset);
  const end = child.offset + child.length;
  const before = children[at - 1];
  if (before) return splice(text, before.offset + before.length, end, "");
  const after = children[at + 1];
  if (after) return splice(text, child.offset, after.offset, "");
  const [open, close] = [container.offset + 1, container.offset + container.length - 1];
  const rest = text.slice(open, child.offset).trimEnd() + text.slice(end, close).replace(/^\s*,/, "");
  return splice(text, open, close, rest.trim() === "" ? "" : rest);
}

function splice(text: string, from: number, to: number, piece: string): string {
  return text.slice(0, from) + piece + text.slice(to);
}

/** Of the line that holds the offset. */
function indentAt(text: string, offset: number): string {
  const start = text.lastIndexOf("\n", offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(start, offset))![0];
}
