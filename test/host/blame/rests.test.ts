/** Rests of plugins in the slow lane: how long each is, and that none outlives its host. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { CpuShare } from "../../../src/host/blame/cpu-share.ts";
import { Rests } from "../../../src/host/blame/rests.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const hog = () => ({ isResting: false, laneShare: new CpuShare(() => 0, LIMITS.lane.shareMs) });

it("a plugin rests for its time, with what it took forgotten, and each rest is twice as long as the one before", () => {
  const [rests, plugin, other] = [new Rests(), hog(), hog()];
  const ended = vi.fn<() => void>();
  const lengths: number[] = [];
  for (let time = 0; time < 7; time++) {
    plugin.laneShare.charge(LIMITS.lane.shareMs * 1_000);
    lengths.push(rests.begin(plugin, ended));
    expect([plugin.isResting, plugin.laneShare.charge(0)]).toEqual([true, 0]);
    vi.advanceTimersByTime(lengths[time]! - 1);
    expect([plugin.isResting, ended.mock.calls.length]).toEqual([true, time]);
    vi.advanceTimersByTime(1);
    expect([plugin.isResting, ended.mock.calls.length]).toEqual([false, time + 1]);
  }
  expect(lengths.map((ms) => ms / 1_000)).toEqual([30, 60, 120, 240, 480, 600, 600]);
  expect(rests.begin(other, ended)).toBe(LIMITS.lane.restMs);
});

it("a host that closes ends no rest later", () => {
  const rests = new Rests();
  const ended = vi.fn<() => void>();
  rests.begin(hog(), ended);
  rests.close();
  expect(vi.getTimerCount()).toBe(0);
  expect(ended).not.toHaveBeenCalled();
});
