/** Removing secrets from responses: every form, wherever it is split. */
import Handlebars from "handlebars";
import { describe, expect, it } from "vitest";
import { redactionOf, Redactor } from "../../../../src/host/services/secrets/redact.ts";
import type { Redaction } from "../../../../src/host/services/secrets/redact.ts";
import { SecretForms } from "../../../../src/host/services/secrets/secret-forms.ts";

const SECRET = `sk-"a/b\\c&<d>'é'+ =~x`.replaceAll("é", "e");
const KEY = redactionOf("KEY", SECRET);

/** Passed to the redactor in pieces of this size. */
function inPieces(text: Buffer, size: number, redactions: readonly Redaction[] = [KEY]): string {
  const redactor = new Redactor(redactions);
  const out: Buffer[] = [];
  for (let at = 0; at < text.length; at += size) out.push(redactor.push(text.subarray(at, at + size)));
  return Buffer.concat([...out, redactor.end()]).toString("latin1");
}

const percent = (text: string) => [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");

const json = (text: string): string => JSON.stringify(text).slice(1, -1);
const escaped = (text: string, chars: RegExp, write: (code: number) => string) =>
  text.replaceAll(chars, (char) => write(char.charCodeAt(0)));
const hex4 = (code: number) => code.toString(16).padStart(4, "0");
/** By RFC 2045: other characters are written as their codes, and no line is longer than 76 characters. */
const quotedPrintable = (text: string, columns = 76): string => {
  const units = Array.from(text, (char) =>
    /[!-<>-~ ]/.test(char) ? char : `=${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`,
  );
  let [out, line] = ["", ""];
  for (const unit of units) {
    if (line.length + unit.length >= columns) [out, line] = [`${out}${line}=\r\n`, ""];
    line += unit;
  }
  return out + line;
};
const inLines = (text: string, columns: number, lineBreak: string): string =>
  text.replaceAll(new RegExp(`.{${columns}}(?=.)`, "g"), (line) => line + lineBreak);

const FORMS: Record<string, string> = {
  plain: SECRET,
  "in capitals": SECRET.toUpperCase(),
  json: JSON.stringify(SECRET).slice(1, -1),
  "json, slashes escaped": JSON.stringify(SECRET).slice(1, -1).replaceAll("/", "\\/"),
  "json as Go writes it": JSON.stringify(SECRET)
    .slice(1, -1)
    .replaceAll("&", "\\u0026")
    .replaceAll("<", "\\u003c")
    .replaceAll(">", "\\u003e")
    .replaceAll("'", "\\u0027"),
  "json in json": JSON.stringify(JSON.stringify(SECRET).slice(1, -1)).slice(1, -1),
  url: encodeURIComponent(SECRET),
  form: new URLSearchParams({ x: SECRET }).toString().slice(2),
  "percent throughout": percent(SECRET),
  "percent throughout, upper case": percent(SECRET).toUpperCase(),
  html: SECRET.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;").replaceAll("'", "&#39;"),
  hex: Buffer.from(SECRET).toString("hex"),
  HEX: Buffer.from(SECRET).toString("hex").toUpperCase(),
  "json, everything but letters as \\u002B": escaped(SECRET, /[^a-z]/g, (code) => `\\u${hex4(code).toUpperCase()}`),
  "json, everything but letters as \\u002b": escaped(SECRET, /[^a-z]/g, (code) => `\\u${hex4(code)}`),
  "json, +, = and / as codes, the rest as usual": escaped(json(SECRET), /[+=/]/g, (code) => `\\u${hex4(code).toUpperCase()}`),
  "json in html": Handlebars.escapeExpression(json(SECRET)),
  "html as Handlebars writes it": Handlebars.escapeExpression(SECRET),
  "html by names": escaped(
    SECRET,
    /["/\\&<>'+=]/g,
    (code) =>
      `&${{ '"': "quot", "/": "sol", "\\": "bsol", "&": "amp", "<": "lt", ">": "gt", "'": "apos", "+": "plus", "=": "equals" }[String.fromCharCode(code)]};`,
  ),
  "numeric entities throughout": escaped(SECRET, /[^]/g, (code) => `&#${code};`),
  "numeric entities throughout, hexadecimal": escaped(SECRET, /[^]/g, (code) => `&#x${code.toString(16)};`),
  "numeric entities throughout, hexadecimal, upper case, padded": escaped(
    SECRET,
    /[^]/g,
    (code) => `&#X${code.toString(16).toUpperCase().padStart(4, "0")};`,
  ),
  "html twice": Handlebars.escapeExpression(Handlebars.escapeExpression(SECRET)),
  "quoted-printable": quotedPrintable(SECRET),
  "quoted-printable, in short lines": quotedPrintable(SECRET, 8),
  "url twice": encodeURIComponent(encodeURIComponent(SECRET)),
  "percent throughout, twice": encodeURIComponent(percent(SECRET)),
  "hex in lines": inLines(Buffer.from(SECRET).toString("hex"), 10, "\n"),
  "utf-16": Buffer.from(SECRET, "utf16le").toString("latin1"),
};

describe.each(Object.entries(FORMS))("%s", (_, form) => {
  it.each([1, 2, 3, 7, 16, 1_000])("is found in pieces of %i bytes", (size) => {
    expect(inPieces(Buffer.from(`ab${form}cd${form}`, "latin1"), size)).toBe("ab[secret KEY]cd[secret KEY]");
  });
});

describe.each(["base64", "base64url"] as const)("%s", (encoding) => {
  it.each([0, 1, 2, 3, 4, 5])("is found behind %i other bytes, and nothing of it is left", (lead) => {
    for (const trail of [0, 1, 2, 3]) {
      const around = (secret: string) =>
        Buffer.from(`${"\u00a7".repeat(lead)}${secret}${"\u00b6".repeat(trail)}`, "latin1").toString(encoding);
      const shown = inPieces(Buffer.from(around(SECRET)), 5);
      expect(shown).toContain("[secret KEY]");
      // Whatever the first and last characters of the secret are, the result is the same.
      const other = `Z${SECRET.slice(1, -1)}Q`;
      expect(inPieces(Buffer.from(around(other)), 5, [redactionOf("KEY", other)])).toBe(shown);
    }
  });
});

describe.each(["base64", "base64url"] as const)("%s twice", (encoding) => {
  it.each([0, 1, 2, 3, 4, 5])("is found behind %i other bytes, and nothing of it is left", (lead) => {
    for (const between of [0, 1, 2]) {
      const around = (secret: string) => {
        const once = Buffer.from(`${"x".repeat(lead)}${secret}yz`).toString("base64");
        return Buffer.from(`${"v".repeat(between)}${once}w`).toString(encoding);
      };
      const shown = inPieces(Buffer.from(around(SECRET)), 5);
      expect(shown).toContain("[secret KEY]");
      const other = `Z${SECRET.slice(1, -1)}Q`;
      expect(inPieces(Buffer.from(around(other)), 5, [redactionOf("KEY", other)])).toBe(shown);
    }
  });
});

describe.each([
  ["lines of 76 characters", 76, "\r\n"],
  ["lines of 64 characters", 64, "\n"],
  ["lines of 76 characters, inside of JSON", 76, "\\r\\n"],
  ["lines of 7 characters", 7, "\r\n"],
] as const)("base64 in %s", (_, columns, lineBreak) => {
  it.each([1, 5, 1_000])("is found wherever a line ends, in pieces of %i bytes", (size) => {
    for (let lead = 0; lead < 80; lead++) {
      const text = inLines(Buffer.from(`${"x".repeat(lead)}${SECRET}, and more`).toString("base64"), columns, lineBreak);
      const shown = inPieces(Buffer.from(text), size);
      expect(shown).toContain("[secret KEY]");
      const left = Buffer.from(shown.replaceAll(/\\r|\\n|\[secret KEY\]|\s/g, ""), "base64").toString("latin1");
      for (let at = 0; at + 3 <= SECRET.length; at++) expect(left).not.toContain(SECRET.slice(at, at + 3));
    }
  });
});

it("a secret that looks like an escape itself is found, as it is and escaped", () => {
  for (const secret of ["a%41b%2541cd", "x=3Dy=3D/z+", "&amp;&#65;lt;", String.raw`a\u0041\\b\"c`, "%25%25%25%25"]) {
    const redaction = redactionOf("KEY", secret);
    for (const form of [
      secret,
      encodeURIComponent(secret),
      encodeURIComponent(encodeURIComponent(secret)),
      json(secret),
      json(json(secret)),
      Handlebars.escapeExpression(secret),
      quotedPrintable(secret),
    ])
      for (const size of [1, 3, 100]) expect(inPieces(Buffer.from(`<${form}>`), size, [redaction])).toBe("<[secret KEY]>");
  }
});

it("what stands before a secret does not hide it", () => {
  const secret = 'abcdef12-"x"';
  for (const before of ["%", "=", "key=", "\\", "\\u00", "&", "&#x", "&am", "%4", "\r\n", "=\r\n", "%25%"])
    for (const form of [secret, json(secret), encodeURIComponent(secret)])
      expect(inPieces(Buffer.from(before + form), 3, [redactionOf("KEY", secret)])).toBe(`${before}[secret KEY]`);
});

it("a secret has sixteen forms, however long it is and whatever is in it", () => {
  expect([SECRET, "a".repeat(4_096), "%&=\\".repeat(50)].map((secret) => new SecretForms(secret).all.length)).toEqual([16, 16, 16]);
});

it("what only looks like the beginning of a secret is given out, at the end at the latest", () => {
  const redactor = new Redactor([KEY]);
  expect(redactor.push(Buffer.from("data: hello\n\n")).toString()).toBe("data: hello\n\n");
  expect(redactor.push(Buffer.from("x sk-")).toString()).toBe("x ");
  expect(redactor.push(Buffer.from("no")).toString()).toBe("sk-n");
  expect(redactor.end().toString()).toBe("o");
});

it("secrets that overlap, or repeat themselves, leave nothing between them", () => {
  expect(inPieces(Buffer.from(`<${"abababab".repeat(3)}ab>`), 3, [redactionOf("A", "abababab")])).toBe("<[secret A]>");
  expect(inPieces(Buffer.from("<first-secret-and>"), 4, [redactionOf("A", "first-secret"), redactionOf("B", "secret-and")])).toBe(
    "<[secret A]>",
  );
});

it("counts what it found, and touches nothing else", () => {
  const found: string[] = [];
  const bytes = Buffer.from(Array.from({ length: 4_096 }, (_, index) => (index * 7) % 256)).toString("latin1");
  expect(new Redactor([KEY], (name) => found.push(name)).text(`${SECRET}${bytes}${SECRET}`)).toBe(`[secret KEY]${bytes}[secret KEY]`);
  expect(found).toEqual(["KEY", "KEY"]);
  expect(inPieces(Buffer.from(bytes, "latin1"), 100)).toBe(bytes);
});

it("where a text is split makes no difference, and nothing of a secret is ever left", () => {
  // A small generator, so that a failure can be reproduced.
  let seed = 1;
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return (seed >>> 8) % below;
  };
  const secrets = ["abababab", "babaabab", "aabbaabbaa"];
  const all = secrets.map((secret, index) => redactionOf(`S${index}`, secret));
  for (let round = 0; round < 1_500; round++) {
    const text = Buffer.from(Array.from({ length: 40 + random(80) }, () => "ab-"[random(12) === 0 ? 2 : random(2)]!).join(""));
    const whole = new Redactor(all).text(text.toString());
    const redactor = new Redactor(all);
    const out: Buffer[] = [];
    for (let at = 0; at < text.length;) {
      const size = 1 + random(9);
      out.push(redactor.push(text.subarray(at, at + size)));
      at += size;
    }
    const pieces = Buffer.concat([...out, redactor.end()]).toString();
    expect(pieces).toBe(whole);
    // The names share no letters with the secrets.
    expect(secrets.filter((secret) => pieces.includes(secret))).toEqual([]);
  }
});
