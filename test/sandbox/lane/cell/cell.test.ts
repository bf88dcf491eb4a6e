/** A cell after V8 has stopped one of its turns. */
import { getHeapStatistics } from "node:v8";
import { expect, it } from "vitest";
import { limitsOf, pluginBudget } from "../../../../src/host/plugins/budget.ts";
import { guestCode } from "../../../../src/bundler/guest-code.ts";
import { LaneStatus, LANE_STATUS_BYTES } from "../../../../src/transport/lane-status.ts";
import { LIMITS } from "../../../../src/protocol/limits.ts";
import { callNumber, readMail } from "../../../../src/protocol/messages/mail.ts";
import { Cell, GuestCode } from "../../../../src/sandbox/lane/cell/cell.ts";
import { FACTS } from "../../../support/guest-facts.ts";

const TURN_MS = 50;

async function loaded(handler: string): Promise<Cell> {
  const code = `module.exports = (api) => { api.on('message_sending', ${handler}); };`;
  const limits = limitsOf(pluginBudget(undefined, undefined));
  const laneStatus = new LaneStatus(new SharedArrayBuffer(LANE_STATUS_BYTES), 0);
  const cell = new Cell(
    new GuestCode(await guestCode()),
    { cell: 1, plugin: "test", limits, code, facts: FACTS, hasFineClock: false },
    laneStatus,
  );
  expect(cell.load(LIMITS.call.loadWallMs).end).toBe("result");
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
])("draining the mail of a turn that was stopped always returns: %s", async (_, handler) => {
  const cell = await loaded(handler);
  expect(cell.dispatch(callNumber(1, 0), "{}", "{}", TURN_MS).end).toBe("timeout");
  // Asking for the heap has no timeout, so it must not be tried. The others need one, or the test would never end.
  expect(cell.heapBytes()).toBeUndefined();
  cell.drainMail();
  expect(cell.heapBytes()).toBeUndefined();
  cell.abandon(callNumber(1, 0));
  cell.dispose();
  expect(cell.isGone).toBe(true);
});

it("the heap of a cell whose last turn ended by itself can be asked for", async () => {
  const cell = await loaded("() => {}");
  expect(cell.heapBytes()).toBeGreaterThan(0);
  cell.dispatch(callNumber(1, 0), "{}", "{}", TURN_MS);
  expect(cell.heapBytes()).toBeGreaterThan(0);
  cell.dispose();
});

it("long texts that came out of a cell are freed, however little V8 sees of them", async () => {
  const cell = await loaded(`() => ({ content: "x".repeat(${2 ** 19}) })`);
  for (let call = 1; call <= 512; call++) expect(cell.dispatch(callNumber(call, 0), "{}", "{}", LIMITS.call.loadWallMs).end).toBe("result");
  expect(getHeapStatistics().external_memory).toBeLessThan(LIMITS.lane.externalBytes + LIMITS.lane.copiedChars);
  cell.dispose();
});

it("a cell asks whether a target is granted before it writes a long body", async () => {
  const cell = await loaded(`() => { fetch("https://a.example/", { method: "POST", body: "x".repeat(${LIMITS.fetch.askChars + 1}) }); }`);
  cell.dispatch(callNumber(1, 0), "{}", "{}", LIMITS.call.loadWallMs);
  const requests = readMail(cell.mail().text ?? "\n").map(({ body }) => body);
  expect(requests).toEqual(['fetch.ask\n{"url":"https://a.example/","method":"POST"}']);
  cell.dispose();
});
