/** The supervisor: a unit that dies is replaced, its lanes live on, what was not sent goes to the replacement, and a closed supervisor stays closed. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, onTestFinished, vi } from "vitest";
import { Supervisor } from "../../../src/host/supervisor/supervisor.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";
import { pack } from "../../../src/transport/frames.ts";
import { writeReply } from "../../../src/transport/call-frames.ts";
import { start } from "../../support/lane.ts";
import { PlayedUnit } from "../../support/unit.ts";

function supervisorOf(lanes: number, lanesPerUnit: number, hasSpare = false, isStarted = true) {
  const units: PlayedUnit[] = [];
  const restarts: [string, readonly number[], number | undefined][] = [];
  const supervisor = new Supervisor({
    lanes,
    lanesPerUnit,
    startUnit: (count) => {
      units.push(new PlayedUnit(count));
      return units.at(-1)!;
    },
    greeting: (lane) => [`hello ${lane.index}`],
    hasSpare,
    memoryBytes: 2 ** 40,
    cpuMsOf: () => 100,
    message: () => {},
    restarted: (why, indexes, culprit) => restarts.push([why, indexes, culprit]),
  });
  if (isStarted) void supervisor.start();
  // One that is left open rejects when the limit for its start is over, in whichever test runs then.
  onTestFinished(() => supervisor.close());
  return { supervisor, units, restarts };
}

it("starts one unit for all lanes, or one for each, and greets every lane first", () => {
  const together = supervisorOf(3, 3);
  expect(together.units).toHaveLength(1);
  expect(together.units[0]!.links.map(({ sent }) => sent[0])).toEqual(["hello 0", "hello 1", "hello 2"]);
  expect(supervisorOf(3, 1).units).toHaveLength(3);
});

it("waits no longer for its lanes once it is closed", async () => {
  const { supervisor } = supervisorOf(1, 1, false, false);
  const started = supervisor.start();
  await supervisor.close();
  // Otherwise it rejects, when the limit is over.
  await expect(started).resolves.toBeUndefined();
});

it("replaces a unit that died, tells why, greets the new one, and only its lanes are touched", async () => {
  const { supervisor, units, restarts } = supervisorOf(2, 1);
  for (const { links } of units) links[0]!.ready();
  const runs = supervisor.lanes.map((lane) => start(lane, 1));
  await Promise.resolve();
  units[0]!.die("SIGSEGV");
  await vi.waitFor(() => expect(units).toHaveLength(3));
  expect(restarts).toEqual([["SIGSEGV", [0], undefined]]);
  expect(units[2]!.links[0]!.sent[0]).toBe("hello 0");
  expect(await runs[0]!).toMatchObject({ steps: [], retry: { until: 0 } });
  units[1]!.links[0]!.say(writeReply(runs[1]!.id, true, [{ step: 0, status: "ok", wallUs: 1, cpuUs: 1, body: "" }]));
  expect((await runs[1]!).steps[0]?.status).toBe("ok");
  await supervisor.close();
});

it("a lane that breaks the protocol has its unit killed and replaced", async () => {
  const { supervisor, units, restarts } = supervisorOf(2, 2);
  units[0]!.links[1]!.say("nonsense");
  await vi.waitFor(() => expect(units).toHaveLength(2));
  expect(restarts).toEqual([[expect.stringContaining("breaks the protocol"), [0, 1], undefined]]);
  await supervisor.close();
});

it("a link that ends because its process has died does not have it replaced before the exit says why, however late that comes", async () => {
  const { supervisor, units, restarts } = supervisorOf(1, 1);
  const [unit] = units;
  unit!.bytes = 1_000;
  // The watchdog has measured it once.
  await sleep(LIMITS.sandbox.memoryMs * 2);
  unit!.bytes = undefined;
  unit!.links[0]!.end("the peer has gone");
  await sleep(LIMITS.sandbox.linkEndMs * 2);
  unit!.die("SIGSEGV");
  await vi.waitFor(() => expect(restarts).toEqual([["SIGSEGV", [0], undefined]]));
  // The process lives, so the link alone was closed.
  await vi.waitFor(() => expect(units).toHaveLength(2));
  units[1]!.bytes = 1_000;
  units[1]!.links[0]!.end("the peer has gone");
  await vi.waitFor(() => expect(restarts).toHaveLength(2), { timeout: 5_000 });
  expect(restarts[1]![0]).toContain("the peer has gone");
  await supervisor.close();
});

it("runs that come while there is no unit wait for the next", async () => {
  const { supervisor, units } = supervisorOf(1, 1);
  units[0]!.die();
  await units[0]!.ended;
  const run = start(supervisor.lanes[0]!, 1);
  await vi.waitFor(() => expect(units).toHaveLength(2));
  units[1]!.links[0]!.ready();
  await vi.waitFor(() => expect(units[1]!.links[0]!.runs()).toEqual([run.id]));
  await supervisor.close();
});

it("one that dies is started again at once, and one that keeps dying ever more slowly", async () => {
  const { supervisor, units } = supervisorOf(1, 1);
  const times: number[] = [];
  for (let deaths = 1; deaths <= LIMITS.sandbox.restartsPerMinute + 2; deaths++) {
    const startedMs = performance.now();
    units.at(-1)!.die();
    await vi.waitFor(() => expect(units).toHaveLength(deaths + 1), { interval: 1, timeout: 3_000 });
    times.push(performance.now() - startedMs);
  }
  // The tenth in a minute waits 50 ms, then 100 and 200.
  expect(times.at(-1)).toBeGreaterThanOrEqual(195);
  expect(times.at(-3)).toBeGreaterThanOrEqual(45);
  expect(times.slice(0, LIMITS.sandbox.restartsPerMinute - 1).toSorted((a, b) => a - b)[4]).toBeLessThan(45);
  await supervisor.close();
});

it("a closed supervisor closes its units and starts none again", async () => {
  const { supervisor, units, restarts } = supervisorOf(2, 1);
  await supervisor.close();
  expect(units.map(({ isClosed }) => isClosed)).toEqual([true, true]);
  await new Promise((resolve) => setImmediate(resolve));
  expect(units).toHaveLength(2);
  expect(restarts).toEqual([]);
});

const stuck = {
  kind: "stalled",
  lane: 0,
  cell: 5,
  turn: 1,
  run: 1,
  step: 0,
  begun: 1,
  limitMs: 10,
  stalledMs: 1e6,
  cpuMs: 1e6,
  isAsleep: false,
} as const;

it("a lane that is stuck has its unit replaced at once, in the name of the cell it is in; its other lanes may finish what they are at", async () => {
  const { supervisor, units, restarts } = supervisorOf(2, 2);
  units[0]!.ready();
  const [culprit, other] = supervisor.lanes.slice(0, 2).map((lane) => start(lane, 1));
  await Promise.resolve();
  units[0]!.events!.stalled(stuck);
  // The culprit is settled before anything is killed; what comes now waits for the replacement.
  expect((await culprit!).steps[0]).toMatchObject({ status: "cpu" });
  expect(restarts).toMatchObject([[expect.stringContaining("could not be stopped"), [0, 1], 5]]);
  expect(units[0]!.isClosed).toBe(false);
  const next = start(supervisor.lanes[1]!, 1);
  units[0]!.links[1]!.say(writeReply(other!.id, true, [{ step: 0, status: "ok", wallUs: 1, cpuUs: 1, body: "" }]));
  expect((await other!).steps[0]?.status).toBe("ok");
  await vi.waitFor(() => expect(units).toHaveLength(2));
  expect(units[0]!.isClosed).toBe(true);
  units[1]!.ready();
  expect(units[0]!.links[1]!.runs()).toEqual([other!.id]);
  expect(units[1]!.links[1]!.runs()).toEqual([next.id]);
  await supervisor.close();
});

it("a unit that crashes while a turn lasts in it did so inside that cell; one that is killed may have been killed by anybody", async () => {
  const lasting = { ...stuck, run: 0, stalledMs: 5 };
  const crashed = supervisorOf(1, 1);
  crashed.units[0]!.events!.stalled(lasting);
  crashed.units[0]!.die("the sandbox process was ended by SIGSEGV");
  await vi.waitFor(() => expect(crashed.restarts).toMatchObject([[expect.anything(), [0], 5]]));
  const killed = supervisorOf(1, 1);
  killed.units[0]!.events!.stalled(lasting);
  killed.units[0]!.die("the sandbox process was ended by SIGKILL");
  await vi.waitFor(() => expect(killed.restarts).toMatchObject([[expect.anything(), [0], undefined]]));
  await Promise.all([crashed.supervisor.close(), killed.supervisor.close()]);
});

it("a unit that is killed while a cell fills its memory was killed because of that cell", async () => {
  const { supervisor, units, restarts } = supervisorOf(1, 1);
  units[0]!.bytes = 0.9 * 2 ** 40;
  await vi.waitFor(() => expect(units[0]!.tightened).toBe(1), { timeout: 5_000 });
  units[0]!.events!.grown({ kind: "grown", lane: 0, cell: 5, bytes: 2 ** 39, others: 0 });
  units[0]!.die("the sandbox process was ended by SIGKILL");
  await vi.waitFor(() => expect(restarts).toMatchObject([[expect.stringContaining("SIGKILL while it used"), [0], 5]]));
  await supervisor.close();
});

const OPENED = { kind: "opened", cell: 1, loadMs: 1 } as const;

it("no spare unit is started while no plugin is loaded: there is nothing to protect", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { supervisor, units } = supervisorOf(1, 1, true);
  units[0]!.ready();
  units[0]!.links[0]!.say(pack({ ...OPENED, ok: false }, "{}"));
  await vi.advanceTimersByTimeAsync(10 * LIMITS.sandbox.spareDelayMs);
  expect(units).toHaveLength(1);
  units[0]!.links[0]!.say(pack({ ...OPENED, ok: true }, "{}"));
  await vi.advanceTimersByTimeAsync(LIMITS.sandbox.spareDelayMs);
  expect(units).toHaveLength(2);
  await supervisor.close();
});

it("the spare unit takes the place of one that is gone, and another spare is started", async () => {
  const { supervisor, units } = supervisorOf(1, 1, true);
  units[0]!.ready();
  units[0]!.links[0]!.say(pack({ ...OPENED, ok: true }, "{}"));
  await vi.waitFor(() => expect(units).toHaveLength(2), { timeout: 5_000 });
  expect(units[1]!.links[0]!.sent).toEqual([]);
  units[0]!.die();
  await vi.waitFor(() => expect(units[1]!.links[0]!.sent).toEqual(["hello 0"]));
  await vi.waitFor(() => expect(units).toHaveLength(3), { timeout: 5_000 });
  await supervisor.close();
  expect(units.map(({ isClosed }) => isClosed)).toEqual([true, true, true]);
});

it("a unit that was started ahead is the first one's place, spare or not", async () => {
  const { supervisor, units } = supervisorOf(2, 2, false, false);
  supervisor.warm();
  expect(units).toHaveLength(1);
  void supervisor.start();
  expect(units).toHaveLength(1);
  expect(units[0]!.links.map(({ sent }) => sent)).toEqual([["hello 0"], ["hello 1"]]);
  await supervisor.close();
});

it("the slow lane has a unit of its own, which is started when it is first needed", async () => {
  const { supervisor, units, restarts } = supervisorOf(2, 2);
  expect(supervisor.slow).toBe(supervisor.lanes[2]);
  supervisor.startSlow();
  supervisor.startSlow();
  expect(units.map(({ links }) => links.length)).toEqual([2, 1]);
  units[1]!.events!.stalled(stuck);
  await vi.waitFor(() => expect(units).toHaveLength(3));
  expect(restarts).toMatchObject([[expect.anything(), [2], 5]]);
  expect(units[0]!.isClosed).toBe(false);
  await supervisor.close();
});

it("when a supervisor is closed every run in it is settled, sent or not", async () => {
  const { supervisor, units } = supervisorOf(1, 1);
  units[0]!.ready();
  const sent = start(supervisor.lanes[0]!, 1);
  await Promise.resolve();
  units[0]!.die();
  await units[0]!.ended;
  const unsent = start(supervisor.lanes[0]!, 1);
  await supervisor.close();
  expect(await sent).toMatchObject({ retry: { until: 0 } });
  expect((await unsent).steps[0]?.status).toBe("crashed");
});

it("a link that breaks the rules has its unit replaced at once; one that ends is given a moment to say more of why", async () => {
  const broken = supervisorOf(1, 1);
  broken.units[0]!.ready();
  broken.units[0]!.links[0]!.end("a frame of 9 bytes", true);
  expect(broken.restarts).toEqual([[expect.stringContaining("a frame of 9 bytes"), [0], undefined]]);
  const ended = supervisorOf(1, 1);
  ended.units[0]!.ready();
  ended.units[0]!.links[0]!.end("the socket was closed");
  expect(ended.restarts).toEqual([]);
  await vi.waitFor(() => expect(ended.restarts).toEqual([[expect.stringContaining("the socket was closed"), [0], undefined]]));
  const died = supervisorOf(1, 1);
  died.units[0]!.ready();
  died.units[0]!.links[0]!.end("the socket was closed");
  died.units[0]!.die("the sandbox process was ended by SIGSEGV");
  await vi.waitFor(() => expect(died.units).toHaveLength(2));
  expect(died.restarts).toEqual([["the sandbox process was ended by SIGSEGV", [0], undefined]]);
  await Promise.all([broken, ended, died].map(({ supervisor }) => supervisor.close()));
});
