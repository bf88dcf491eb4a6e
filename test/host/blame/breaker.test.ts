/** The breaker of one plugin: what opens it, what closes it, and what it never forgives. The clock is the test's. */
import { beforeEach, describe, expect, it } from "vitest";
import { Circuit } from "../../../src/host/blame/circuit.ts";
import type { CircuitRecord, StrikeKind } from "../../../src/host/blame/circuit.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

let nowMs = 0;
let circuit: Circuit;
let changes: string[];

function fresh(): Circuit {
  const made = new Circuit(() => nowMs);
  made.changed = (state) => void changes.push(state);
  return made;
}

const strikes = (count: number, kind: StrikeKind, options?: { run?: number; atLoad?: boolean }) => {
  for (let time = 0; time < count; time++) circuit.strike(kind, `${kind} ${time + 1}`, options);
};
const pass = (ms: number) => void (nowMs += ms);

/** Opens it, waits until its time is over, and lets the run through that tries it. */
function halfOpen(run = 100): void {
  if (circuit.state === "closed") strikes(3, "cpu");
  pass(circuit.until!.getTime() - nowMs);
  expect(circuit.admits(run)).toBe(true);
  expect(circuit.state).toBe("half-open");
}

/** What a new process makes of it. */
function reborn(): void {
  const record = JSON.parse(JSON.stringify(circuit.record())) as CircuitRecord;
  circuit = fresh();
  circuit.restore(record);
}

beforeEach(() => {
  nowMs = 1_700_000_000_000;
  changes = [];
  circuit = fresh();
});

describe("points", () => {
  it.each([
    ["failed", 15],
    ["timeout", 3],
    ["cpu", 3],
    ["memory", 3],
    ["crashed", 3],
    ["killed", 1],
  ] as const)("%s opens it the %i. time, and not before", (kind, count) => {
    strikes(count - 1, kind);
    expect(circuit.state).toBe("closed");
    expect(circuit.admits(1)).toBe(true);
    strikes(1, kind);
    expect(circuit.state).toBe("open");
    expect(circuit.admits(1)).toBe(false);
    expect(changes).toEqual(["open"]);
  });

  it("of different kinds add up", () => {
    strikes(5, "failed");
    strikes(1, "cpu");
    expect(circuit.report()).toMatchObject({ state: "closed", points: 10 });
    strikes(1, "timeout");
    expect(circuit.state).toBe("open");
  });

  it("a good call takes back failures, so that only those in a row count", () => {
    strikes(14, "failed");
    circuit.good(1);
    strikes(14, "failed");
    expect(circuit.report()).toMatchObject({ state: "closed", points: 14 });
    strikes(1, "failed");
    expect(circuit.state).toBe("open");
  });

  it("a good call takes back nothing that cost a budget or a cell", () => {
    strikes(2, "cpu");
    circuit.good(1);
    expect(circuit.report().points).toBe(10);
    strikes(1, "timeout");
    expect(circuit.state).toBe("open");
  });

  it("older than a minute do not count", () => {
    strikes(2, "cpu");
    pass(MINUTE);
    expect(circuit.report().points).toBe(0);
    strikes(2, "cpu");
    pass(MINUTE - 1);
    strikes(1, "cpu");
    expect(circuit.state).toBe("open");
  });

  it("as long as nothing is wrong, a good call has nothing to do", () => {
    expect(circuit.isClear).toBe(true);
    strikes(1, "failed");
    expect(circuit.isClear).toBe(false);
    circuit.good(1);
    expect(circuit.isClear).toBe(true);
    strikes(1, "cpu");
    expect(circuit.isClear).toBe(true);
    strikes(1, "killed");
    expect(circuit.isClear).toBe(false);
  });
});

describe("open", () => {
  it("lasts 30 seconds, and says why, since when and until when", () => {
    strikes(3, "cpu");
    const report = {
      state: "open",
      why: "cpu 3",
      since: new Date(nowMs),
      until: new Date(nowMs + 30 * SECOND),
      opens: 1,
      kills: 0,
      points: 0,
    };
    expect(circuit.report()).toEqual(report);
    pass(30 * SECOND - 1);
    expect(circuit.admits(1)).toBe(false);
    expect(circuit.report()).toEqual(report);
    pass(1);
    expect(circuit.admits(2)).toBe(true);
  });

  it("calls that were in flight when it opened change nothing, good or bad", () => {
    strikes(3, "cpu");
    circuit.good(1);
    strikes(30, "failed", { run: 2 });
    strikes(30, "timeout", { run: 3 });
    expect(circuit.report()).toMatchObject({ state: "open", opens: 1, points: 0 });
  });

  it("what the plugin does without being called counts even then", () => {
    strikes(3, "cpu");
    strikes(2, "cpu");
    expect(circuit.report()).toMatchObject({ opens: 1, points: 10 });
    strikes(1, "memory");
    expect(circuit.report()).toMatchObject({ state: "open", opens: 2, until: new Date(nowMs + 60 * SECOND) });
    strikes(3, "cpu");
    expect(circuit.state).toBe("quarantined");
  });

  it("a clock that is set back does not keep it open", () => {
    strikes(3, "cpu");
    pass(-MINUTE);
    expect(circuit.admits(1)).toBe(true);
  });
});

