/**
 * A process that is killed during a change of the state folder has made the change or has not; the next process need
 * not know.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { openState } from "../../src/state/state.ts";
import type { State } from "../../src/state/state.ts";
import { folder, QUICK } from "../support/files.ts";
import { Child, started } from "./child.ts";
import { AFTER, applied, BEFORE, listOf } from "./state-ops.ts";
import type { Model } from "./state-ops.ts";
import { factsOf, filesOf, inventory } from "./state-world.ts";

const stateOf = (dir = join(folder({}, QUICK), "state")) => openState(dir, { retiredMs: 0 });

/** After another change, nothing is left but what is installed. */
async function expectTidy(state: State): Promise<void> {
  await state.transaction(() => {});
  const entries = await state.read();
  expect(readdirSync(join(state.dir, "store")).toSorted()).toEqual(Array.from(entries.values(), ({ store }) => store).toSorted());
  expect(readdirSync(join(state.dir, "staging"))).toEqual([]);
}

/** Starts dozens of processes: long enough for a busy machine. */
const LONG = { timeout: 120_000 };

describe("a process that is killed", LONG, () => {
  it("at any moment of any change leaves the state before or after it, and nothing is lost", async () => {
    const state = stateOf();
    const seed = 20_261_116;
    const spawner = started(1);
    let model: Model = new Map();
    let next = 0;
    let kills = 0;
    for (; next < 200; kills++) {
      const child = spawner.next().value.order({ kind: "random", dir: state.dir, seed, from: next });
      await child.said(1 + Math.floor(Math.random() * 24));
      await sleep(Math.random() * 8);
      child.kill();
      await child.gone();
      expect(child.lines).toEqual(child.lines.map((_, index) => String(next + index)));
      for (; child.lines.pop(); next++) model = applied(model, seed, next);
      // It may have made the change without printing so.
      const found = await inventory(state);
      const after = applied(model, seed, next);
      expect([listOf(model), listOf(after)]).toContainEqual(found);
      if (!isDeepStrictEqual(found, listOf(model))) {
        model = after;
        next += 1;
      }
    }
    expect(kills).toBeGreaterThan(5);
    await expectTidy(state);
    expect(await inventory(state)).toEqual(listOf(model));
  });

  it("at every single step of a change, with a half-written file, leaves the state before or after it", async () => {
    const spawner = started(1);
    const seen: string[] = [];
    for (let at = 1; ; at++) {
      const state = stateOf();
      await state.transaction(async (tx) => {
        for (const id of ["a", "b"]) await tx.put(factsOf(id, 1), filesOf(id, 1));
      });
      const { isFinished } = await spawner.next().value.order({ kind: "step", dir: state.dir, at }).gone();
      const found = await inventory(state);
      expect([BEFORE, AFTER]).toContainEqual(found);
      seen.push(found.join());
      await expectTidy(state);
      expect(await inventory(state)).toEqual(found);
      if (isFinished) break;
    }
    // Once committed, it stays.
    const turn = seen.indexOf(AFTER.join());
    expect(turn).toBeGreaterThan(10);
    expect(seen.length - turn).toBeGreaterThan(3);
    expect(new Set(seen.slice(turn))).toEqual(new Set([AFTER.join()]));
  });
});

describe("two processes at once", LONG, () => {
  it("lose none of each other's changes, and a reader sees whole plugins meanwhile", async () => {
    const state = stateOf();
    const shared = { ...factsOf("shared"), accepted: { ...factsOf("shared").accepted, by: "0" } };
    await state.transaction((tx) => tx.put(shared, filesOf("shared")));
    const times = 25;
    const both = ["one", "two"].map((own) => new Child().order({ kind: "count", dir: state.dir, own, times }).gone());
    const ended = Promise.all(both);
    const over = new AbortController();
    void ended.finally(() => over.abort()).catch(() => {});
    const seen = new Set<string>();
    do seen.add((await inventory(state)).join());
    while (!over.signal.aborted);
    expect(await ended).toEqual([{ isFinished: true }, { isFinished: true }]);
    expect((await state.read()).get("shared")!.accepted.by).toBe(String(2 * times));
    expect(await inventory(state)).toEqual([`one@${times}`, "shared@0", `two@${times}`]);
    expect(seen.size).toBeGreaterThan(5);
    await expectTidy(state);
  });
});
