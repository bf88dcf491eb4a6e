/** Bundler process: packages of the guest's library without the parts that a cell has no use for, and without long inner names. What they do is left as it is. */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { RolldownPlugin } from "rolldown";
import { packPattern, packTable } from "./bundler-idna.ts";
import type { Tr46Row } from "./bundler-idna.ts";

/** What whatwg-url imports → the file of src/sandbox/guest that it gets instead. */
const INSTEAD: Readonly<Record<string, string>> = {
  tr46: "web/idna",
  "./encoding": "web/utf8",
  // Tables of East Asian encodings: a URL in a cell is UTF-8.
  "@exodus/bytes/encoding.js": "web/encoding",
  "@exodus/bytes/whatwg.js": "web/percent",
};
const IDNA_TABLE = /[\\/]tr46[\\/]lib[\\/]mappingTable\.json$/;
const IDNA_PATTERNS = /[\\/]tr46[\\/]lib[\\/]regexes\.js$/;
const URL_PACKAGE = /[\\/]whatwg-url[\\/]/;
const BYTES_PACKAGE = /[\\/]@exodus[\\/]bytes[\\/]/;

const STREAMS_PACKAGE = /[\\/]web-streams-polyfill[\\/]/;
/** Inner properties of streams that files of ours look at. */
const KNOWN = new Set(["_state", "_readableStreamController", "_pendingPullIntos", "_backpressure", "_disturbed"]);

/** Its inner properties all begin with an underscore, in code and in text, and their names are a seventh of it. */
function shortened(code: string): string {
  const names = new Map<string, string>();
  return code.replaceAll(/\b_[A-Za-z_]{3,}\b/g, (name) => {
    if (KNOWN.has(name)) return name;
    if (!names.has(name)) names.set(name, `_${names.size}`);
    return names.get(name)!;
  });
}

export function thin(fileOf: (entry: string) => string): RolldownPlugin {
  return {
    name: "creel-thin",
    resolveId: (id, importer) => {
      const entry = importer !== undefined && URL_PACKAGE.test(importer) ? INSTEAD[id] : undefined;
      return entry === undefined ? null : fileOf(entry);
    },
    load: async (id) => {
      const unpack = JSON.stringify(fileOf("web/idna-unpack"));
      if (IDNA_TABLE.test(id)) {
        const table = JSON.stringify(packTable(JSON.parse(await readFile(id, "utf8")) as Tr46Row[]));
        return { code: `module.exports = require(${unpack}).unpackTable(${table});`, moduleType: "js" };
      }
      if (!IDNA_PATTERNS.test(id)) return null;
      const patterns = Object.entries(createRequire(id)(id) as Record<string, RegExp>);
      const lines = patterns.map(([name, { source }]) => `${name}: unpackPattern(${JSON.stringify(packPattern(source))}),`);
      return `const { unpackPattern } = require(${unpack}); module.exports = {\n${lines.join("\n")}\n};`;
    },
    transform: (code, id) => {
      if (STREAMS_PACKAGE.test(id)) return shortened(code);
      // It looks for faster ways of the engine's own, and would find what it is itself the making of.
      return BYTES_PACKAGE.test(id) ? `const globalThis = { decodeURIComponent, escape };\n${code}` : null;
    },
  };
}
