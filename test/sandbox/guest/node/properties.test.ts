/** Whatever the arguments are, a cell answers as Node does. Many at a time: a call costs more than a path. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { oracle } from "./oracle.ts";

const bytes = fc.uint8Array({ maxLength: 40 }).map((array) => [...array]);
const text = fc.string({ unit: "binary", maxLength: 20 });
const encoding = fc.constantFrom("utf8", "hex", "base64", "base64url", "latin1", "ascii", "utf16le");
const offset = fc.oneof(fc.integer({ min: -2, max: 12 }), fc.constantFrom(null, 1.5, "1", "x"));
const piece = fc.stringMatching(/^(?:\.{1,3}|\/{1,2}|[ab]|\.a){0,6}$/);
const query = fc.stringMatching(/^(?:[ab&=+;]|%[0-9a-f]{2}|%){0,12}$/);
const value = fc.jsonValue({ maxDepth: 4 });
const numberMethod = fc.tuple(
  fc.constantFrom("UInt8", "Int8", "UInt16LE", "UInt16BE", "Int32LE", "UInt32BE", "FloatLE", "DoubleBE", "UIntLE", "IntBE"),
  fc.oneof(fc.double(), fc.integer(), fc.integer({ min: -300, max: 300 })),
  fc.integer({ min: -1, max: 9 }),
  fc.integer({ min: 0, max: 7 }),
);

/** Title → what is generated, and the expression that gets it as `x`. */
const PROPERTIES = {
  "paths of one part": [
    piece,
    `[path.normalize(x), path.dirname(x), path.basename(x), path.extname(x), path.parse(x), path.format(path.parse(x)), path.basename(x, ".a"), path.isAbsolute(x)]`,
  ],
  "paths of several parts": [
    fc.tuple(piece, piece, piece),
    `[path.join(...x), path.resolve("/home", ...x), path.relative("/r/" + x[0], "/r/" + x[1])]`,
  ],
  queries: [query, `[qs.parse(x), qs.unescape(x), qs.parse(x, ";", ":")]`],
  "queries made": [fc.dictionary(text, fc.oneof(text, fc.integer(), fc.array(text, { maxLength: 2 }))), `qs.stringify(x)`],
  "text to bytes and back": [
    fc.tuple(text, encoding, encoding),
    `[Buffer.from(x[0], x[1]), Buffer.from(x[0], x[1]).toString(x[2]), Buffer.byteLength(x[0], x[1])]`,
  ],
  "bytes to text": [fc.tuple(bytes, encoding, offset, offset), `Buffer.from(x[0]).toString(x[1], x[2] ?? undefined, x[3] ?? undefined)`],
  "bytes in pieces": [
    fc.tuple(fc.array(bytes, { maxLength: 4 }), encoding),
    `((d) => [...x[0].map((c) => d.write(Buffer.from(c))), d.end()].join(""))(new StringDecoder(x[1]))`,
  ],
  "a search in bytes": [
    fc.tuple(
      fc.array(fc.integer({ min: 97, max: 99 }), { maxLength: 12 }),
      fc.array(fc.integer({ min: 97, max: 99 }), { maxLength: 3 }),
      offset,
    ),
    `((b, v) => [b.indexOf(v, x[2] ?? undefined), b.lastIndexOf(v, x[2] ?? undefined), b.includes(v, x[2] ?? undefined)])(Buffer.from(x[0]), Buffer.from(x[1]))`,
  ],
  "slices, copies and fills": [
    fc.tuple(bytes, offset, offset, text),
    `[attempted(() => Buffer.from(x[0]).subarray(x[1] ?? undefined, x[2] ?? undefined)), attempted(() => Buffer.from(x[0]).fill(x[3], x[1] ?? undefined, x[2] ?? undefined)), attempted(() => { const t = Buffer.alloc(9); return [Buffer.from(x[0]).copy(t, x[1] ?? undefined, x[2] ?? undefined), t]; }), attempted(() => { const t = Buffer.alloc(9); return [t.write(x[3], x[1] ?? undefined, x[2] ?? undefined), t]; })]`,
  ],
  "numbers in bytes": [
    numberMethod,
    `((b) => [attempted(() => b["write" + x[0]](x[1], x[2], x[3])), b, attempted(() => b["read" + x[0]](x[2], x[3]))])(Buffer.alloc(8))`,
  ],
  "comparison of bytes": [
    fc.tuple(bytes, bytes, offset, offset),
    `[Buffer.compare(Buffer.from(x[0]), Buffer.from(x[1])), attempted(() => Buffer.from(x[0]).compare(Buffer.from(x[1]), x[2] ?? undefined, x[3] ?? undefined)), Buffer.concat([Buffer.from(x[0]), Buffer.from(x[1])])]`,
  ],
  "inspection of data": [
    value,
    `[util.inspect(x), util.inspect(x, { depth: 1, breakLength: 40, compact: false }), util.inspect(x, { sorted: true, colors: true })]`,
  ],
  formats: [
    fc.tuple(fc.stringMatching(/^(?:%[sdifjoOc%]|[ a]|%x){0,6}$/), fc.array(value, { maxLength: 4 })),
    `util.format(x[0], ...x[1])`,
  ],
  // Loosely in both directions: Node 24 takes `[[]]` for equal to `[null]`, and not the other way round.
  "deep equality": [
    fc.tuple(value, value),
    `[util.isDeepStrictEqual(x[0], x[1]), util.isDeepStrictEqual(x[0], structuredClone(x[0])), attempted(() => { assert.deepEqual(x[0], x[1]); assert.deepEqual(x[1], x[0]); }) === undefined]`,
  ],
  hashes: [
    fc.tuple(
      fc.array(bytes, { maxLength: 3 }),
      fc.constantFrom(
        "md5",
        "sha1",
        "sha224",
        "sha256",
        "sha384",
        "sha512",
        "sha512-256",
        "sha3-256",
        "ripemd160",
        "blake2b512",
        "blake2s256",
      ),
    ),
    `[x[0].reduce((h, b) => h.update(Buffer.from(b)), crypto.createHash(x[1])).digest("hex"), crypto.createHmac(x[1], Buffer.from(x[0][0] ?? [])).update("m").digest("base64url")]`,
  ],
  "long hashes": [
    fc.integer({ min: 100, max: 300 }),
    `crypto.createHash("sha512").update(Buffer.alloc(x, x)).update("é".repeat(x)).digest("hex")`,
  ],
  "derived keys": [
    fc.tuple(text, text, fc.integer({ min: 1, max: 80 })),
    `[crypto.pbkdf2Sync(x[0], x[1], 2, x[2], "sha256"), crypto.hkdfSync("sha512", x[0], x[1], "", x[2])]`,
  ],
  "urls of old": [
    fc.webUrl({ withQueryParameters: true, withFragments: true }),
    `[{ ...url.parse(x) }, url.format(url.parse(x)), url.resolve(x, "../y?z"), url.fileURLToPath("file:///" + encodeURIComponent(x).replaceAll("%2F", ""))]`,
  ],
} satisfies Record<string, readonly [fc.Arbitrary<unknown>, string]>;

const titles = Object.keys(PROPERTIES) as (keyof typeof PROPERTIES)[];
const cells = oracle("thread", {
  all: {
    setup: `const path = require("path"), qs = require("querystring"), util = require("util"), assert = require("assert");
      const crypto = require("crypto"), url = require("url"), { StringDecoder } = require("string_decoder");
      function attempted(fn) { try { return fn(); } catch (error) { return error; } }`,
    expressions: titles.map((title) => `args.map((x) => attempted(() => ${PROPERTIES[title][1]}))`),
  },
});

describe("Node's modules inside a cell, whatever the arguments", () => {
  it.each(titles)("%s", async (title) => {
    const arbitrary: fc.Arbitrary<unknown> = PROPERTIES[title][0];
    const property = fc.asyncProperty(fc.array(arbitrary, { minLength: 1, maxLength: 20 }), async (items) => {
      const [cell, node] = await cells.both("all", titles.indexOf(title), items);
      expect(cell).toBe(node);
    });
    await fc.assert(property, { numRuns: 15 });
  });
});
