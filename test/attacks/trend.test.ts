/** The arithmetic of the soak: a leak is a rise, noise and spikes are not. */
import { describe, expect, it } from "vitest";
import { sparkline, trend } from "./trend.ts";

const series = (values: readonly number[]) => values.map((value, at) => ({ atMs: at * 1_000, value }));

describe("the trend of a series", () => {
  it("that rises by one each second is its length", () => {
    expect(trend(series([1, 2, 3, 4, 5]))).toEqual({ first: 1, last: 5, median: 3, growth: 4, rise: 3 });
  });

  it("is not made by a few spikes", () => {
    expect(trend(series([5, 5, 5, 90, 5, 5, 80, 5, 5, 5])).growth).toBe(0);
  });

  it("is seen through noise", () => {
    const noisy = Array.from({ length: 60 }, (_, at) => at * 0.5 + (at % 7) * 3);
    expect(trend(series(noisy)).growth).toBeGreaterThan(25);
    expect(trend(series(noisy)).growth).toBeLessThan(35);
  });

  it("of a single sample is none", () => {
    expect(trend(series([7]))).toEqual({ first: 7, last: 7, median: 7, growth: 0, rise: 0 });
  });

  it("that is one step is as high as the step, wherever it is and whatever its slope", () => {
    const step = [15, 15, 15, 15, 15, 15, 17, 17, 17, 17, 17];
    expect(trend(series(step)).growth).toBeGreaterThan(2);
    expect(trend(series(step)).rise).toBe(2);
    expect(trend(series([...step, ...step.map(() => 17)])).rise).toBe(2);
  });
});

describe("a sparkline", () => {
  it("goes from the lowest block to the highest", () => {
    expect(sparkline(series([0, 1, 2, 3, 4, 5, 6, 7]), 8)).toBe("▁▂▃▄▅▆▇█");
  });

  it("of what does not change is flat", () => {
    expect(sparkline(series([3, 3, 3, 3]), 4)).toBe("▁▁▁▁");
  });

  it("has no more blocks than asked for, and none is empty", () => {
    expect(sparkline(series(Array.from({ length: 100 }, (_, at) => at)), 7)).toHaveLength(7);
    expect(sparkline(series([1, 2]), 7)).toBe("▁█");
  });
});
