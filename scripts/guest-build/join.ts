/** Build time: joins the chunks of the guest into the one text that every cell is made from. */
import { posix } from "node:path";
import { LIBRARY_MARK } from "../../src/protocol/guest-surface/surface.ts";
import { CHUNK } from "./thin.ts";

interface Chunk {
  readonly fileName: string;
  readonly code: string;
}

const wrapped = (code: string): string => `(function(exports,module,require){${code}\n})`;

/**
 * The text is ASCII, because V8 keeps any other text in two bytes a character. The bootstrap comes first: a script
 * whose value is what the main chunk's default export returns. It stands in parentheses, so that V8 compiles its
 * functions with the script and the code cache has them. The library follows after a mark; all cells of a lane share
 * it. Its first line says where each chunk is, as JSON. Then come the chunks' texts, each evaluated when it is first
 * needed.
 */
export function joinGuest(main: string, atOnce: readonly string[], chunks: readonly Chunk[]): string {
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

/**
 * The bootstrap's loader. It gives the main chunk a function that loads another chunk and one that takes the library's
 * text. It captures the built-ins before a plugin can change them.
 */
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

/** Chunks name each other by relative paths. Makes them the names under which the loader knows them. */
function resolved({ fileName, code }: Chunk): string {
  return code
    .replaceAll(`require("${CHUNK}`, 'require("')
    .replaceAll(
      /\brequire\("(\.{1,2}\/[^"]+)"\)/g,
      (_, name: string) => `require(${JSON.stringify(posix.join(posix.dirname(fileName), name))})`,
    );
}

function ascii(code: string): string {
  return code.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
