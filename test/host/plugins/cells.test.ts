/** Who lives where: a lane speaks for its own cells and for no others, and a number means one tenant for ever. */
import { expect, it } from "vitest";
import { Cells } from "../../../src/host/plugins/cells.ts";
import type { Plugin } from "../../../src/host/plugins/plugin.ts";
import { playedLane } from "../../support/lane.ts";

const plugin = { id: "p" } as Plugin;

it("a lane that speaks of another lane's cell, or of one that never was, is refused; of one that was dropped, not heard", () => {
  const cells = new Cells();
  const [mine, theirs] = [playedLane().lane, playedLane().lane];
  const home = cells.assign(plugin, mine);
  expect(cells.at(home.cell, mine)).toEqual({ plugin, home });
  expect(() => cells.at(home.cell, theirs)).toThrow(RangeError);
  expect(() => cells.at(home.cell + 1, mine)).toThrow(RangeError);
  cells.drop(home);
  expect(cells.at(home.cell, mine)).toBeUndefined();
});

it("a plugin that moves has a new number in the new lane; the old one stays its own until it is dropped", () => {
  const cells = new Cells();
  const [quick, slow] = [playedLane().lane, playedLane().lane];
  const home = cells.assign(plugin, quick);
  const left = cells.move(plugin, home, slow);
  expect(home.lane).toBe(slow);
  expect(left.lane).toBe(quick);
  expect(left.cell).not.toBe(home.cell);
  expect(cells.at(left.cell, quick)?.plugin).toBe(plugin);
  expect(cells.at(home.cell, slow)?.plugin).toBe(plugin);
  expect(() => cells.at(left.cell, slow)).toThrow(RangeError);
});

it("whose cell it was is known after it was dropped, since a turn may last in it; of the last 256 of them", () => {
  const cells = new Cells();
  const { lane } = playedLane();
  const [first, ...others] = Array.from({ length: 257 }, () => cells.assign(plugin, lane));
  cells.drop(first!);
  expect(cells.was(first!.cell)).toEqual({ plugin, home: first });
  for (const home of others) cells.drop(home);
  expect(cells.was(first!.cell)).toBeUndefined();
  expect(cells.was(others[0]!.cell)?.plugin).toBe(plugin);
  expect(cells.was(9_999)).toBeUndefined();
});

it("whoever keeps something for a cell is told when it is gone: dropped, or with its sandbox, and then under the same number again", () => {
  const gone: number[] = [];
  const cells = new Cells((who, cell) => {
    expect(who).toBe(plugin);
    gone.push(cell);
  });
  const [quick, slow] = [playedLane().lane, playedLane().lane];
  const home = cells.assign(plugin, quick);
  const left = cells.move(plugin, home, slow);
  cells.died(quick);
  expect(gone).toEqual([left.cell]);
  cells.died(slow);
  expect(gone).toEqual([left.cell, home.cell]);
  cells.drop(left);
  cells.drop(left);
  expect(gone).toEqual([left.cell, home.cell, left.cell]);
});
