/** Build time: leaves out of the guest's packages what a cell cannot use. The code that stays is the package's own. */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { RolldownPlugin } from "rolldown";

/** What whatwg-url imports → the file of src/sandbox/guest that it gets instead. */
const INSTEAD: Readonly<Record<string, string>> = {
  tr46: "web/url/idna",
  "./encoding": "web/utf8",
  // The package has tables of East Asian encodings. A URL in a cell is always UTF-8.
  "@exodus/bytes/encoding.js": "web/encoding",
  "@exodus/bytes/whatwg.js": "web/url/percent",
};
/**
 * What readable-stream requires → as above. It stays a `require`, which the guest's loader answers: Rolldown would put
 * every file that a CommonJS module requires, and all that those import, into functions.
 */
const FOR_STREAMS: Readonly<Record<string, string>> = {
  "process/": "node/process",
  buffer: "node/buffer/buffer",
  events: "node/events",
  "string_decoder/": "node/buffer/string-decoder",
  "abort-controller": "web/abort",
};
/** It only asks whether something is a blob, which must not load what makes blobs. */
const BLOB = "const Blob = globalThis.Blob || bufferModule.Blob";
const PROCESS = "require('process/')";
const LAZY_BLOB = "const Blob = { [Symbol.hasInstance]: (value) => value instanceof globalThis.Blob }";
/** Marks a `require` of another chunk. join.ts takes it away. */
export const CHUNK = "creel:";
const URL_PACKAGE = /[\\/]whatwg-url[\\/]/;
const STREAM_PACKAGE = /[\\/]readable-stream[\\/]/;
const BROTLI_PACKAGE = /[\\/]node_modules[\\/]brotli[\\/]/;
/** The same dictionary in a tenth of the size: compressed by Brotli itself. */
const DICTIONARY = "./dictionary-data.js";
const BYTES_PACKAGE = /[\\/]@exodus[\\/]bytes[\\/]/;

export function thin(fileOf: (entry: string) => string): RolldownPlugin {
  const missing = new Set([BLOB, PROCESS]);
  const replaced = (code: string, text: string, by: string): string => {
    if (code.includes(text)) missing.delete(text);
    return code.replace(text, by);
  };
  return {
    name: "creel-thin",
    buildEnd: (error) => {
      if (!error && missing.size > 0) throw new Error(`readable-stream has changed: it has no ${[...missing].join(", no ")}`);
    },
    resolveId: (id, importer) => {
      if (importer === undefined) return null;
      // The package exports only a function that needs twice the memory and cannot stop at a limit.
      if (id.startsWith("brotli/dec/")) return brotliFile(id);
      if (BROTLI_PACKAGE.test(importer) && id === DICTIONARY) return brotliFile("brotli/dec/dictionary-browser.js");
      if (STREAM_PACKAGE.test(importer) && Object.hasOwn(FOR_STREAMS, id)) return { id: CHUNK + FOR_STREAMS[id], external: true };
      const entry = URL_PACKAGE.test(importer) ? INSTEAD[id] : undefined;
      return entry === undefined ? null : fileOf(entry);
    },
    // The package prefers native globals such as TextDecoder. In a cell those are made of this very package, so it must
    // not see them.
    transform: (code, id) => {
      if (BYTES_PACKAGE.test(id)) return `const globalThis = { decodeURIComponent, escape };\n${code}`;
      return STREAM_PACKAGE.test(id) ? replaced(replaced(code, PROCESS, `${PROCESS}.process`), BLOB, LAZY_BLOB) : null;
    },
  };
}

function brotliFile(id: string): string {
  return join(dirname(createRequire(import.meta.url).resolve("brotli/decompress")), id.slice("brotli/".length));
}
