/** The one rate limiter that services, log, audit and lanes share. */
import { expect, it } from "vitest";
import { RateWindow } from "../../../src/protocol/rules/rate-window.ts";

it("admits up to its limit in a window, counts what it refuses, and starts again with the next window", () => {
  let nowMs = 500;
  const window = new RateWindow(3, 100, () => nowMs);
  expect(window.isOver).toBe(true);
  expect([window.admit(), window.admit(2), window.admit(), window.admit()]).toEqual([true, true, false, false]);
  expect([window.startedMs, window.count]).toEqual([500, 5]);
  nowMs = 599;
  expect([window.isOver, window.admit()]).toEqual([false, false]);
  nowMs = 600;
  expect([window.isOver, window.admit(3), window.admit()]).toEqual([true, true, false]);
  expect([window.startedMs, window.count]).toEqual([600, 4]);
});
