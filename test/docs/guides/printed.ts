/**
 * Compares what a page says with what was printed. Digests, times, sizes of pauses and process ids are masked; an id stands for the same id in
 * the whole page. "…" stands for any text, and alone on a line for any lines.
 */
import { stripVTControlCharacters } from "node:util";

/** Ids of the page, and what they are in this run. */
export type Ids = Map<string, string>;

interface Mask {
  readonly on: RegExp;
  readonly takes: string;
}

const MASKS: readonly Mask[] = [
  { on: /…/, takes: ".*?" },
  { on: /sha(?:256|512)-[\w+/=]*…?/, takes: String.raw`sha(?:256|512)-[\w+/=]+…?` },
  { on: /serve-[0-9a-f]{12}/, takes: "serve-[0-9a-f]{12}" },
  { on: /\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d{3}Z)?/, takes: String.raw`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d{3}Z)?` },
  { on: /\d\d:\d\d:\d\d\.\d{3}/, takes: String.raw`\d\d:\d\d:\d\d\.\d{3}` },
  { on: /\d[\d,]*(?:\.\d+)? (?:µs|ms|s|min)\b/, takes: String.raw`\d[\d,]*(?:\.\d+)? (?:µs|ms|s|min)` },
  { on: /\b(?:pid|process) \d+/, takes: String.raw`(?:pid|process) \d+` },
  { on: /\bby \w+@[\w.-]+/, takes: String.raw`by \w+@[\w.-]+` },
  { on: /\bby: (?:unshare|bubblewrap)/, takes: "by: (?:unshare|bubblewrap)" },
  { on: /v24\.\d+\.\d+/, takes: String.raw`v24\.\d+\.\d+` },
  { on: /(?:linux|darwin) (?:x64|arm64)/, takes: "(?:linux|darwin) (?:x64|arm64)" },
  { on: / {2,}/, takes: " +" },
];
/** Hosts and approvals; events that were given up. */
const ID = /\bh?[0-9a-f]{8}(?:[0-9a-f]{4})?\b|\b(?=\w*[A-Z])(?=\w*[a-z])(?=\w*\d)[\w-]{16}(?![\w-])/;
const TOKEN = new RegExp([...MASKS.map(({ on }) => on.source), ID.source].map((one) => `(${one})`).join("|"), "g");

/** Clears the line that the cursor is on. */
const CLEAR = "\u001b[K";

/** What a person sees: without colours, and without lines that were replaced by others. */
export function screenText(raw: string): string {
  const lines = raw.replaceAll("\r\n", "\n").split("\n");
  const seen = lines.map((line) =>
    stripVTControlCharacters(
      line
        .replaceAll(CLEAR, "")
        .split("\r")
        .findLast((part) => part !== "") ?? "",
    ).trimEnd(),
  );
  return seen.join("\n").trimEnd();
}

/** Whether the page says what was printed. New ids are learnt. */
export function isPrinted(says: readonly string[], printed: string, ids: Ids): boolean {
  const groups: string[] = [];
  const parts = says.map((line) => (line.trim() === "…" ? String.raw`(?:[^\n]*\n)*?` : `${lineOf(line.trimEnd(), ids, groups)}\\n`));
  const found = new RegExp(`^${parts.join("")}$`).exec(printed === "" ? "" : `${printed}\n`);
  if (!found) return false;
  for (const [index, id] of groups.entries()) ids.set(id, found.groups![`id${index}`]!);
  return true;
}

function lineOf(line: string, ids: Ids, groups: string[]): string {
  let pattern = "";
  let last = 0;
  for (const match of line.matchAll(TOKEN)) {
    pattern += escaped(line.slice(last, match.index));
    last = match.index + match[0].length;
    const mask = MASKS[match.slice(1).findIndex((one) => one !== undefined)];
    pattern += mask?.takes ?? idOf(match[0], ids, groups);
  }
  return pattern + escaped(line.slice(last));
}

function idOf(id: string, ids: Ids, groups: string[]): string {
  const known = ids.get(id);
  if (known !== undefined) return escaped(known);
  const index = groups.indexOf(id);
  if (index !== -1) return `\\k<id${index}>`;
  if (id.length === 16) return `(?<id${groups.push(id) - 1}>[\\w-]{16})`;
  return `(?<id${groups.push(id) - 1}>${id.startsWith("h") ? "h" : ""}[0-9a-f]{${id.replace("h", "").length}})`;
}

/** A command of the page with the ids of this run. */
export function withIds(command: string, ids: Ids): string {
  return command.replaceAll(new RegExp(ID, "g"), (id) => ids.get(id) ?? id);
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);
}
