/** A vigil keeps the event loop awake for an answer that is about to come: not for long, not in vain too often, and nobody else has to wait for it. */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { Vigil } from "../../src/host/lanes/vigil.ts";
import { LIMITS } from "../../src/protocol/limits.ts";
import { movedClock } from "../support/clock.ts";

const POLL_MS = LIMITS.lookMs / 4;

/** As on a machine with so many CPUs, whatever this one has. */
async function withCpus(count: number): Promise<typeof Vigil> {
  vi.resetModules();
  vi.doMock("node:os", () => ({ availableParallelism: () => count }));
  return (await import("../../src/host/lanes/vigil.ts")).Vigil;
}

let Kept: typeof Vigil;
beforeAll(async () => {
  Kept = await withCpus(2);
});
afterAll(() => vi.doUnmock("node:os"));

const clock = movedClock();

/** A lane that answers after so many looks, each of which takes a moment by the clock. */
class Lane {
  answersAt = Infinity;
  polls = 0;
  isOver = false;
  pending = 1;
  rested = 0;
  polled: () => void = () => {};
  #rests: () => void = () => {};
  readonly vigil: Vigil;

  constructor(Kind = Kept) {
    this.vigil = new Kind({
      pending: () => (this.isOver ? 0 : this.pending),
      heardOtherwise: () => 0,
      poll: () => {
        this.polls += 1;
        clock.nowMs += POLL_MS;
        this.polled();
        this.isOver = this.polls >= this.answersAt;
        return this.isOver;
      },
      rest: () => {
        this.rested += 1;
        this.#rests();
      },
    });
  }

  /** A run, and its vigil until that is over. False: it was not kept. */
  async run(answersAt = Infinity): Promise<boolean> {
    this.polls = 0;
    this.isOver = false;
    this.answersAt = answersAt;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#rests = resolve;
    const isKept = this.vigil.keep();
    if (isKept) await promise;
    return isKept;
  }
}

it("looks until the answer has come, and not once more", async () => {
  const lane = new Lane();
  const answersAt = Math.floor((0.8 * LIMITS.vigilMs) / POLL_MS);
  expect(await lane.run(answersAt)).toBe(true);
  expect(lane.polls).toBe(answersAt);
  expect(lane.rested).toBe(1);
});

it("does not look at all for what was answered before its turn", async () => {
  const lane = new Lane();
  const run = lane.run();
  lane.isOver = true;
  expect(await run).toBe(true);
  expect(lane.polls).toBe(0);
  expect(lane.rested).toBe(1);
});

it("goes on when something was heard that was not all", async () => {
  let heard = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  const vigil = new Kept({ pending: () => 5 - heard, poll: () => (heard += 1) > 0, heardOtherwise: () => 0, rest: resolve });
  expect(vigil.keep()).toBe(true);
  await promise;
  expect(heard).toBe(5);
});

it("ends when no answer has come in time, and rests then", async () => {
  const lane = new Lane();
  const startMs = clock.nowMs;
  expect(await lane.run()).toBe(true);
  expect(lane.rested).toBe(1);
  expect(clock.nowMs - startMs).toBeGreaterThanOrEqual(LIMITS.vigilMs);
  expect(clock.nowMs - startMs).toBeLessThanOrEqual(LIMITS.vigilMs + LIMITS.lookMs + POLL_MS);
});

it("is one vigil for all runs meanwhile, and as long as the last of them needs", async () => {
  const lane = new Lane();
  const startMs = clock.nowMs;
  let lastMs = 0;
  lane.polled = () => {
    if (clock.nowMs - startMs < 3 * LIMITS.vigilMs && lane.vigil.keep()) lastMs = clock.nowMs;
  };
  await lane.run();
  expect(lastMs - startMs).toBeGreaterThan(2 * LIMITS.vigilMs);
  expect(clock.nowMs - lastMs).toBeGreaterThanOrEqual(LIMITS.vigilMs);
  expect(clock.nowMs - lastMs).toBeLessThanOrEqual(LIMITS.vigilMs + LIMITS.lookMs + POLL_MS);
  expect(lane.rested).toBe(1);
});

