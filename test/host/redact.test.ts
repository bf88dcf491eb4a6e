/** Taking secrets out of answers: every form, wherever it is split. */
import { describe, expect, it } from "vitest";
import { redactionOf, Redactor } from "../../src/host/services/redact.ts";
import type { Redaction } from "../../src/host/services/redact.ts";

const SECRET = `sk-"a/b\\c&<d>'é'+ =~x`.replaceAll("é", "e");
const KEY = redactionOf("KEY", SECRET);

/** Given to the redactor in pieces of this size. */
function inPieces(text: Buffer, size: number, redactions: readonly Redaction[] = [KEY]): string {
  const redactor = new Redactor(redactions);
  const out: Buffer[] = [];
  for (let at = 0; at < text.length; at += size) out.push(redactor.push(text.subarray(at, at + size)));
  return Buffer.concat([...out, redactor.end()]).toString("latin1");
}

const percent = (text: string) => [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");

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
      // Whatever the secret's first and last characters are, what is shown is the same.
      const other = `Z${SECRET.slice(1, -1)}Q`;
      expect(inPieces(Buffer.from(around(other)), 5, [redactionOf("KEY", other)])).toBe(shown);
    }
  });
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
  // A small generator, so that a failure can be seen again.
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
    // The names are of other letters than the secrets.
    expect(secrets.filter((secret) => pieces.includes(secret))).toEqual([]);
  }
});
