/**
 * Trusted side: which line of the author's a line of the running script is. The map comes from sources.ts, as a data URL
 * with the author's files in it; without it, positions are those of the bundle.
 */
import { SourceMap } from "node:module";
import type { SourceMapPayload } from "node:module";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";

export interface SourcePosition {
  /** As in the map: a file URL, or a name. */
  readonly url: string;
  /** Counts from 1. */
  readonly line: number;
  readonly column: number;
}

interface Sources {
  readonly sources: readonly (string | null)[];
  readonly sourcesContent?: readonly (string | null)[];
}

export class SourcePositions {
  readonly #map: SourceMap | undefined;
  readonly #contents = new Map<string, string>();

  constructor(mapUrl: string | undefined) {
    if (mapUrl === undefined) return;
    const payload = JSON.parse(Buffer.from(mapUrl.slice(mapUrl.indexOf(",") + 1), "base64").toString()) as SourceMapPayload &
      Partial<Sources> & { readonly sections?: readonly { readonly map: Sources }[] };
    this.#map = new SourceMap(payload);
    for (const { sources, sourcesContent } of payload.sections?.map(({ map }) => map) ?? [payload])
      for (const [at, source] of sources.entries()) {
        const text = sourcesContent?.[at];
        if (source !== null && typeof text === "string") this.#contents.set(source, text);
      }
  }

  /** All files whose text is known. */
  get files(): readonly string[] {
    return [...this.#contents.keys()];
  }

  /** Counts from 0, as V8 does. Undefined: no line of the author's. */
  at(line: number, column: number): SourcePosition | undefined {
    const found = this.#map?.findEntry(line, column);
    if (!found || !("originalSource" in found) || typeof found.originalSource !== "string") return undefined;
    return { url: found.originalSource, line: found.originalLine + 1, column: found.originalColumn + 1 };
  }

  /** The first position of the author's in a line. Counts from 0. */
  inLine(line: number): SourcePosition | undefined {
    // Generated code is indented: the first character may belong to the statement before.
    for (let column = 0; column < MAX_INDENT; column++) {
      const found = this.#map?.findEntry(line, column);
      if (found && "generatedLine" in found && found.generatedLine === line && typeof found.originalSource === "string")
        return { url: found.originalSource, line: found.originalLine + 1, column: found.originalColumn + 1 };
    }
    return undefined;
  }

  textOf(url: string): string | undefined {
    return this.#contents.get(url);
  }

  /** A line's text, without its indentation; undefined: it is not known. */
  lineOf({ url, line }: Pick<SourcePosition, "url" | "line">): string | undefined {
    return this.#contents.get(url)?.split("\n")[line - 1]?.trim();
  }
}

/** Deeper indentation than people write. */
const MAX_INDENT = 200;

/** A file's name for people: relative to the current folder if it is below. */
export function shortName(url: string): string {
  if (!url.startsWith("file:")) return url;
  const path = fileURLToPath(url);
  const near = relative(process.cwd(), path);
  return near.startsWith("..") || near === "" ? path : near;
}
