/** Bundler process: packages of the guest's library without the parts that a cell has no use for. Their own code is left as it is. */
import type { RolldownPlugin } from "rolldown";

/** What whatwg-url imports → the file of src/sandbox/guest that it gets instead. */
const INSTEAD: Readonly<Record<string, string>> = {
  tr46: "web/idna",
  // Tables of East Asian encodings: a URL in a cell is UTF-8.
  "@exodus/bytes/encoding.js": "web/encoding",
  "@exodus/bytes/whatwg.js": "web/percent",
};
const URL_PACKAGE = /[\\/]whatwg-url[\\/]/;
const BYTES_PACKAGE = /[\\/]@exodus[\\/]bytes[\\/]/;

export function thin(fileOf: (entry: string) => string): RolldownPlugin {
  return {
    name: "creel-thin",
    resolveId: (id, importer) => {
      const entry = importer !== undefined && URL_PACKAGE.test(importer) ? INSTEAD[id] : undefined;
      return entry === undefined ? null : fileOf(entry);
    },
    transform: (code, id) => {
      // It looks for faster ways of the engine's own, and would find what it is itself the making of.
      return BYTES_PACKAGE.test(id) ? `const globalThis = { decodeURIComponent, escape };\n${code}` : null;
    },
  };
}
