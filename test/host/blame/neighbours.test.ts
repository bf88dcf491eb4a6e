/** Which plugin its neighbours wait for: by the time it holds of its lane over seconds, and only where there are neighbours. */
import { expect, it } from "vitest";
import { CpuShare } from "../../../src/host/blame/cpu-share.ts";
import { findHog } from "../../../src/host/blame/neighbours.ts";
import type { Plugin } from "../../../src/host/plugins/plugin.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";

let nowMs = 1_000_000;

/** A plugin that has held so many milliseconds just now. */
function plugin(id: string, heldMs: number): Plugin {
  const laneShare = new CpuShare(() => nowMs, LIMITS.lane.shareMs);
  laneShare.charge(heldMs * 1_000);
  return { id, laneShare } as Plugin;
}

const WINDOW = LIMITS.lane.shareMs;
const TOO_MUCH = WINDOW * LIMITS.lane.share + 1;

it("a plugin that holds more than its share while others live there is named, with how much it took", () => {
  const hog = findHog([plugin("good", 10), plugin("evil", 0.42 * WINDOW)]);
  expect([hog?.plugin.id, hog?.why]).toEqual(["evil", "it took 42 % of its lane over 3 s"]);
});

it("one that holds no more than its share stays, and so does one that has its lane to itself", () => {
  expect(findHog([plugin("good", 10), plugin("busy", TOO_MUCH - 2)])).toBeUndefined();
  expect(findHog([plugin("alone", WINDOW)])).toBeUndefined();
});

it("where several share what one may not take, the one that takes the most is named", () => {
  const lane = [plugin("a", 0.2 * WINDOW), plugin("b", 0.22 * WINDOW), plugin("c", 0.2 * WINDOW), plugin("good", 0)];
  expect(findHog(lane)?.plugin.id).toBe("b");
  expect(findHog(lane)?.why).toContain("62 % together");
});

it("what was held longer ago than the window does not count", () => {
  const lane = [plugin("good", 0), plugin("was", TOO_MUCH)];
  expect(findHog(lane)?.plugin.id).toBe("was");
  nowMs += WINDOW;
  expect(findHog(lane)).toBeUndefined();
});