describe("half-open", () => {
  it("lets one call through and refuses the others meanwhile", () => {
    halfOpen(7);
    expect([circuit.admits(8), circuit.admits(7), circuit.admits(9)]).toEqual([false, false, false]);
    expect(changes).toEqual(["open", "half-open"]);
  });

  it("closes when that call is good, and a later opening is short again", () => {
    halfOpen(7);
    circuit.good(7);
    expect(circuit.report()).toMatchObject({ state: "closed", points: 0, opens: 1, until: undefined });
    expect(circuit.isClear).toBe(true);
    expect(changes).toEqual(["open", "half-open", "closed"]);
    strikes(3, "cpu");
    expect(circuit.until).toEqual(new Date(nowMs + 30 * SECOND));
  });

  it.each(["failed", "timeout", "cpu", "memory", "crashed", "killed"] as const)("opens for twice as long when that call is %s", (kind) => {
    halfOpen(7);
    strikes(1, kind, { run: 7 });
    expect(circuit.report()).toMatchObject({ state: "open", until: new Date(nowMs + 60 * SECOND) });
    expect(circuit.admits(8)).toBe(false);
  });

  it("doubles up to ten minutes", () => {
    strikes(3, "cpu");
    const lengths: number[] = [];
    for (let time = 0; time < 7; time++) {
      lengths.push((circuit.until!.getTime() - nowMs) / SECOND);
      // Long after its time was over: openings that lie far apart are not counted together.
      pass(10 * MINUTE);
      expect(circuit.admits(time)).toBe(true);
      strikes(1, "failed", { run: time });
    }
    expect(lengths).toEqual([30, 60, 120, 240, 480, 600, 600]);
    expect(circuit.state).toBe("open");
  });

  it("only the call that was let through decides", () => {
    halfOpen(7);
    circuit.good(6);
    strikes(3, "timeout", { run: 5 });
    expect(circuit.state).toBe("half-open");
    circuit.good(7);
    expect(circuit.state).toBe("closed");
  });

  it("what the plugin does without being called opens it again", () => {
    halfOpen(7);
    strikes(1, "cpu");
    expect(circuit.state).toBe("open");
    circuit.good(7);
    expect(circuit.state).toBe("open");
  });

  it("a call that came to nothing makes room for the next one, and changes nothing else", () => {
    halfOpen(7);
    circuit.forgo(6);
    expect(circuit.admits(8)).toBe(false);
    circuit.forgo(7);
    expect(circuit.state).toBe("half-open");
    expect(circuit.admits(8)).toBe(true);
    expect(circuit.admits(9)).toBe(false);
    circuit.good(7);
    expect(circuit.state).toBe("half-open");
    circuit.good(8);
    expect(circuit.state).toBe("closed");
  });
});

describe("quarantined", () => {
  it("after three openings in ten minutes, however long it behaved in between", () => {
    for (let time = 0; time < 2; time++) {
      halfOpen(7);
      circuit.good(7);
      pass(MINUTE);
    }
    strikes(3, "cpu");
    expect(circuit.report()).toMatchObject({ state: "quarantined", opens: 3, until: undefined, why: expect.stringContaining("cpu 3") });
  });

  it("not after three openings that lie further apart", () => {
    for (let time = 0; time < 5; time++) {
      halfOpen(7);
      circuit.good(7);
      pass(5 * MINUTE);
    }
    expect(circuit.state).toBe("closed");
  });

  it("after three kills in ten minutes", () => {
    strikes(1, "killed");
    pass(4 * MINUTE);
    strikes(1, "killed");
    expect(circuit.report()).toMatchObject({ state: "open", kills: 2 });
    pass(4 * MINUTE);
    strikes(1, "killed");
    expect(circuit.report()).toMatchObject({ state: "quarantined", kills: 3 });
  });

  it("after the second kill while it was loaded, whenever the first was", () => {
    strikes(1, "killed", { atLoad: true });
    expect(circuit.state).toBe("open");
    pass(24 * 60 * MINUTE);
    strikes(1, "killed", { atLoad: true });
    expect(circuit.report()).toMatchObject({ state: "quarantined", why: expect.stringContaining("while it was loaded") });
  });

  it("for good: neither time nor calls change it", () => {
    strikes(2, "killed", { atLoad: true });
    changes = [];
    pass(365 * 24 * 60 * MINUTE);
    expect(circuit.admits(1)).toBe(false);
    circuit.good(1);
    strikes(20, "killed");
    expect(circuit.state).toBe("quarantined");
    expect(changes).toEqual([]);
  });
});

