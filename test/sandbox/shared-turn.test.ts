/** A turn that several calls share: what came out of it, and what each of them took. */
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { MAIL } from "../../src/protocol/mail.ts";
import type { MailItem } from "../../src/protocol/mail.ts";
import { readShared, shareOf } from "../../src/sandbox/shared-turn.ts";

const item = (kind: string, call: number, a = 0): MailItem => ({ kind, a, b: 0, call, body: "" });
const begun = (count: number): MailItem => item(MAIL.begun, 0, count);

it("answers come in the order of the calls; what else was left is mail as any other", () => {
  const items = [item(MAIL.result, 7), item(MAIL.log, 8), item(MAIL.nothing, 8), begun(2)];
  expect(readShared(items, [7, 8, 9])).toEqual({ answers: [items[0], items[2]], begun: 2, rest: [items[1]] });
});

it("one that was begun may have no answer yet", () => {
  expect(readShared([item(MAIL.error, 7), begun(2)], [7, 8, 9])).toMatchObject({ answers: [{ call: 7 }], begun: 2 });
});

it.each([
  ["nothing at all", []],
  ["no number of calls", [item(MAIL.result, 7)]],
  ["more calls than there were", [begun(4)]],
  ["fewer calls than answers", [item(MAIL.result, 7), item(MAIL.result, 8), begun(1)]],
  ["no call", [begun(0)]],
])("whoever says %s has said nothing of how many were begun", (_, items) => {
  expect(readShared(items, [7, 8, 9]).begun).toBeUndefined();
});

it("no item is lost, and none answers a call out of its turn", () => {
  const kinds = fc.constantFrom(...Object.values(MAIL));
  const items = fc.array(fc.tuple(kinds, fc.integer({ min: 0, max: 5 }), fc.nat(5)).map(([kind, call, a]) => item(kind, call, a)));
  fc.assert(
    fc.property(items, (all) => {
      const { answers, rest } = readShared(all, [1, 2, 3]);
      expect(answers.map(({ call }) => call)).toEqual([1, 2, 3].slice(0, answers.length));
      expect(answers.length + rest.length).toBe(all.filter(({ kind }) => kind !== MAIL.begun).length);
    }),
  );
});

it("the shares of all calls are the whole, and all but the last took less than a tick between them", () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1_000, noNaN: true }), fc.integer({ min: 1, max: 32 }), (tookMs, calls) => {
      const each = shareOf(tookMs, calls, false);
      const last = shareOf(tookMs, calls, true);
      expect(each * (calls - 1) + last).toBeCloseTo(tookMs);
      expect(each * (calls - 1)).toBeLessThanOrEqual(1);
      expect(last).toBeGreaterThanOrEqual(each - 1e-9);
    }),
  );
});
