/**
 * Trusted side: maps a place in a plugin's bundle to a line of the author's files. Node's `SourceMap` makes an object of every mapping: a
 * quarter of a second for a bundle of 2 MB, on the gateway's thread, at the plugin's first error. Here one pass over the mappings notes
 * where each line of the bundle begins, and only the requested line is decoded.
 */
import * as z from "zod";
import { LIMITS } from "../../protocol/limits.ts";

/** Creel's bundler made it, but that of an installed plugin was on a disk since. A bundle of strict and sloppy scripts has sections. */
const flatMap = z.object({ mappings: z.string(), sources: z.array(z.string().nullable()), sourceRoot: z.string().optional() });
const sectionedMap = z.object({
  sections: z.array(z.object({ offset: z.object({ line: z.int().min(0), column: z.int().min(0) }), map: flatMap })),
});
type FlatMap = z.infer<typeof flatMap>;

/** A part of the bundle with its own map, whose lines and columns count from there. */
interface Section {
  readonly line: number;
  readonly column: number;
  readonly lines: MappedLines;
}

export interface Origin {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** Where a line of the bundle begins in the mappings, and the sums of the numbers before it. */
interface LineStart {
  readonly at: number;
  readonly source: number;
  readonly line: number;
  readonly column: number;
}

const DIGITS = new Uint8Array(128);
for (const [value, digit] of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".split("").entries())
  DIGITS[digit.charCodeAt(0)] = value;
const SEMICOLON = 59;
const COMMA = 44;

export class SourceLines {
  readonly #sections: readonly Section[];

  /** `map` is JSON. A map that is invalid or too long has no lines. */
  constructor(map: string) {
    this.#sections = sectionsOf(map);
  }

  /** All numbers count from 1, as in a stack. */
  find(line: number, column: number): Origin | undefined {
    const section = this.#sections.findLast((one) => one.line < line - 1 || (one.line === line - 1 && one.column <= column - 1));
    if (!section) return undefined;
    return section.lines.find(line - section.line, section.line === line - 1 ? column - section.column : column);
  }
}

class MappedLines {
  readonly #mappings: string;
  readonly #sources: readonly (string | null)[];
  readonly #root: string;
  #lines: LineStart[] | undefined;

  constructor({ mappings, sources, sourceRoot }: FlatMap) {
    this.#mappings = mappings.length > LIMITS.bundler.sourceMapChars ? "" : mappings;
    this.#sources = sources;
    this.#root = sourceRoot === undefined || sourceRoot === "" ? "" : `${sourceRoot.replace(/\/$/, "")}/`;
  }

  find(line: number, column: number): Origin | undefined {
    const start = (this.#lines ??= this.#starts())[line - 1];
    if (!start) return undefined;
    let best: Origin | undefined;
    this.#read(start, 1, (generated, source, ofLine, ofColumn) => {
      if (generated > column - 1) return false;
      best = { file: this.#root + (this.#sources[source] ?? ""), line: ofLine + 1, column: ofColumn + column - generated };
      return true;
    });
    return best?.file ? best : undefined;
  }

  #starts(): LineStart[] {
    const starts: LineStart[] = [];
    this.#read({ at: 0, source: 0, line: 0, column: 0 }, Infinity, undefined, starts);
    return starts;
  }

  /** Decodes `lines` lines in one loop. Columns of the bundle restart with each line; the other numbers accumulate. */
  #read(
    from: LineStart,
    lines: number,
    seen: ((generated: number, source: number, line: number, column: number) => boolean) | undefined,
    starts?: LineStart[],
  ): void {
    const text = this.#mappings;
    let { source, line, column } = from;
    let generated = 0;
    let left = lines;
    let [field, value, shift] = [0, 0, 0];
    starts?.push(from);
    for (let at = from.at; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      if (unit === COMMA || unit === SEMICOLON) {
        field = value = shift = 0;
        if (unit === COMMA) continue;
        generated = 0;
        if (--left === 0) return;
        starts?.push({ at: at + 1, source, line, column });
        continue;
      }
      // Base64 VLQ: five bits per character; the lowest bit of a number is its sign, the sixth bit of a character means that more follow.
      const digit = unit < 128 ? DIGITS[unit]! : 0;
      value |= (digit & 31) << shift;
      shift += 5;
      if (digit >= 32) continue;
      const number = value & 1 ? -(value >>> 1) : value >>> 1;
      value = shift = 0;
      if (field === 0) generated += number;
      else if (field === 1) source += number;
      else if (field === 2) line += number;
      else if (field === 3) {
        column += number;
        if (seen && !seen(generated, source, line, column)) return;
      }
      field += 1;
    }
  }
}

function sectionsOf(map: string): Section[] {
  try {
    const found = z.union([flatMap, sectionedMap]).parse(JSON.parse(map));
    if (!("sections" in found)) return [{ line: 0, column: 0, lines: new MappedLines(found) }];
    return found.sections.map(({ offset, map: own }) => ({ ...offset, lines: new MappedLines(own) }));
  } catch {
    return [];
  }
}
