/**
 * A plugin's requests get a share of the gateway's thread; beyond it they wait in order, and requests of other plugins
 * do not.
 */
import { setImmediate as breath } from "node:timers/promises";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { LIMITS } from "../../../src/protocol/limits.ts";
import { GatewayTime } from "../../../src/host/services/gateway-time.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["performance", "setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

/** No timer fires while the thread is blocked, so this moves the clock but not the timers. */
let keptMs = 0;
const now = () => performance.now() + keptMs;
/** Work that blocks the thread for this long. */
const working = (ms: number) => () => void (keptMs += ms);

it("what is measured counts, and is forgotten at the rate that is allowed", () => {
  const time = new GatewayTime(10, now);
  time.measure(working(LIMITS.gateway.burstMs + 5));
  expect(time.isOver).toBe(true);
  vi.advanceTimersByTime(490);
  expect(time.isOver).toBe(true);
  vi.advanceTimersByTime(20);
  expect(time.isOver).toBe(false);
  expect(time.report()).toMatchObject({ limitMs: 10, spentMs: LIMITS.gateway.burstMs + 5, delayed: 0 });
});

it("what is allowed is not used in one go: after a sprint half of the time is for others", () => {
  const time = new GatewayTime(50, now);
  for (let i = 0; i < 3; i++) time.measure(working(4));
  expect(time.isOver).toBe(false);
  time.measure(working(6));
  expect(time.isOver).toBe(true);
  vi.advanceTimersByTime(10);
  expect(time.isOver).toBe(false);
});

it("a plugin does not pay for a CPU that the gateway's thread waited for", () => {
  let cpuMs = 0;
  const time = new GatewayTime(50, now, () => cpuMs);
  // On a busy machine: a fifth of a millisecond of work, and 20 ms until it goes on.
  for (let i = 0; i < 30; i++)
    time.measure(() => {
      working(20)();
      cpuMs += 0.2;
    });
  expect([time.isOver, time.isExhausted]).toEqual([false, false]);
  // What it did take counts as before.
  time.measure(() => {
    working(400)();
    cpuMs += 300;
  });
  expect([time.isOver, time.isExhausted]).toEqual([true, true]);
});

it("without a clock of its own it tells waiting from working", () => {
  vi.useRealTimers();
  const time = new GatewayTime(LIMITS.gateway.msPerSecond);
  const cell = new Int32Array(new SharedArrayBuffer(4));
  time.measure(() => Atomics.wait(cell, 0, 0, 60));
  expect(time.report().spentMs).toBeLessThan(20);
  const { user } = process.threadCpuUsage();
  time.measure(() => {
    while (process.threadCpuUsage().user - user < 60_000);
  });
  expect(time.report().spentMs).toBeGreaterThan(40);
});

it("a second per second is no limit", () => {
  const time = new GatewayTime(1_000, now);
  time.measure(working(10_000));
  expect(time.isOver).toBe(false);
});

it("work within measured work is counted once, and what throws is counted, too", () => {
  const time = new GatewayTime(LIMITS.gateway.msPerSecond, now);
  time.measure(() => time.measure(working(7)));
  expect(() =>
    time.measure(() => {
      working(3)();
      throw new Error("no");
    }),
  ).toThrow("no");
  expect(time.report().spentMs).toBe(10);
});

it("past the limit requests wait in order, each for what the one before it took", async () => {
  const time = new GatewayTime(1, now);
  time.measure(working(LIMITS.gateway.burstMs + 1));
  const begun: [name: string, atMs: number][] = [];
  const startMs = performance.now();
  for (const name of ["a", "b", "c"])
    void time.turn().then(() => {
      begun.push([name, performance.now() - startMs]);
      time.measure(working(2));
    });
  await vi.advanceTimersByTimeAsync(8_000);
  expect(begun.map(([name]) => name)).toEqual(["a", "b", "c"]);
  const [a, b, c] = begun.map(([, atMs]) => atMs) as [number, number, number];
  // At 1 ms per second, 1 ms too much takes a second, and 2 ms take two.
  expect([a >= 900, b - a >= 1_900, c - b >= 1_900]).toEqual([true, true, true]);
  expect(time.report()).toMatchObject({ delayed: 3, failed: 0 });
});

it("what waits too long fails, but for what is owed", async () => {
  const time = new GatewayTime(1, now);
  time.measure(working(LIMITS.gateway.burstMs + 20));
  const fates: boolean[] = [];
  void time.turn(0, true).then((isInTime) => fates.push(isInTime));
  void time.turn().then((isInTime) => fates.push(isInTime));
  for (let i = 0; i < 3; i++) {
    vi.advanceTimersByTime(LIMITS.gateway.waitMs);
    await breath();
  }
  expect(fates).toEqual([true, false]);
});

it("the text of waiting requests is bounded", () => {
  const time = new GatewayTime(LIMITS.gateway.msPerSecond, now);
  time.measure(working(1_000));
  expect(time.hasRoom(LIMITS.gateway.queueChars)).toBe(true);
  void time.turn(LIMITS.gateway.queueChars);
  expect(time.hasRoom(1)).toBe(false);
});

it("long texts are counted before anything is made of them", () => {
  const time = new GatewayTime(LIMITS.gateway.msPerSecond, now);
  for (let i = 0; i < 10; i++) time.carried(LIMITS.gateway.freeChars - 1);
  expect(time.report().spentMs).toBe(0);
  time.carried(8 * LIMITS.gateway.charsPerMs);
  expect(time.report().spentMs).toBe(8);
});

it("when the host closes nothing waits any more", async () => {
  const time = new GatewayTime(LIMITS.gateway.msPerSecond, now);
  time.measure(working(10_000));
  const waiting = time.turn();
  time.end();
  expect([await waiting, time.isOver]).toEqual([true, false]);
});
