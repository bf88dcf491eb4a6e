/** Lines of the audit log have no secrets, wherever they are truncated, and are otherwise unchanged. */
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { Sanitiser, secretsOf } from "../../../src/host/audit/sanitiser.ts";
import { redactionOf } from "../../../src/host/services/secrets/redact.ts";

const SECRET = "Xq9+Zw=7vK2mPd4Lr8/ab";
const cleaner = new Sanitiser([redactionOf("API", SECRET)]);
const PIECES = Array.from({ length: SECRET.length - 7 }, (_, at) => SECRET.slice(at, at + 8));
const filler = fc.string({ unit: fc.constantFrom("a", " ", "é", "日", "🦞", '"', "\\", "\n", "9"), maxLength: 30 });

it("wherever a text is cut, no piece of a secret is left of it", () => {
  fc.assert(
    fc.property(fc.array(filler, { minLength: 1, maxLength: 6 }), fc.nat(120), (parts, max) => {
      const text = parts.join(SECRET);
      const json = JSON.stringify({ text });
      for (const shown of [cleaner.words(text, max), JSON.stringify(cleaner.json(json, max))])
        expect(PIECES.filter((piece) => shown.includes(piece))).toEqual([]);
    }),
    { numRuns: 500 },
  );
});

it("what has no secret in it is not changed, and data stays data", () => {
  const value = { text: "naïve 日本 🦞", list: [1, null, "9"] };
  expect(cleaner.json(JSON.stringify(value))).toEqual({ value });
  expect(cleaner.json(JSON.stringify({ key: SECRET, n: 1 }))).toEqual({ value: { key: "[secret API]", n: 1 } });
  expect(cleaner.json('{"a":"bcd"}', 5)).toEqual({ text: '{"a":', chars: 11 });
  expect(new Sanitiser([]).json('{"a":"bcd"}', 5)).toEqual({ text: '{"a":', chars: 11 });
  expect(cleaner.words("one\ntwo\u001b[1m three", 100)).toBe("one two [1m three");
});

it("the secrets of a plugin are its values under names that suggest a secret, if they are long enough", () => {
  process.env.CREEL_TEST_TOKEN = "granted-token-value";
  const found = secretsOf({
    env: { API_KEY: "value-of-the-key", MODE: "production-like", SHORT_TOKEN: "short" },
    grants: { env: ["CREEL_TEST_TOKEN", "CREEL_TEST_NOTHING"] },
    config: { login: { password: "pass-in-config", user: "somebody-else" }, tokens: ["first-of-two-tokens"], maxTokens: 100_000_000 },
  });
  delete process.env.CREEL_TEST_TOKEN;
  expect([...found]).toEqual([
    ["granted-token-value", "CREEL_TEST_TOKEN"],
    ["value-of-the-key", "API_KEY"],
    ["pass-in-config", "password"],
    ["first-of-two-tokens", "tokens"],
  ]);
});
