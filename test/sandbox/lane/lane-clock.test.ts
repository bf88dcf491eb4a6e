/** The clock of a lane's timers: a single Node timer, whatever the number of alarms. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import * as fc from "fast-check";
import { LaneClock } from "../../../src/sandbox/lane/lane-clock.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

function setAll(clock: LaneClock, delays: readonly number[]): string[] {
  const rung: string[] = [];
  for (const [at, ms] of delays.entries()) clock.set(ms, () => rung.push(`${at}: ${performance.now()}`));
  return rung;
}

it("rings each alarm when it is due, and alarms that are due at the same time in the order in which they were set", () => {
  const rung = setAll(new LaneClock(), [30, 10, 20, 10, 30]);
  vi.advanceTimersByTime(9);
  expect(rung).toEqual([]);
  vi.advanceTimersByTime(100);
  expect(rung).toEqual(["1: 10", "3: 10", "2: 20", "0: 30", "4: 30"]);
});

it("uses one Node timer for a thousand alarms, and none after they have rung", () => {
  const clock = new LaneClock();
  setAll(
    clock,
    Array.from({ length: 1_000 }, (_, at) => 1_000 - at),
  );
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(1_000);
  expect([clock.size, vi.getTimerCount()]).toEqual([0, 0]);
});

it("a cleared alarm does not ring, even if an alarm that is due at the same time rings first and clears it", () => {
  const clock = new LaneClock();
  const rung: string[] = [];
  const never = clock.set(5, () => rung.push("never"));
  clock.set(10, () => {
    rung.push("first");
    clock.clear(second);
  });
  const second = clock.set(10, () => rung.push("second"));
  clock.clear(never);
  clock.clear(never);
  vi.advanceTimersByTime(50);
  expect(rung).toEqual(["first"]);
});

it("an alarm that is set while others ring still rings when it is due", () => {
  const clock = new LaneClock();
  const rung: number[] = [];
  const again = (): void => {
    rung.push(performance.now());
    if (rung.length < 4) clock.set(10, again);
  };
  clock.set(10, again);
  setAll(clock, [1_000]);
  vi.advanceTimersByTime(100);
  expect(rung).toEqual([10, 20, 30, 40]);
});

it("a stopped clock rings no alarm", () => {
  const clock = new LaneClock();
  const rung = setAll(clock, [10, 20]);
  clock.stop();
  vi.advanceTimersByTime(100);
  expect([rung, clock.size, vi.getTimerCount()]).toEqual([[], 0, 0]);
});

it("whatever is set and cleared, the remaining alarms ring in the order of their due times", () => {
  fc.assert(
    fc.property(fc.array(fc.record({ ms: fc.integer({ min: 1, max: 50 }), isCleared: fc.boolean() }), { maxLength: 60 }), (alarms) => {
      const clock = new LaneClock();
      const rung: number[] = [];
      const set = alarms.map(({ ms }, at) => clock.set(ms, () => rung.push(at)));
      for (const [at, { isCleared }] of alarms.entries()) if (isCleared) clock.clear(set[at]!);
      vi.advanceTimersByTime(60);
      const left = alarms.flatMap(({ ms, isCleared }, at) => (isCleared ? [] : [{ ms, at }]));
      expect(rung).toEqual(left.toSorted((a, b) => a.ms - b.ms || a.at - b.at).map(({ at }) => at));
    }),
  );
});
