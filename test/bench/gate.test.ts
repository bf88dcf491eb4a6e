/** The gate fails when Creel is slower than its bound beyond any doubt, twice, and never for less. Its decision, with numbers that were made up. */
import { describe, expect, it } from "vitest";
import { CHECKS } from "../../bench/gate/checks.ts";
import { decide, isBeyond } from "../../bench/gate/decide.ts";
import type { Finding } from "../../bench/gate/decide.ts";
import { estimate } from "../../src/cli/bench/statistics.ts";

const bounds = { calm: 1.5, crowded: 4 };
const found = (low: number, high: number, crowd = 1): Finding => ({ value: (low + high) / 2, low, high, crowd });

const rounds = (middle: number): number[] => Array.from({ length: 60 }, () => middle * (0.67 + 0.66 * Math.random()));

const beyond = (middle: number): boolean => isBeyond({ ...estimate(rounds(middle)), crowd: 1 }, bounds);

async function verdictOf(...findings: readonly Finding[]): Promise<[verdict: string, looks: number]> {
  let looks = 0;
  const { verdict } = await decide(bounds, async (attempt) => {
    looks += 1;
    expect(attempt).toBe(looks);
    return findings[attempt - 1]!;
  });
  return [verdict, looks];
}

describe("the gate", () => {
  it("lets pass what is below its bound, or might be, at the first look", async () => {
    expect(await verdictOf(found(0.9, 1.1))).toEqual(["holds", 1]);
    expect(await verdictOf(found(1.4, 2.6))).toEqual(["holds", 1]);
  });

  it("looks once more before it says no", async () => {
    expect(await verdictOf(found(1.6, 1.8), found(1.4, 1.7))).toEqual(["holds", 2]);
    expect(await verdictOf(found(1.6, 1.8), found(1.7, 1.8))).toEqual(["slower", 2]);
  });

  it("holds a crowded machine to the wider bound, and fails there, too", async () => {
    expect(await verdictOf(found(2.5, 3, 4))).toEqual(["holds", 1]);
    expect(await verdictOf(found(2.5, 3), found(2.5, 3, 4))).toEqual(["holds", 2]);
    expect(await verdictOf(found(4.1, 5, 4), found(4.1, 5, 4))).toEqual(["slower", 2]);
    expect(await verdictOf(found(4.1, 5, 10))).toEqual(["holds", 1]);
    expect(await verdictOf(found(8.1, 9, 20), found(8.1, 9, 20))).toEqual(["slower", 2]);
  });

  it("finds a doubling in rounds that scatter by a third, and none where nothing has changed", () => {
    expect(beyond(2)).toBe(true);
    expect(Array.from({ length: 20 }, () => beyond(1)).filter(Boolean)).toEqual([]);
  });

  it("its bounds leave room for noise and none for a disaster", () => {
    const loose = CHECKS.filter(({ bounds: { calm, crowded } }) => !(calm >= 1 && calm <= 3 && crowded > calm && crowded <= 3.2));
    expect(loose.map(({ name }) => name)).toEqual([]);
  });
});
