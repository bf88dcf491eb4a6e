/** When a host that was forgotten says so: once, after two looks at a program that does nothing else. With a clock of our own. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Forgotten } from "../../src/host/forgotten.ts";
import { LIMITS } from "../../src/protocol/limits.ts";

let active: string[] = [];
let isBusy = false;
const warnings: string[] = [];
const holds: boolean[] = [];
const forgotten = () =>
  new Forgotten({
    hold: (isHeld) => void holds.push(isHeld),
    isBusy: () => isBusy,
    logger: { debug() {}, info() {}, error() {}, warn: (_: object, message: string) => void warnings.push(message) },
  });

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(process, "getActiveResourcesInfo").mockImplementation(() => active);
  active = [];
  isBusy = false;
  warnings.length = 0;
  holds.length = 0;
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const looks = (count: number): void => void vi.advanceTimersByTime(count * LIMITS.report.forgottenMs);

it("says it at the second look, never again, and holds the program as before", () => {
  forgotten().watch();
  looks(1);
  expect(warnings).toEqual([]);
  looks(1);
  expect(warnings).toEqual([expect.stringContaining("a Creel host is still open") as string]);
  looks(100);
  expect(warnings).toHaveLength(1);
  expect(holds.at(-1)).toBe(true);
});

it("begins to count again when the program does something, or somebody waits for the host", () => {
  forgotten().watch();
  for (let time = 0; time < 3; time++) {
    looks(1);
    active = ["Timeout"];
    looks(1);
    active = [];
  }
  isBusy = true;
  looks(10);
  expect(warnings).toEqual([]);
});

it("says nothing of a host that was let go of or closed", () => {
  const [free, closed] = [forgotten(), forgotten()];
  for (const one of [free, closed]) one.watch();
  free.setRef(false);
  closed.stop();
  looks(10);
  expect(warnings).toEqual([]);
  free.setRef(true);
  looks(2);
  expect(warnings).toHaveLength(1);
});