describe("release", () => {
  it.each([
    ["open", () => strikes(3, "cpu")],
    ["half-open", () => halfOpen()],
    ["quarantined", () => strikes(2, "killed", { atLoad: true })],
  ])("lets it out when it is %s, and forgets what it did", (state, bring) => {
    bring();
    expect(circuit.state).toBe(state);
    circuit.release("because");
    expect(changes.at(-1)).toBe("released");
    expect(circuit.report()).toMatchObject({ state: "closed", why: "because", opens: 0, kills: 0, points: 0 });
    expect(circuit.admits(1)).toBe(true);
    expect(circuit.record()).toBeUndefined();
    // As if it were the first time.
    strikes(1, "killed", { atLoad: true });
    expect(circuit.state).toBe("open");
  });

  it("forgets strikes that had not opened it yet, and tells nobody", () => {
    strikes(14, "failed");
    circuit.release("because");
    expect(changes).toEqual([]);
    strikes(14, "failed");
    expect(circuit.state).toBe("closed");
  });
});

describe("a record", () => {
  it("there is none as long as nothing ever happened", () => {
    strikes(14, "failed");
    expect(circuit.record()).toBeUndefined();
  });

  it("keeps it open until the same time, and doubled after that", () => {
    strikes(3, "cpu");
    const before = circuit.report();
    pass(10 * SECOND);
    reborn();
    expect(circuit.report()).toEqual(before);
    expect(circuit.admits(1)).toBe(false);
    halfOpen(7);
    strikes(1, "failed", { run: 7 });
    expect(circuit.until).toEqual(new Date(nowMs + 60 * SECOND));
  });

  it("of a half-open one lets the next call try it: the one that did has ended with its process", () => {
    halfOpen(7);
    reborn();
    expect(circuit.admits(1)).toBe(true);
    expect(circuit.state).toBe("half-open");
  });

  it("keeps it quarantined", () => {
    strikes(2, "killed", { atLoad: true });
    const before = circuit.report();
    reborn();
    expect(circuit.report()).toEqual(before);
    expect(circuit.admits(1)).toBe(false);
  });

  it("counts openings and kills across restarts", () => {
    strikes(1, "killed", { atLoad: true });
    halfOpen(7);
    circuit.good(7);
    reborn();
    expect(circuit.report()).toMatchObject({ state: "closed", opens: 1, kills: 1 });
    expect(circuit.isClear).toBe(true);
    strikes(1, "killed", { atLoad: true });
    expect(circuit.state).toBe("quarantined");
  });

  it("that claims to be open for longer than it can be is not believed", () => {
    circuit.restore({ state: "open", why: "x", since: nowMs, until: nowMs + 365 * 24 * 60 * MINUTE, opens: [], kills: [], loadKills: 0 });
    pass(10 * MINUTE);
    expect(circuit.admits(1)).toBe(true);
  });
});

it("a reason is one line without control characters, whoever wrote it", () => {
  circuit.strike("killed", `a\n\u001b[31mb${"x".repeat(2_000)}`);
  expect(circuit.why).toMatch(/^a \[31mbx+$/);
  expect(circuit.why.length).toBeLessThanOrEqual(500);
});

describe("rest", () => {
  let rests: boolean[];
  beforeEach(() => {
    rests = [];
    circuit.rested = (isResting) => void rests.push(isResting);
  });

  it("rests while it is open, and not while a call tries it", () => {
    strikes(3, "cpu");
    expect([circuit.isResting, ...rests]).toEqual([true, true]);
    halfOpen(100);
    expect([circuit.isResting, ...rests]).toEqual([false, true, false]);
    circuit.good(100);
    expect([circuit.isResting, ...rests]).toEqual([false, true, false]);
  });

  it("rests again between two calls that try it, and when the one that tried it failed", () => {
    halfOpen(100);
    circuit.forgo(100);
    expect(circuit.isResting).toBe(true);
    expect(circuit.admits(101)).toBe(true);
    expect(circuit.isResting).toBe(false);
    circuit.strike("failed", "again", { run: 101 });
    expect(circuit.isResting).toBe(true);
    expect(rests).toEqual([true, false, true, false, true]);
  });

  it("released it does not rest, and one that was open when the gateway ended still rests", () => {
    strikes(3, "cpu");
    reborn();
    circuit.rested = (isResting) => void rests.push(isResting);
    expect(circuit.isResting).toBe(true);
    circuit.release("the operator released it");
    expect([circuit.isResting, ...rests]).toEqual([false, true, false]);
  });
});
