/** Bundler process: makes one script of several that `require` each other, and one source map in sections. */
import type { SourceMapJson } from "./bundler-message.ts";

export interface Chunk {
  readonly fileName: string;
  readonly code: string;
  /** Source map, as JSON text. */
  readonly map: string | undefined;
}

/** Each script is a function of its own, and has its own mode; what is none of them is asked of the `require` around them. */
const LOADER =
  "(function (chunks, require) { var loaded = { __proto__: null }; return function load(name) { if (!chunks[name]) return require(name); var module = loaded[name]; if (!module) { module = loaded[name] = { exports: {} }; chunks[name](module.exports, module, load); } return module.exports; }; })";

export function joinChunks(entry: Chunk, others: readonly Chunk[]): { code: string; map: string } {
  const sections: Extract<SourceMapJson, { sections: unknown }>["sections"] = [];
  let code = `module.exports = ${LOADER}({ __proto__: null,\n`;
  // Those without a map first: a place after the last mapping of a section counts as that mapping's.
  for (const chunk of [...others, entry].toSorted((a, b) => Number(a.map !== undefined) - Number(b.map !== undefined))) {
    code += `${JSON.stringify(`./${chunk.fileName}`)}: function (exports, module, require) {\n`;
    if (chunk.map !== undefined)
      sections.push({ offset: { line: code.split("\n").length - 1, column: 0 }, map: JSON.parse(chunk.map) as never });
    code += `${chunk.code}\n},\n`;
  }
  code += `}, require)(${JSON.stringify(`./${entry.fileName}`)});\n`;
  return { code, map: JSON.stringify({ version: 3, sections } satisfies SourceMapJson) };
}

/**
 * The bootstrap: every chunk is a function that is not compiled before it is called. Its value is what the main chunk's default
 * export gives. In ASCII: V8 keeps any other text in two bytes a character, once per cell.
 */
export function joinGuest(main: string, atOnce: readonly string[], chunks: readonly Pick<Chunk, "fileName" | "code">[]): string {
  // In parentheses, V8 compiles a function with the script, and the code cache has it; otherwise when it is called.
  const parts = chunks.map(({ fileName, code }) => {
    const text = `function(exports,module,require){${code}\n}`;
    return `${JSON.stringify(fileName)}:${atOnce.includes(fileName) ? `(${text})` : text}`;
  });
  // SECURITY: sloppy functions are reachable as `caller` of what they call. test/escape/caller.test.ts
  const script = `"use strict";(function(chunks,loaded){function load(from){return function(name){var parts=(name[0]==="."?from+"/../"+name:name).split("/"),path=[];for(var i=0;i<parts.length;i++){if(parts[i]==="..")path.pop();else if(parts[i]!==".")path.push(parts[i])}name=path.join("/");var module=loaded[name];if(!module){module=loaded[name]={exports:{}};chunks[name](module.exports,module,load(name))}return module.exports}}return load("")(${JSON.stringify(main)}).default(load(""))})({__proto__:null,${parts.join(",\n")}},{__proto__:null})`;
  return ascii(script);
}

function ascii(code: string): string {
  return code.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
