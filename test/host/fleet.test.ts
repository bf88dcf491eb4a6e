/** The fleet: a unit that dies is replaced, its lanes live on, what was not sent goes to the replacement, and a closed fleet stays closed. */
import { expect, it, vi } from "vitest";
import { Fleet } from "../../src/host/lanes/fleet.ts";
import type { LaneUnit, UnitWatcher } from "../../src/host/lanes/unit.ts";
import { writeReply } from "../../src/protocol/hot.ts";
import { PlayedLink, start } from "../support/lane.ts";

class PlayedUnit implements LaneUnit {
  readonly links: PlayedLink[];
  readonly pid = 1;
  watcher: UnitWatcher | undefined;
  watch(watcher: UnitWatcher): void {
    this.watcher = watcher;
  }
  readonly #ended = Promise.withResolvers<string>();
  readonly ended = this.#ended.promise;
  isClosed = false;
  constructor(lanes: number) {
    this.links = Array.from({ length: lanes }, () => new PlayedLink());
  }
  die(why = "it died"): void {
    this.#ended.resolve(why);
  }
  kill(): void {
    this.die("it was killed");
  }
  async close(): Promise<void> {
    this.isClosed = true;
    this.die("it was closed");
    await this.ended;
  }
}

function fleetOf(lanes: number, lanesPerUnit: number) {
  const units: PlayedUnit[] = [];
  const restarts: [string, readonly number[], number | undefined][] = [];
  const fleet = new Fleet({
    lanes,
    lanesPerUnit,
    startUnit: (count) => {
      units.push(new PlayedUnit(count));
      return units.at(-1)!;
    },
    greeting: (lane) => [`hello ${lane.index}`],
    hasSpare: false,
    memoryBytes: 2 ** 40,
    cpuMsOf: () => 100,
    message: () => {},
    restarted: (why, indexes, culprit) => restarts.push([why, indexes, culprit]),
  });
  void fleet.start();
  return { fleet, units, restarts };
}

it("starts one unit for all lanes, or one for each, and greets every lane first", () => {
  const together = fleetOf(3, 3);
  expect(together.units).toHaveLength(1);
  expect(together.units[0]!.links.map(({ sent }) => sent[0])).toEqual(["hello 0", "hello 1", "hello 2"]);
  expect(fleetOf(3, 1).units).toHaveLength(3);
});

it("replaces a unit that died, tells why, greets the new one, and only its lanes are touched", async () => {
  const { fleet, units, restarts } = fleetOf(2, 1);
  for (const { links } of units) links[0]!.ready();
  const runs = fleet.lanes.map((lane) => start(lane, 1));
  await Promise.resolve();
  units[0]!.die("SIGSEGV");
  await vi.waitFor(() => expect(units).toHaveLength(3));
  expect(restarts).toEqual([["SIGSEGV", [0], undefined]]);
  expect(units[2]!.links[0]!.sent[0]).toBe("hello 0");
  expect(await runs[0]!).toMatchObject({ steps: [], again: { until: 0 } });
  units[1]!.links[0]!.say(writeReply(runs[1]!.id, true, [{ step: 0, status: "ok", wallUs: 1, cpuUs: 1, body: "" }]));
  expect((await runs[1]!).steps[0]?.status).toBe("ok");
  await fleet.close();
});

it("a lane that breaks the protocol has its unit killed and replaced", async () => {
  const { fleet, units, restarts } = fleetOf(2, 2);
  units[0]!.links[1]!.say("nonsense");
  await vi.waitFor(() => expect(units).toHaveLength(2));
  expect(restarts).toEqual([[expect.stringContaining("not of the protocol"), [0, 1], undefined]]);
  await fleet.close();
});

it("runs that come while there is no unit wait for the next", async () => {
  const { fleet, units } = fleetOf(1, 1);
  units[0]!.die();
  await units[0]!.ended;
  const run = start(fleet.lanes[0]!, 1);
  await vi.waitFor(() => expect(units).toHaveLength(2));
  units[1]!.links[0]!.ready();
  await vi.waitFor(() => expect(units[1]!.links[0]!.runs()).toEqual([run.id]));
  await fleet.close();
});

it("one that keeps dying is started again ever more slowly", async () => {
  const { fleet, units } = fleetOf(1, 1);
  const startedMs = performance.now();
  for (let deaths = 1; deaths <= 4; deaths++) {
    units.at(-1)!.die();
    await vi.waitFor(() => expect(units).toHaveLength(deaths + 1), { interval: 2, timeout: 3_000 });
  }
  // At once, then 50, 100 and 200 ms.
  expect(performance.now() - startedMs).toBeGreaterThanOrEqual(340);
  await fleet.close();
});

it("a closed fleet closes its units and starts none again", async () => {
  const { fleet, units, restarts } = fleetOf(2, 1);
  await fleet.close();
  expect(units.map(({ isClosed }) => isClosed)).toEqual([true, true]);
  await new Promise((resolve) => setImmediate(resolve));
  expect(units).toHaveLength(2);
  expect(restarts).toEqual([]);
});
