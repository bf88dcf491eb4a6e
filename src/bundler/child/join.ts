/** Bundler child process: joins several scripts that `require` each other into one, with one source map in sections. */
import type { SourceMapJson } from "../messages.ts";

export interface Chunk {
  readonly fileName: string;
  readonly code: string;
  /** Source map, as JSON text. */
  readonly map: string | undefined;
}

/** Each script is a function with its own mode. A name that none of them has goes to the outer `require`. */
const LOADER =
  "(function (chunks, require) { var loaded = { __proto__: null }; return function load(name) { if (!chunks[name]) return require(name); var module = loaded[name]; if (!module) { module = loaded[name] = { exports: {} }; chunks[name](module.exports, module, load); } return module.exports; }; })";

export function joinChunks(entry: Chunk, others: readonly Chunk[]): { code: string; map: string } {
  const sections: Extract<SourceMapJson, { sections: unknown }>["sections"] = [];
  let code = `module.exports = ${LOADER}({ __proto__: null,\n`;
  // Those without a map first: any place after the last mapping of a section would count as that mapping.
  for (const chunk of [...others, entry].toSorted((a, b) => Number(a.map !== undefined) - Number(b.map !== undefined))) {
    code += `${JSON.stringify(`./${chunk.fileName}`)}: function (exports, module, require) {\n`;
    if (chunk.map !== undefined)
      sections.push({ offset: { line: code.split("\n").length - 1, column: 0 }, map: JSON.parse(chunk.map) as never });
    code += `${chunk.code}\n},\n`;
  }
  code += `}, require)(${JSON.stringify(`./${entry.fileName}`)});\n`;
  return { code, map: JSON.stringify({ version: 3, sections } satisfies SourceMapJson) };
}
