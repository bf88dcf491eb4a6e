/** Several calls in one turn: their answers, and the cost of each. */
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { MAIL } from "../../../../src/protocol/messages/mail.ts";
import type { MailItem } from "../../../../src/protocol/messages/mail.ts";
import { readBatch, shareOf } from "../../../../src/sandbox/lane/cell/batch.ts";

const item = (kind: string, call: number, a = 0): MailItem => ({ kind, a, b: 0, call, body: "" });
const begun = (count: number): MailItem => item(MAIL.begun, 0, count);

it("answers are matched in the order of the calls; everything else is ordinary mail", () => {
  const items = [item(MAIL.result, 7), item(MAIL.log, 8), item(MAIL.nothing, 8), begun(2)];
  expect(readBatch(items, [7, 8, 9])).toEqual({ answers: [items[0], items[2]], begun: 2, rest: [items[1]] });
});

it("the last call that was begun may have no answer yet", () => {
  expect(readBatch([item(MAIL.error, 7), begun(2)], [7, 8, 9])).toMatchObject({ answers: [{ call: 7 }], begun: 2 });
});

it.each([
  ["nothing at all", []],
  ["no number of calls", [item(MAIL.result, 7)]],
  ["more calls than there were", [begun(4)]],
  ["fewer calls than answers", [item(MAIL.result, 7), item(MAIL.result, 8), begun(1)]],
  ["no call", [begun(0)]],
])("a cell that reports %s is not believed about how many calls were begun", (_, items) => {
  expect(readBatch(items, [7, 8, 9]).begun).toBeUndefined();
});

it("no item is lost, and none answers a call out of order", () => {
  const kinds = fc.constantFrom(...Object.values(MAIL));
  const items = fc.array(fc.tuple(kinds, fc.integer({ min: 0, max: 5 }), fc.nat(5)).map(([kind, call, a]) => item(kind, call, a)));
  fc.assert(
    fc.property(items, (all) => {
      const { answers, rest } = readBatch(all, [1, 2, 3]);
      expect(answers.map(({ call }) => call)).toEqual([1, 2, 3].slice(0, answers.length));
      expect(answers.length + rest.length).toBe(all.filter(({ kind }) => kind !== MAIL.begun).length);
    }),
  );
});

it("the shares of all calls add up to the whole, and all but the last took less than a tick together", () => {
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
