/** Bundler process: makes one script of several that `require` each other, and one source map in sections. */
import { posix } from "node:path";
import { LIBRARY_MARK } from "../protocol/surface.ts";
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

/** The text of a chunk's function. */
const wrapped = (code: string): string => `(function(exports,module,require){${code}\n})`;

/**
 * What every cell is made of, in ASCII: V8 keeps any other text in two bytes a character. First the bootstrap, a script whose value is what the main chunk's default export
 * gives; in parentheses, V8 compiles its functions with the script, and the code cache has them. After the mark the library, which all cells of a lane share: where each chunk is, as
 * JSON, and on the next line their texts, each evaluated when it is first asked for.
 */
export function joinGuest(main: string, atOnce: readonly string[], chunks: readonly Pick<Chunk, "fileName" | "code">[]): string {
  const places: Record<string, [from: number, to: number]> = {};
  const parts: string[] = [];
  let texts = "";
  for (const chunk of chunks) {
    const { fileName } = chunk;
    const text = wrapped(resolved(chunk));
    if (atOnce.includes(fileName)) {
      parts.push(`${JSON.stringify(fileName)}:${text}`);
      continue;
    }
    // SECURITY: sloppy functions are reachable as `caller` of what they call. test/escape/caller.test.ts
    const from = texts.length;
    texts += ascii(`"use strict";${text}\n//# sourceURL=creel:guest/${fileName}\n`);
    places[fileName] = [from, texts.length];
  }
  const bootstrap = `"use strict";${LOADERS}({__proto__:null,${parts.join(",\n")}},${JSON.stringify(main)})`;
  return `${ascii(bootstrap)}${LIBRARY_MARK}${JSON.stringify(places)}\n${texts}`;
}

/** Of the bootstrap: gives the main chunk what loads another, and what takes the library's text. The built-ins are taken while they are still what V8 made them. */
const LOADERS = `(function(chunks,main){
var evaluate=eval,apply=Reflect.apply,define=Object.defineProperty,slice="".slice,find="".indexOf,parse=JSON.parse,loaded={__proto__:null},library="",start=0,places;
var cut=(function(from,to){return apply(slice,library,[from,to])});
var late=(function(name){
if(!places){start=apply(find,library,["\\n"])+1;places=parse(cut(0,start))}
return evaluate(cut(start+places[name][0],start+places[name][1]))
});
var open=(function(name){
var module=loaded[name];
if(!module){
var chunk=chunks[name];
module=loaded[name]={exports:{},share:void 0};
if(chunk)chunk(module.exports,module,load);else late(name)(module.exports,module,loadShared)
}
return module
});
var load=(function(name){return open(name).exports});
var loadShared=(function(name){
var module=open(name);
if(module.share){module.share(define);module.share=void 0}
return module.exports
});
return load(main).default(load,(function(text){library=text}))
})`;

/** Names of chunks are relative to who asks for them; here they are made what they mean. */
function resolved({ fileName, code }: Pick<Chunk, "fileName" | "code">): string {
  return code.replaceAll(
    /\brequire\("(\.{1,2}\/[^"]+)"\)/g,
    (_, name: string) => `require(${JSON.stringify(posix.join(posix.dirname(fileName), name))})`,
  );
}

function ascii(code: string): string {
  return code.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
