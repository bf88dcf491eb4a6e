/** Runs that are in a lane, by number: as a Map would have them, in the order in which they came. */
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { PendingRuns } from "../../../src/host/supervisor/pending-runs.ts";

interface Run {
  readonly id: number;
}

function add(runs: PendingRuns<Run>): Run {
  const run = { id: runs.nextId() };
  runs.add(run);
  return run;
}

/** What is compared. */
interface Both {
  readonly runs: PendingRuns<Run>;
  readonly map: Map<number, Run>;
  last: number;
}

/** Each says whether both have done the same. */
const step: fc.Arbitrary<(both: Both) => boolean> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constant((both: Both) => {
      const run = add(both.runs);
      const isHigher = run.id > both.last;
      both.map.set(run.id, run);
      both.last = run.id;
      return isHigher;
    }),
  },
  {
    weight: 2,
    arbitrary: fc.nat().map((at) => ({ runs, map, last }: Both) => {
      // Every other time, of one that is there.
      const id = [...map.keys()][at % (2 * map.size)] ?? at % (last + 2);
      return runs.delete(id) === map.delete(id);
    }),
  },
  fc.constant(({ runs, map, last }: Both) => Array.from({ length: last + 2 }, (_, id) => runs.get(id) === map.get(id)).every(Boolean)),
);

it("holds what a Map would hold, the oldest first", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 400, size: "max" }), (steps) => {
      const both: Both = { runs: new PendingRuns(), map: new Map(), last: 0 };
      expect(steps.findIndex((one) => !one(both) || both.runs.size !== both.map.size)).toBe(-1);
      expect(both.runs.all()).toEqual([...both.map.values()]);
    }),
    { numRuns: 200, interruptAfterTimeLimit: 5_000 },
  );
});

it("a run that takes long keeps its place, however many come and go meanwhile", () => {
  const runs = new PendingRuns<Run>();
  const long = [add(runs), add(runs), add(runs)];
  let last = long.at(-1)!.id;
  for (let at = 0; at < 1_000; at++) {
    const run = add(runs);
    expect(run.id).toBeGreaterThan(last);
    last = run.id;
    expect(runs.all()).toEqual([...long, run]);
    expect(runs.delete(run.id)).toBe(true);
  }
  for (const run of long) expect(runs.get(run.id)).toBe(run);
});

it("has room for any number at once", () => {
  const runs = new PendingRuns<Run>();
  const all = Array.from({ length: 5_000 }, () => add(runs));
  expect(runs.size).toBe(5_000);
  expect(runs.all()).toEqual(all);
  for (const run of all) expect(runs.get(run.id)).toBe(run);
});

it("does not take for a run what another in its place was called, nor what is no number of a run", () => {
  const runs = new PendingRuns<Run>();
  const { id } = add(runs);
  for (const other of [id + 64, id - 64, id + 2 ** 32, id + 0.5, -id, NaN, Infinity]) {
    expect(runs.get(other)).toBeUndefined();
    expect(runs.delete(other)).toBe(false);
  }
  expect(runs.size).toBe(1);
  expect(runs.delete(id)).toBe(true);
  expect(runs.delete(id)).toBe(false);
  expect(runs.size).toBe(0);
});

it("gives a copy of all, so that a caller may end runs while it iterates", () => {
  const runs = new PendingRuns<Run>();
  for (let at = 0; at < 10; at++) add(runs);
  const all = runs.all();
  for (const { id } of all) runs.delete(id);
  expect(all).toHaveLength(10);
  expect(runs.all()).toEqual([]);
});