it("lets the event loop turn meanwhile: nobody else waits for longer than a look takes", async () => {
  const lane = new Lane();
  const turns: number[] = [];
  let isOn = true;
  const others = (): void => {
    turns.push(lane.polls);
    if (isOn) setImmediate(others);
  };
  setImmediate(others);
  await lane.run();
  isOn = false;
  const waits = turns.slice(1).map((polls, at) => polls - turns[at]!);
  expect(turns.length).toBeGreaterThanOrEqual(Math.floor(LIMITS.vigilMs / (LIMITS.lookMs + POLL_MS)));
  expect(Math.max(...waits) * POLL_MS).toBeLessThanOrEqual(LIMITS.lookMs + POLL_MS);
});

describe("for a lane that never answers in time", () => {
  const atOnce = Math.floor(LIMITS.vigilCreditMs / LIMITS.vigilMs);

  it("a few are kept all the same, and then none for a while", async () => {
    const lane = new Lane();
    let kept = 0;
    while (await lane.run()) kept += 1;
    // What it takes is given back at a rate meanwhile.
    expect(kept).toBeGreaterThanOrEqual(atOnce);
    expect(kept).toBeLessThanOrEqual(atOnce * (1 + 2 * LIMITS.vigilShare) + 1);
    expect(await lane.run()).toBe(false);
  });

  it("what the gateway did for others meanwhile was not in vain", async () => {
    const lane = new Lane();
    let [isOn, kept] = [true, 0];
    const others = (): void => {
      clock.nowMs += 5 * LIMITS.lookMs;
      if (isOn) setImmediate(others);
    };
    setImmediate(others);
    while ((await lane.run()) && kept < 10 * atOnce) kept += 1;
    isOn = false;
    // Of every turn of the loop two looks' time was its own.
    expect(kept).toBeGreaterThan(2 * atOnce);
    expect(kept).toBeLessThan(4 * atOnce);
  });

  it("no more than its share of the gateway's time is spent in vain, however many runs there are", async () => {
    const lane = new Lane();
    const startMs = clock.nowMs;
    let kept = 0;
    while (clock.nowMs < startMs + 2_000) {
      if (await lane.run()) kept += 1;
      else clock.nowMs += 0.5;
    }
    const spentMs = kept * LIMITS.vigilMs - LIMITS.vigilCreditMs;
    expect(spentMs / 2_000).toBeLessThanOrEqual(LIMITS.vigilShare * 1.05);
    expect(spentMs / 2_000).toBeGreaterThan(LIMITS.vigilShare * 0.7);
  });

  it("every answer that was heard earns it a little more", async () => {
    const lane = new Lane();
    while (await lane.run());
    const inVain = async (): Promise<number> => {
      let kept = 0;
      while (await lane.run()) kept += 1;
      return kept;
    };
    // Nobody waits for these: they earn nothing.
    lane.vigil.earn(LIMITS.vigilCreditMs / LIMITS.vigilEarnedMs);
    expect(await inVain()).toBe(0);
    clock.nowMs += LIMITS.vigilMs / LIMITS.vigilShare;
    lane.polled = () => {
      lane.vigil.earn(LIMITS.vigilCreditMs / LIMITS.vigilEarnedMs);
      lane.polled = () => {};
    };
    expect(await lane.run(2)).toBe(true);
    expect(await inVain()).toBeGreaterThanOrEqual(atOnce);
  });

  it("one that is late now and then is waited for every time", async () => {
    const lane = new Lane();
    for (let at = 0; at < 1_000; at++) {
      // One late answer in fifty milliseconds.
      expect(await lane.run(at % 10 === 0 ? Infinity : 1)).toBe(true);
      clock.nowMs += 5;
    }
  });
});

it("is not kept with a single CPU, where it would keep away whoever is to answer", async () => {
  const lane = new Lane(await withCpus(1));
  expect(await lane.run()).toBe(false);
  expect(lane.rested).toBe(0);
  expect(lane.polls).toBe(0);
});
