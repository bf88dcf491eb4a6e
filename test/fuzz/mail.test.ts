/** Mail out of a cell, damaged: items that account for every character, or a SyntaxError, and never anything else. */
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { MAIL, readMail } from "../../src/protocol/messages/mail.ts";
import { thrownBy } from "../support/errors.ts";
import { demand, fuzz, fuzzing } from "./fuzz.ts";
import { damaged } from "./mutations.ts";

const item = (kind: string, a: number, b: number, call: number, body: string): [string, string] => [
  `${kind}${a},${b},${call},${body.length};`,
  body,
];
const mail = (...items: [string, string][]): string => `${items.map(([head]) => head).join("")}\n${items.map(([, body]) => body).join("")}`;

const REAL = [
  mail(item(MAIL.result, 0, 0, 1_025, '{"params":{}}'), item(MAIL.log, 1, 0, 1_025, "a\n;line")),
  mail(item(MAIL.timer, 3, 1_000, 2_048, ""), item(MAIL.clear, 2, 0, 2_048, "")),
  mail(item(MAIL.request, 7, 0, 0, 'fetch\n{"url":"https://x.example/"}')),
  mail(item(MAIL.error, 0, 0, 1, '{"message":"no"}'), item(MAIL.nothing, 0, 0, 5, "")),
  mail(),
];

it("mail is read as items that add up, or refused as a whole", fuzzing("mail"), async () => {
  const cases = await fuzz("mail", fc.oneof(damaged(REAL, 4), fc.string()), (text) => {
    let bodies: string | undefined;
    const error = thrownBy(() => {
      const items = readMail(text);
      for (const { a, b, call } of items) for (const number of [a, b, call]) expect(Number.isSafeInteger(number) && number >= 0).toBe(true);
      bodies = items.map(({ body }) => body).join("");
    });
    demand(error === undefined || error instanceof SyntaxError, "mail is refused with a SyntaxError");
    demand(error !== undefined || bodies === text.slice(text.indexOf("\n") + 1), "every character is accounted for");
  });
  expect(cases).toBeGreaterThan(0);
});
