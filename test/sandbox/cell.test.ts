/** A cell after a turn that had to be stopped. */
import { expect, it } from "vitest";
import { limitsOf, pluginBudget } from "../../src/host/budget.ts";
import { guestCode } from "../../src/host/guest-code.ts";
import { Gauge, GAUGE_BYTES } from "../../src/protocol/gauge.ts";
import { LIMITS } from "../../src/protocol/limits.ts";
import { callNumber, readMail } from "../../src/protocol/mail.ts";
import type { MailItem } from "../../src/protocol/mail.ts";
import { Cell, GuestCode } from "../../src/sandbox/cell.ts";
import { FACTS } from "../support/guest-facts.ts";

const TURN_MS = 50;

async function loaded(handler: string): Promise<Cell> {
  const code = `module.exports = (api) => { api.on('message_sending', ${handler}); };`;
  const limits = limitsOf(pluginBudget(undefined, undefined));
  const gauge = new Gauge(new SharedArrayBuffer(GAUGE_BYTES), 0);
  const cell = new Cell(
    new GuestCode(await guestCode()),
    { cell: 1, plugin: "test", limits, code, facts: FACTS, hasFineClock: false },
    gauge,
  );
  expect(cell.load(LIMITS.loadWallMs).end).toBe("result");
  return cell;
}

it.each([
  ["a loop", "() => { for (;;); }"],
  [
    "a loop, with another one waiting behind it",
    "() => { const loop = () => { for (;;); }; Promise.resolve().then(loop); Promise.resolve().then(loop); }",
  ],
  ["a loop that left another one for later", "() => { Promise.resolve().then(() => { for (;;); }); for (;;); }"],
  ["microtasks without an end", "() => { const again = () => Promise.resolve().then(again); again(); }"],
])("whoever asks for the last words of a turn that was stopped gets an answer: %s", async (_, handler) => {
  const cell = await loaded(handler);
  expect(cell.dispatch(callNumber(1, 0), "{}", "{}", TURN_MS).end).toBe("timeout");
  // Nothing here may be without a clock: the test would never end.
  cell.lastWords();
  cell.abandon(callNumber(1, 0));
  cell.dispose();
  expect(cell.isGone).toBe(true);
});

/** The last words of a shared turn of three calls that was stopped because of the second, when so many were begun. */
async function lastWordsOf(handler: string, begun: number): Promise<MailItem[]> {
  const calls = [callNumber(1, 0), "{}", "", callNumber(2, 0), '{"loops":true}', "", callNumber(3, 0), "{}", ""];
  let items: MailItem[] = [];
  // Such a turn ends early when the guest's clock ticks: then fewer calls are begun, and perhaps none that has to be stopped.
  for (let tries = 0; tries < 20 && items.at(-1)?.a !== begun; tries++) {
    const cell = await loaded(handler);
    const { end } = cell.together(calls, TURN_MS);
    items = end === "timeout" ? readMail(cell.lastWords(true).text ?? "\n") : [];
    cell.dispose();
  }
  return items;
}

it.each([
  ["in the middle of a call", "(event) => { if (event.loops) for (;;); return event; }", ["r", "b"], 2],
  [
    "behind its calls",
    "(event) => { if (event.loops) Promise.resolve().then(() => { for (;;); }); return event; }",
    ["r", "r", "r", "b"],
    3,
  ],
])(
  "the last words of a shared turn that was stopped %s are the answers that there were, and how many were begun",
  async (_, handler, kinds, begun) => {
    const items = await lastWordsOf(handler, begun);
    expect(items.map(({ kind }) => kind)).toEqual(kinds);
    expect(items.at(-1)!.a).toBe(begun);
  },
);
