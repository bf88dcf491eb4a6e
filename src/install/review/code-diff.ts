/**
 * Trusted side: how the code of an update differs from the installed one: the bundle line by line, and the files that
 * the plugin can read. The source map names the file of a line. A plugin wrote all of this text, so it is bounded and
 * escaped for terminals.
 */
import { SourceMap } from "node:module";
import type { SourceMapPayload } from "node:module";
import * as z from "zod";
import { oneLine } from "../../text/one-line.ts";
import { DANGEROUS } from "../../protocol/dangerous-text.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { lineDiff, linesOf } from "./line-diff.ts";
import type { LineChange } from "./line-diff.ts";

/** The texts to compare. */
export interface CodeTexts {
  readonly bundle: string;
  readonly map: string;
  /** The plugin's own files, as in `own.json`. */
  readonly own: string;
}

export const codeChange = z.object({
  /** Digests of the bundles. */
  from: z.string(),
  to: z.string(),
  /** False: the installed files cannot be read, so only the digests are compared. */
  isKnown: z.boolean(),
  files: z.array(z.object({ file: z.string(), added: z.int(), removed: z.int() })),
  /** Files that are not listed. */
  more: z.int(),
  added: z.int(),
  removed: z.int(),
});
export type CodeChange = z.infer<typeof codeChange>;

export interface Compared {
  readonly change: CodeChange;
  /** The text of the difference, line by line, as a terminal may show it. */
  readonly text: () => string[];
}

/** Unassigned characters, too: a newer font may show them, or not. */
const HIDDEN = new RegExp(String.raw`[${DANGEROUS}\p{Cn}]`, "gu");

const own = z.array(
  z.union([
    z.tuple([z.string(), z.number(), z.string()]),
    z.tuple([z.string(), z.number(), z.string(), z.union([z.string(), z.number()])]),
  ]),
);

interface Part {
  /** Of each changed line, the file it is from. */
  readonly before: readonly string[];
  readonly after: readonly string[];
  readonly changes: readonly LineChange[];
  readonly fileOf: (change: LineChange) => string;
}

/** `before` undefined: the installed files cannot be read. */
export function comparedCode(before: CodeTexts | undefined, after: CodeTexts, digests: { from: string; to: string }): Compared {
  const parts = before ? [bundlePart(before, after), ...ownParts(before, after)] : [];
  const files = new Map<string, { file: string; added: number; removed: number }>();
  for (const { changes, fileOf } of parts)
    for (const change of changes) {
      const file = fileOf(change);
      const count = files.get(file) ?? { file: oneLine(file, 256), added: 0, removed: 0 };
      count[change.sign === "+" ? "added" : "removed"] += 1;
      files.set(file, count);
    }
  const all = [...files.values()];
  const sum = (key: "added" | "removed"): number => all.reduce((total, one) => total + one[key], 0);
  return {
    change: {
      ...digests,
      isKnown: before !== undefined,
      files: all.slice(0, LIMITS.install.diffFiles),
      more: Math.max(0, all.length - LIMITS.install.diffFiles),
      added: sum("added"),
      removed: sum("removed"),
    },
    text: () => (before ? bounded(parts) : ["the installed files cannot be read, so the code cannot be compared"]),
  };
}

export function codeWords({ from, to, isKnown, files, more, added, removed }: CodeChange): string {
  const digests = `bundle ${from} → ${to}`;
  if (!isKnown) return `cannot be compared: the installed files were changed; ${digests}`;
  if (files.length === 0) return digests;
  const few = files.slice(0, 3).map((one) => `${one.file} +${one.added} -${one.removed}`);
  const others = files.length + more - few.length;
  return `${files.length + more} file${files.length + more === 1 ? "" : "s"}, +${added} -${removed} lines (${few.join(", ")}${others > 0 ? `, and ${others} more` : ""}); ${digests}`;
}

function bundlePart(before: CodeTexts, after: CodeTexts): Part {
  const [from, to] = [linesOf(before.bundle), linesOf(after.bundle)];
  const maps = { "-": mapOf(before.map), "+": mapOf(after.map) };
  const texts = { "-": from, "+": to };
  const fileOf = ({ sign, line }: LineChange): string => {
    const entry = maps[sign]?.findEntry(line, Math.max(0, (texts[sign][line]?.length ?? 1) - 1));
    return (entry && "originalSource" in entry && entry.originalSource) || "bundle.js";
  };
  return { before: from, after: to, changes: lineDiff(from, to), fileOf };
}

function mapOf(text: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(text) as SourceMapPayload);
  } catch {
    return undefined;
  }
}

/** Sources are in the bundle; the other files are data that the code reads. */
function ownParts(before: CodeTexts, after: CodeTexts): Part[] {
  const [from, to] = [dataOf(before), dataOf(after)];
  return [...new Set([...from.keys(), ...to.keys()])].toSorted().flatMap((file) => {
    const [old, now] = [from.get(file) ?? [], to.get(file) ?? []];
    const changes = lineDiff(old, now);
    return changes.length === 0 ? [] : [{ before: old, after: now, changes, fileOf: () => file }];
  });
}

function dataOf({ own: text, map }: CodeTexts): Map<string, string[]> {
  const parsed = own.safeParse(text === "" ? [] : JSON.parse(text));
  const sources = new Set(sourcesOf(map));
  return new Map(
    (parsed.data ?? []).flatMap(([path, , kind, content]) => {
      if (sources.has(path) || kind === "d" || content === undefined) return [];
      return [
        [path, kind === "u" ? linesOf(String(content)) : [`(${kind === "x" ? "too large" : "not text"}: ${String(content)})`]] as const,
      ];
    }),
  );
}

function sourcesOf(map: string): string[] {
  const flat = z.object({ sources: z.array(z.string()) });
  const sectioned = z.object({ sections: z.array(z.object({ map: flat })) });
  const found = z.union([sectioned, flat]).safeParse(JSON.parse(map)).data;
  if (!found) return [];
  return "sections" in found ? found.sections.flatMap((section) => section.map.sources) : found.sources;
}

function bounded(parts: readonly Part[]): string[] {
  const lines: string[] = [];
  let left = 0;
  let file: string | undefined;
  for (const { before, after, changes, fileOf } of parts)
    for (const change of changes) {
      if (lines.length >= LIMITS.install.diffShownLines) {
        left += 1;
        continue;
      }
      const name = fileOf(change);
      if (name !== file) lines.push(`@@ ${oneLine(name, 256)}`);
      file = name;
      lines.push(`${change.sign} ${visible((change.sign === "-" ? before : after)[change.line] ?? "")}`);
    }
  if (left > 0) lines.push(`… and ${left} more lines`);
  return lines;
}

/**
 * A line of code for a terminal, with its indentation. Control and invisible characters are shown by number. SECURITY:
 * test/install/review/code-diff.test.ts
 */
export function visible(line: string): string {
  const shown = line
    .slice(0, LIMITS.install.diffLineChars)
    .replaceAll("\t", "  ")
    .replaceAll(HIDDEN, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`);
  const rest = line.length - LIMITS.install.diffLineChars;
  return rest > 0 ? `${shown}… (and ${rest} more characters)` : shown;
}
