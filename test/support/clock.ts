/** A clock that only a test moves, in the place of `performance.now`, for the tests of the file that asks for it. */
import { beforeEach, vi } from "vitest";

export function movedClock(): { nowMs: number } {
  const clock = { nowMs: 0 };
  beforeEach(() => {
    clock.nowMs = 1_000;
    vi.spyOn(performance, "now").mockImplementation(() => clock.nowMs);
    return () => void vi.restoreAllMocks();
  });
  return clock;
}
