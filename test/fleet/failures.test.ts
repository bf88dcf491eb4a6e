/**
 * The failure table of a fleet: real processes on a real NATS server, gates and durable events in flight. Whatever fails, no gate passes that
 * the plugin had to block, none rejects, none waits for long, and no event that was kept is lost. `scripts/fleet-failures.ts` prints the same rows.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Fleet } from "../support/fleet-failures.ts";
import type { Figures } from "../support/fleet-failures.ts";
import { ROWS, SERVER_ROWS, SKEWED_ROWS } from "../support/fleet-rows.ts";
import { diskFull, leaderLost } from "../support/log-failures.ts";
import { noNats } from "../support/nats.ts";
import { hasTmpfs } from "../support/tmpfs.ts";

const figures = new Map<string, Figures>();
const rowOf = (name: string): Figures => [...figures].find(([failure]) => failure.startsWith(name))![1];

describe.skipIf(noNats !== undefined)("a fleet that fails", () => {
  describe.each([
    ["three hosts", ["one", "two", "three"], {}, ROWS],
    ["three hosts with events through the servers", ["one", "two", "three"], { through: "jetstream" }, SERVER_ROWS],
    [
      "two hosts with clocks an hour ahead and behind",
      ["ahead", "behind"],
      { skewMs: { ahead: 3_600_000, behind: -3_600_000 } },
      SKEWED_ROWS,
    ],
  ] as const)("%s", (_, names, options, rows) => {
    let fleet: Fleet;
    beforeAll(async () => {
      fleet = await Fleet.start(names, options);
    }, 90_000);
    afterAll(() => fleet?.[Symbol.asyncDispose]());

    it.each(rows.map((row, at) => [at, row] as const))(
      "row %i: nothing passes unjudged, nothing rejects, no kept event is lost",
      { timeout: 180_000 },
      async (_at, row) => {
        const found = await row(fleet);
        figures.set(found.failure, found);
        expect(found).toMatchObject({ wronglyAllowed: 0, rejected: 0, lost: 0, otherIds: 0 });
        expect(found.events).toBeGreaterThan(0);
        // The budget of a gate, and the way.
        expect(found.slowestMs).toBeLessThan(15_000);
        // Each begins with a whole fleet.
        if (found.byPolicy + found.second > 0) await sleep(2_500);
      },
    );
  });

  it("the rows did what they say: a second host judged, the policy decided, events came twice, a poisoned event held up no other", () => {
    console.table([...figures.values()]);
    const events = [...figures.values()].reduce((sum, row) => sum + row.events, 0);
    expect(events).toBeGreaterThan(1_000);
    for (const name of ["nothing", "clocks", "poison"])
      expect(rowOf(name)).toMatchObject({ byPolicy: 0, wronglyBlocked: 0, outOfOrder: 0, twice: 0 });
    for (const name of ["host stopped", "host in a black hole", "host killed"]) {
      expect(rowOf(name).second).toBeGreaterThan(0);
      expect(rowOf(name)).toMatchObject({ byPolicy: 0, wronglyBlocked: 0 });
    }
    expect(rowOf("host killed").twice).toBeGreaterThan(0);
    for (const name of ["server away", "gateway in a black hole", "gateway cut off", "creel serve"])
      expect(rowOf(name).byPolicy).toBeGreaterThan(0);
    // The policy decides at once, not when the budget of a gate is over.
    expect(rowOf("server away").slowestMs).toBeLessThan(5_000);
    // Sessions of the host that is in quarantine have another one.
    expect(rowOf("events through the servers").events).toBeGreaterThanOrEqual(1_000);
    expect(rowOf("bomb")).toMatchObject({ byPolicy: 0 });
    expect(rowOf("bomb").wronglyBlocked).toBeLessThan(20);
  });

  it("what the servers have acknowledged of a log is there once, although its leader was killed", { timeout: 120_000 }, async () => {
    const { acknowledged, ...found } = await leaderLost(1);
    expect(found).toMatchObject({ lost: 0, twice: 0 });
    expect(acknowledged).toBeGreaterThan(100);
  });

  it.skipIf(!hasTmpfs)(
    "the same with a server whose disk was full, and that was killed then (needs root)",
    { timeout: 120_000 },
    async () => {
      const { acknowledged, refused, ...found } = await diskFull();
      expect(found).toMatchObject({ lost: 0, twice: 0 });
      expect(refused).toBeGreaterThan(0);
      expect(acknowledged).toBeGreaterThan(100);
    },
  );
});
