/** A lane that has answered stays awake for a moment: as long as that helps, and no longer. */
import { setImmediate as turn } from "node:timers/promises";
import { expect, it } from "vitest";
import { LIMITS } from "../../src/protocol/limits.ts";
import { Linger } from "../../src/sandbox/linger.ts";
import { movedClock } from "../support/clock.ts";

const POLL_MS = LIMITS.lookMs / 4;

const clock = movedClock();

/** Its link brings something after so many glances, each of which takes a moment by the clock. */
class Lane {
  isCrowd = false;
  glances = 0;
  comesAt = Infinity;
  glanceMs = POLL_MS;
  awakened = 0;
  rested = 0;
  readonly linger: Linger = new Linger({
    poll: () => {
      clock.nowMs += this.glanceMs;
      this.glances += 1;
      if (this.glances < this.comesAt) return false;
      this.comesAt = Infinity;
      this.linger.begin(clock.nowMs, 1);
      return true;
    },
    hasTwoWays: false,
    isCrowded: () => this.isCrowd,
    awake: () => (this.awakened += 1),
    rests: () => (this.rested += 1),
  });

  /** A burst was served, in no time; until it rests. False: it did not stay awake. */
  async serve(comesAt = Infinity, messages: number = LIMITS.burstMessages): Promise<boolean> {
    this.glances = 0;
    this.comesAt = comesAt;
    clock.nowMs += LIMITS.burstMs;
    for (let at = 0; at < messages; at++) this.linger.begin(clock.nowMs, 1);
    if (!this.linger.isOn) return false;
    while (this.linger.isOn) await turn();
    return true;
  }
}

it("looks for as long as it may after it has answered, says so before and after, and rests", async () => {
  const lane = new Lane();
  const startMs = clock.nowMs + LIMITS.burstMs;
  expect(await lane.serve()).toBe(true);
  expect(clock.nowMs - startMs).toBeGreaterThanOrEqual(LIMITS.lingerMs);
  expect(clock.nowMs - startMs).toBeLessThanOrEqual(LIMITS.lingerMs + LIMITS.lookMs + POLL_MS);
  expect([lane.awakened, lane.rested]).toEqual([1, 1]);
});

it("what comes meanwhile is served at once, and begins the time anew", async () => {
  const lane = new Lane();
  const startMs = clock.nowMs + LIMITS.burstMs;
  const comesAt = Math.floor((0.8 * LIMITS.lingerMs) / POLL_MS);
  await lane.serve(comesAt);
  expect(clock.nowMs - startMs).toBeGreaterThanOrEqual(comesAt * POLL_MS + LIMITS.lingerMs);
  expect([lane.awakened, lane.rested]).toEqual([1, 1]);
});

it("does not stay awake for one that comes alone, nor for those that come now and then", async () => {
  const lane = new Lane();
  for (let at = 0; at < 10; at++) expect(await lane.serve(Infinity, LIMITS.burstMessages - 1)).toBe(false);
  expect(await lane.serve()).toBe(true);
  expect([lane.awakened, lane.rested]).toEqual([1, 1]);
});

it("stays awake for as many at once", () => {
  const lane = new Lane();
  lane.linger.begin(clock.nowMs, LIMITS.burstMessages);
  expect(lane.linger.isOn).toBe(true);
  lane.linger.end();
});

it("does not stay awake where so many threads want a CPU", async () => {
  const lane = new Lane();
  lane.isCrowd = true;
  expect(await lane.serve()).toBe(false);
  expect([lane.glances, lane.awakened, lane.rested]).toEqual([0, 0, 0]);
});

it("the last of every burst is in vain, and that is no reason to leave it out", async () => {
  const lane = new Lane();
  for (let burst = 0; burst < 5; burst++) expect(await lane.serve(3)).toBe(true);
});

it("is left out when it was in vain again and again, twice as often each time up to a limit, until it was of use", async () => {
  const lane = new Lane();
  const skips = async (): Promise<number> => {
    let count = 0;
    while (!(await lane.serve())) count += 1;
    return count;
  };
  const seen: number[] = [];
  for (let at = 0; at < 9; at++) seen.push(await skips());
  expect(seen).toEqual([0, 0, 1, 2, 4, 8, LIMITS.lingerSkips, LIMITS.lingerSkips, LIMITS.lingerSkips]);
  while (!(await lane.serve(3)));
  expect(await lane.serve()).toBe(true);
  expect(await lane.serve()).toBe(true);
});

it("gives its CPU up when somebody else has had it meanwhile", async () => {
  const lane = new Lane();
  lane.glanceMs = 2 * LIMITS.awayMs;
  await lane.serve();
  expect(lane.glances).toBe(1);
  expect(lane.rested).toBe(1);
});

it("ends at once when the lane does", async () => {
  const lane = new Lane();
  for (let at = 0; at < LIMITS.burstMessages; at++) lane.linger.begin(clock.nowMs, 1);
  expect(lane.linger.isOn).toBe(true);
  lane.linger.end();
  while (lane.linger.isOn) await turn();
  expect(lane.glances * POLL_MS).toBeLessThanOrEqual(LIMITS.lookMs + POLL_MS);
});
