/** Text, bytes and base64 behave as in Node. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { comparison } from "./compare.ts";
import { shapeOf } from "./shape.ts";

const BYTES: readonly string[] = [
  "[]",
  "[0xef, 0xbb, 0xbf, 97]",
  "[0xc3]",
  "[0xff, 97]",
  "[0xe2, 0x82, 97]",
  "[0xf0, 0x9f, 0x98, 0x80]",
  "[0xed, 0xa0, 0x80]",
  "[0xc0, 0x80]",
  "[0xf4, 0x90, 0x80, 0x80]",
];

describe("encodings", () => {
  const { same, both } = comparison();

  same(
    "TextEncoder makes UTF-8",
    [
      shapeOf("TextEncoder.prototype"),
      `new TextEncoder().encoding`,
      `new TextEncoder().encode()`,
      `new TextEncoder().encode(undefined)`,
      `new TextEncoder().encode(null)`,
      `new TextEncoder().encode("aé€😀\\ud800x\\udc00")`,
      `new TextEncoder().encode(5) instanceof Uint8Array`,
      `const b = new Uint8Array(5); return [new TextEncoder().encodeInto("aé€x", b), b];`,
      `const b = new Uint8Array(3); return [new TextEncoder().encodeInto("😀", b), b];`,
      `new TextEncoder().encodeInto("a", [])`,
      `new TextEncoder().encodeInto(5, new Uint8Array(1))`,
      `Object.prototype.toString.call(new TextEncoder())`,
      `TextEncoder()`,
      `TextEncoder.prototype.encode.call({}, "a") instanceof Uint8Array`,
    ].slice(0, -1),
  );

  same("TextDecoder reads UTF-8, UTF-16 and single-byte encodings", [
    shapeOf("TextDecoder.prototype"),
    ...BYTES.flatMap((bytes) => [
      `new TextDecoder().decode(new Uint8Array(${bytes}))`,
      `new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array(${bytes}))`,
      `new TextDecoder("utf-8", { ignoreBOM: true }).decode(new Uint8Array(${bytes}))`,
    ]),
    ...[
      "utf8",
      "UTF-8",
      " utf-16le ",
      "utf-16be",
      "latin1",
      "ascii",
      "iso-8859-1",
      "windows-1252",
      "iso-8859-2",
      "koi8-r",
      "windows-1251",
      "x-user-defined-not",
      "nope",
      "",
      "unicode-1-1-utf-8",
    ].map((label) => `new TextDecoder(${JSON.stringify(label)}).encoding`),
    `new TextDecoder("utf-16le").decode(new Uint8Array([97, 0, 0x3d, 0xd8, 0, 0xde, 1]))`,
    `new TextDecoder("utf-16le", { fatal: true }).decode(new Uint8Array([0, 0xd8]))`,
    `new TextDecoder("utf-16be").decode(new Uint8Array([0, 97]))`,
    `new TextDecoder("latin1").decode(new Uint8Array([0x80, 0x81, 0xe9, 0xff]))`,
    `new TextDecoder("koi8-r").decode(new Uint8Array([0xc1, 0xc2, 0xc3]))`,
    `const d = new TextDecoder(); return [d.decode(new Uint8Array([0xe2, 0x82]), { stream: true }), d.decode(new Uint8Array([0xac]), { stream: true }), d.decode()];`,
    `const d = new TextDecoder(); return [d.decode(new Uint8Array([0xe2]), { stream: true }), d.decode()];`,
    `const d = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }); return [d.fatal, d.ignoreBOM, d.encoding];`,
    `new TextDecoder().decode()`,
    `new TextDecoder().decode(new ArrayBuffer(2))`,
    `new TextDecoder().decode(new DataView(new Uint8Array([97, 98, 99]).buffer, 1))`,
    `new TextDecoder().decode(new Uint16Array([97, 98]))`,
    `new TextDecoder().decode("a")`,
    `new TextDecoder().decode(null)`,
    `new TextDecoder("utf-8", 5)`,
    `Object.prototype.toString.call(new TextDecoder())`,
    `TextDecoder()`,
  ]);

  same("atob and btoa are base64", [
    `[atob.length, btoa.length, atob.name, btoa.name]`,
    ...[`""`, `"a"`, `"ab"`, `"abc"`, `"\\u00ff\\u0000"`, `"é"`, `"€"`, `5`, `null`, `undefined`].map((text) => `btoa(${text})`),
    ...[
      `""`,
      `"YQ=="`,
      `"YQ"`,
      `" Y Q = = "`,
      `"YQ="`,
      `"Y"`,
      `"YWI="`,
      `"YWJj"`,
      `"YWJj="`,
      `"!"`,
      `"YW==Jj"`,
      `"/+8="`,
      `"_-8"`,
      `null`,
      `undefined`,
      `12`,
      `"YR=="`,
    ].map((text) => `atob(${text})`),
    `atob()`,
    `btoa()`,
    `try { btoa("€") } catch (error) { return [error.name, error.code, error instanceof DOMException]; }`,
  ]);

  same("text streams encode and decode across pieces", [
    `const out = []; for await (const piece of ReadableStream.from(["a", "\\ud83d", "\\ude00", "\\ud800"]).pipeThrough(new TextEncoderStream())) out.push([...piece]); return out.flat();`,
    `const out = []; for await (const piece of ReadableStream.from([new Uint8Array([0xf0, 0x9f]), new Uint8Array([0x98, 0x80, 0xff])]).pipeThrough(new TextDecoderStream())) out.push(piece); return out.join("");`,
    `[new TextDecoderStream("latin1", { fatal: true }).encoding, new TextDecoderStream("utf-8", { fatal: true }).fatal, new TextEncoderStream().encoding]`,
    `new TextDecoderStream("nope")`,
    `const out = []; for await (const piece of ReadableStream.from([new Uint8Array([0xff])]).pipeThrough(new TextDecoderStream("utf-8", { fatal: true }))) out.push(piece); return out;`,
  ]);

  it("any bytes decode to the same text, whole or in pieces", async () => {
    const byte = fc.oneof(
      fc.constantFrom(0x61, 0xc3, 0xa9, 0xe2, 0x82, 0xac, 0xf0, 0x9f, 0x98, 0x80, 0xed, 0xa0, 0xef, 0xbb, 0xbf, 0xd8, 0xdc, 0),
      fc.nat(255),
    );
    const samples = fc.sample(fc.tuple(fc.array(byte, { maxLength: 12 }), fc.nat(12)), { numRuns: 2_000, seed: 7 });
    const line = `data.map(([bytes, cut]) => ["utf-8", "utf-16le", "utf-16be"].map((label) => {
      const whole = new Uint8Array(bytes), d = new TextDecoder(label);
      let fatal; try { fatal = new TextDecoder(label, { fatal: true }).decode(whole); } catch (error) { fatal = error.code; }
      return [new TextDecoder(label).decode(whole), d.decode(whole.subarray(0, cut), { stream: true }) + d.decode(whole.subarray(cut)), fatal];
    }))`;
    const { node, cell } = await both([`return ${line};`], samples);
    expect(cell).toEqual(node);
  });

  it("any text encodes to the same bytes, and any bytes to the same base64", async () => {
    const texts = fc.sample(fc.string({ unit: "binary", maxLength: 10 }), { numRuns: 1_000, seed: 8 });
    const halves = fc.sample(fc.string({ unit: fc.constantFrom("a", "\ud83d", "\ude00", "é", "\ud800"), maxLength: 8 }), {
      numRuns: 500,
      seed: 9,
    });
    const plain = fc.sample(fc.string({ unit: fc.nat(255).map((code) => String.fromCharCode(code)), maxLength: 12 }), {
      numRuns: 1_000,
      seed: 10,
    });
    const coded = fc.sample(fc.string({ unit: fc.constantFrom("A", "b", "9", "+", "/", "=", " ", "\n", "-"), maxLength: 9 }), {
      numRuns: 1_000,
      seed: 11,
    });
    const { node, cell } = await both(
      [
        `return data.texts.map((text) => [...new TextEncoder().encode(text)]);`,
        `return data.plain.map((text) => btoa(text));`,
        `return data.coded.map((text) => { try { return atob(text); } catch (error) { return error.name; } });`,
      ],
      { texts: [...texts, ...halves], plain, coded },
    );
    expect(cell).toEqual(node);
  });
});
