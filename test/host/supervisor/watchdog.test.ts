/** The watchdog: who is replaced, when, and in whose name. The unit is played; the clocks are real and short. */
import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { expect, it, onTestFinished, vi } from "vitest";
import { Watchdog } from "../../../src/host/supervisor/watchdog.ts";
import type { Diagnosis, WatchdogOptions } from "../../../src/host/supervisor/watchdog.ts";
import { LIMITS, turnMs } from "../../../src/protocol/limits.ts";
import type { StalledTurn } from "../../../src/protocol/messages/host-lane.ts";
import { PlayedUnit } from "../../support/unit.ts";

const CPU_MS = 10;
const LIMIT_MS = 100;

function watched(more: Partial<WatchdogOptions> = {}, unit = new PlayedUnit(2)) {
  const diagnoses: Diagnosis[] = [];
  const dog = new Watchdog(unit, {
    memoryBytes: 1_000,
    cpuMsOf: () => CPU_MS,
    isOverdue: () => false,
    isOver: () => false,
    isBusyBeside: () => false,
    replace: (diagnosis) => diagnoses.push(diagnosis),
    ...more,
  });
  onTestFinished(() => dog.stop());
  return { unit, dog, diagnoses, stalled: (turn: Partial<StalledTurn> = {}) => unit.events!.stalled(turnOf(turn)) };
}

function turnOf(more: Partial<StalledTurn>): StalledTurn {
  return {
    kind: "stalled",
    lane: 1,
    cell: 4,
    turn: 3,
    run: 7,
    step: 2,
    begun: 9,
    limitMs: LIMIT_MS,
    stalledMs: LIMIT_MS,
    cpuMs: CPU_MS,
    isAsleep: false,
    ...more,
  };
}

/** Two ends of a real socket: what is written to one waits in the kernel until the other's loop reads it. */
async function socketPair(): Promise<{ near: Socket; far: Socket }> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const near = connect((server.address() as AddressInfo).port, "127.0.0.1");
  const [far] = (await once(server, "connection")) as [Socket];
  onTestFinished(() => {
    near.destroy();
    server.close();
  });
  return { near, far };
}

/** A gateway that is busy: neither timers nor sockets are looked after. */
function blockFor(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

const PAST = LIMIT_MS + 1;
/** CPU time of a thread that goes on although V8 was told to stop it. */
const WEDGED_MS = CPU_MS + LIMIT_MS + LIMITS.call.stopCpuMs;
const looks = (count: number) => Array.from({ length: count }, (_, at) => PAST + at * LIMITS.sandbox.watchMs);

it("a turn that V8 has still time to stop is left alone", () => {
  const { stalled, diagnoses } = watched();
  stalled();
  stalled({ stalledMs: LIMIT_MS - 1, cpuMs: LIMIT_MS - 1 });
  expect(diagnoses).toEqual([]);
});

it("a turn that takes CPU time on and on after V8 was told to stop it is replaced, in the name of the cell that is executing", () => {
  const { stalled, diagnoses } = watched();
  stalled({ stalledMs: PAST, cpuMs: PAST });
  stalled({ stalledMs: PAST + LIMITS.call.stopCpuMs - 1, cpuMs: PAST + LIMITS.call.stopCpuMs - 2 });
  expect(diagnoses).toEqual([]);
  stalled({ stalledMs: PAST + LIMITS.call.stopCpuMs, cpuMs: PAST + LIMITS.call.stopCpuMs });
  expect(diagnoses).toMatchObject([{ lane: 1, begun: 9, culprit: { cell: 4, run: 7, step: 2, answer: { status: "cpu" } } }]);
  expect(diagnoses[0]!.culprit!.answer.body).toContain("ERR_CALL_WEDGED");
});

it("a plain loop whose thread waits for a CPU, or for the lock of the clock that stops it, is never called wedged, however long it takes", () => {
  const { stalled, diagnoses } = watched();
  // It had its whole budget, V8 has stopped it, and it does not come to leave its cell.
  for (let stalledMs = PAST; stalledMs < LIMITS.sandbox.starvedMs; stalledMs += 25)
    stalled({ stalledMs, cpuMs: LIMIT_MS + (stalledMs % 100) / 1000, isAsleep: stalledMs % 50 === 0 });
  expect(diagnoses).toEqual([]);
});

it("a thread that gets no CPU at all is given up in the end, and no plugin is blamed", () => {
  const { stalled, diagnoses } = watched();
  stalled({ stalledMs: LIMITS.sandbox.starvedMs - 1, cpuMs: CPU_MS - 1 });
  expect(diagnoses).toEqual([]);
  stalled({ stalledMs: LIMITS.sandbox.starvedMs, cpuMs: CPU_MS - 1 });
  expect(diagnoses).toEqual([{ why: expect.stringContaining("did not answer") }]);
});

it("where the kernel does not tell a thread's CPU time, a turn is given several times what it may last", () => {
  const { stalled, diagnoses } = watched();
  const unknown = { cpuMs: undefined, isAsleep: undefined };
  stalled({ stalledMs: LIMIT_MS * LIMITS.sandbox.stuckFactor - 1, ...unknown });
  expect(diagnoses).toEqual([]);
  stalled({ stalledMs: LIMIT_MS * LIMITS.sandbox.stuckFactor, ...unknown });
  expect(diagnoses).toMatchObject([{ culprit: { cell: 4 } }]);
});

it("a thread that sleeps inside a cell ran out of memory, also while another lane's turn lasts", () => {
  const { stalled, diagnoses } = watched();
  for (const stalledMs of looks(LIMITS.sandbox.parkedLooks)) {
    stalled({ lane: 0, cell: 1, stalledMs: 30, cpuMs: stalledMs });
    stalled({ stalledMs, cpuMs: 1, isAsleep: true });
  }
  expect(diagnoses).toEqual([]);
  stalled({ stalledMs: PAST + 1_000, cpuMs: 1, isAsleep: true });
  expect(diagnoses[0]).toMatchObject({ lane: 1, culprit: { cell: 4, answer: { status: "memory" } } });
});

it("a thread that sleeps for a moment, and has run in between, was not parked", () => {
  const { stalled, diagnoses } = watched();
  for (const [at, stalledMs] of looks(20).entries()) stalled({ stalledMs, cpuMs: 1 + at / 1000, isAsleep: true });
  expect(diagnoses).toEqual([]);
});

it("sleep in one turn and sleep in the next are not one sleep", () => {
  const { stalled, diagnoses } = watched();
  for (const [at, stalledMs] of looks(20).entries()) stalled({ turn: 3 + at, stalledMs, cpuMs: 1, isAsleep: true });
  expect(diagnoses).toEqual([]);
});

it("a sandbox that claims more time for a turn than it could have been given is not believed", () => {
  const { stalled, diagnoses } = watched();
  const limitMs = turnMs(CPU_MS);
  stalled({ stalledMs: limitMs * 2, limitMs: 1e9, cpuMs: CPU_MS + limitMs + LIMITS.call.stopCpuMs });
  expect(diagnoses).toHaveLength(1);
});

it("a sandbox that names a cell that is not in that lane, or breaks the protocol, is replaced, and no plugin is blamed", () => {
  const lying = watched({ cpuMsOf: () => undefined });
  lying.stalled({ stalledMs: 1 });
  const babbling = watched();
  babbling.unit.events!.protocolError("x");
  for (const { diagnoses } of [lying, babbling]) {
    expect(diagnoses).toHaveLength(1);
    expect(diagnoses[0]?.culprit).toBeUndefined();
  }
});

it("a unit is replaced once", () => {
  const { stalled, diagnoses } = watched();
  stalled({ stalledMs: WEDGED_MS, cpuMs: WEDGED_MS });
  stalled({ stalledMs: WEDGED_MS + 25, cpuMs: WEDGED_MS + 25 });
  expect(diagnoses).toHaveLength(1);
});

const MB = 2 ** 20;
const LIMIT_BYTES = 1_000 * MB;

/** A process that takes so much; what its lanes say of it while it is more than half of what it may. */
function weighed(more: Partial<WatchdogOptions> = {}) {
  const unit = new PlayedUnit(2);
  unit.bytes = 600 * MB;
  return { ...watched({ memoryBytes: LIMIT_BYTES, isOverdue: () => true, ...more }, unit), unit };
}

it("a process that takes too much memory is replaced in the name of the cell that took it, not of one that was executing a moment ago", async () => {
  const { unit, stalled, diagnoses } = weighed();
  expect(unit.tightened).toBe(1);
  unit.events!.grown({ kind: "grown", lane: 0, cell: 2, bytes: 350 * MB, others: 20 * MB });
  stalled({ touchedBytes: 4_096 });
  unit.bytes = LIMIT_BYTES + 1;
  await vi.waitFor(() => expect(diagnoses).toMatchObject([{ lane: 0, culprit: { cell: 2, run: 0 } }]), { interval: 5 });
  expect(diagnoses[0]?.why).toContain("memory");
  expect(diagnoses[0]?.culprit?.answer.body).toContain("350 MB");
});

it.each([
  ["two cells took about the same", [200, 0, 190]],
  ["the others of the lane took as much", [200, 180, 0]],
  ["no cell took half of it", [150, 10, 0]],
  ["nothing is known", undefined],
] as const)("a process that takes too much memory names no one when %s", async (_, told) => {
  const { unit, stalled, diagnoses } = weighed();
  if (told) {
    unit.events!.grown({ kind: "grown", lane: 0, cell: 2, bytes: told[0] * MB, others: told[1] * MB });
    unit.events!.grown({ kind: "grown", lane: 1, cell: 5, bytes: told[2] * MB, others: 0 });
  }
  stalled();
  unit.bytes = LIMIT_BYTES + 1;
  await vi.waitFor(() => expect(diagnoses).toHaveLength(1), { interval: 5 });
  expect(diagnoses[0]?.culprit).toBeUndefined();
  expect(diagnoses[0]?.why).toContain("no single plugin explains it");
});

const KILLED = "the sandbox process was ended by SIGKILL";

/** Killed after a look that found it that large. */
async function killedAt(mb: number, told: readonly [number, number, number] | undefined) {
  const { unit, dog } = weighed();
  if (told) {
    unit.events!.grown({ kind: "grown", lane: 0, cell: 2, bytes: told[0] * MB, others: told[1] * MB });
    unit.events!.grown({ kind: "grown", lane: 1, cell: 5, bytes: told[2] * MB, others: 0 });
  }
  unit.bytes = mb * MB;
  const read = vi.spyOn(unit, "rssBytes");
  await vi.waitFor(() => expect(read).toHaveBeenCalled(), { interval: 2 });
  return dog.killed(KILLED);
}

it("a process that is killed while it fills its memory says so, and names the cell that filled it", async () => {
  const why = `${KILLED} while it used 950 of its 1000 MB of memory`;
  expect(await killedAt(950, [350, 20, 10])).toMatchObject({ why, lane: 0, culprit: { cell: 2, answer: { status: "memory" } } });
});

it.each([
  ["two cells took about the same", [300, 0, 290]],
  ["the others of the lane took as much", [300, 280, 0]],
  ["nothing is known", undefined],
  ["no cell took much since it is watched", [30, 0, 0]],
] as const)("a process that is killed while it fills its memory names no one when %s", async (_, told) => {
  expect(await killedAt(950, told)).toEqual({ why: `${KILLED} while it used 950 of its 1000 MB of memory` });
});

it("a process that is killed while it has memory left was killed by anybody", async () => {
  expect(await killedAt(400, [350, 0, 0])).toEqual({ why: KILLED });
});

it("memory that a turn takes all at once is its cell's, as the kernel counts what its thread has touched", async () => {
  const { unit, stalled, diagnoses } = weighed();
  stalled({ lane: 0, cell: 2, touchedBytes: 8_192 });
  stalled({ touchedBytes: 390 * MB });
  unit.bytes = LIMIT_BYTES + 1;
  await vi.waitFor(() => expect(diagnoses).toMatchObject([{ lane: 1, culprit: { cell: 4, run: 7, step: 2 } }]), { interval: 5 });
});

it("who was inside a cell when a unit died is known only if its turn lasted, was not answered, and no other lane was at work", () => {
  const alone = watched();
  alone.stalled({ stalledMs: LIMIT_MS - 1, cpuMs: CPU_MS - 1 });
  expect(alone.dog.suspect()).toMatchObject({ lane: 1, culprit: { cell: 4 } });
  const over = watched({ isOver: () => true });
  over.stalled();
  expect(over.dog.suspect()).toEqual({ isCrash: true });
  const [innocent, spent] = [
    { stalledMs: LIMIT_MS - 1, cpuMs: CPU_MS - 1 },
    { lane: 0, cell: 2, stalledMs: LIMIT_MS, cpuMs: CPU_MS },
  ];
  const beside = watched({ isBusyBeside: (lane) => lane === 1 });
  beside.stalled(innocent);
  expect(beside.dog.suspect()).toEqual({});
  const two = watched();
  two.stalled(innocent);
  two.stalled({ ...innocent, lane: 0, cell: 2 });
  expect(two.dog.suspect()).toEqual({});
  // The CPU time of one of them is used up, so that V8 was told to stop it: no other lane can have been the reason.
  const late = watched({ isBusyBeside: () => true });
  late.stalled(innocent);
  late.stalled(spent);
  expect(late.dog.suspect()).toMatchObject({ lane: 0, culprit: { cell: 2 } });
  const both = watched();
  both.stalled({ ...spent, lane: 1, cell: 4 });
  both.stalled(spent);
  expect(both.dog.suspect()).toEqual({});
});

async function freeze(last: Partial<StalledTurn>): Promise<Diagnosis> {
  const { stalled, diagnoses } = watched({ isOverdue: () => true });
  stalled(last);
  await vi.waitFor(() => expect(diagnoses).toHaveLength(1), { timeout: 10_000, interval: 20 });
  return diagnoses[0]!;
}

it("a process that freezes is replaced in the name of the turn that V8 was told to stop, if it reported one at last", async () => {
  const [named, unnamed] = await Promise.all([freeze({ cpuMs: CPU_MS }), freeze({ stalledMs: LIMIT_MS - 1, cpuMs: CPU_MS - 1 })]);
  expect(named).toMatchObject({ why: "the sandbox process no longer answers", lane: 1, culprit: { cell: 4 } });
  expect(unnamed.why).toBe(named.why);
  expect(unnamed.culprit).toBeUndefined();
});

it("a process that takes too much memory is given a moment to say who grew, and is replaced at once when it has", async () => {
  const { unit, diagnoses } = weighed();
  unit.bytes = LIMIT_BYTES + 1;
  // The watchdog has looked, at least twice.
  const read = vi.spyOn(unit, "rssBytes");
  await vi.waitFor(() => expect(read.mock.calls.length).toBeGreaterThan(2), { interval: 2 });
  expect(diagnoses).toEqual([]);
  unit.events!.grown({ kind: "grown", lane: 0, cell: 2, bytes: 350 * MB, others: 20 * MB });
  await vi.waitFor(() => expect(diagnoses).toMatchObject([{ lane: 0, culprit: { cell: 2 } }]), { interval: 2 });
});

it("unless it grows on without an end", async () => {
  const { unit, diagnoses } = weighed();
  unit.bytes = 2 * LIMIT_BYTES;
  await vi.waitFor(() => expect(diagnoses).toHaveLength(1), { interval: 2 });
  expect(diagnoses[0]?.why).toContain("no single plugin explains it");
});

it("reports that arrived while the gateway was busy are read before the watchdog decides", async () => {
  const { unit, diagnoses } = weighed();
  const { near, far } = await socketPair();
  far.on("data", () => unit.events!.grown({ kind: "grown", lane: 0, cell: 2, bytes: 350 * MB, others: 0 }));
  near.write("whose it is");
  unit.bytes = LIMIT_BYTES + 1;
  blockFor(LIMITS.sandbox.superviseMs * 3);
  await vi.waitFor(() => expect(diagnoses).toMatchObject([{ culprit: { cell: 2 } }]), { interval: 5 });
});

it("a process that does not answer any more while something is overdue is replaced; one that answers is not", async () => {
  const unit = new PlayedUnit(1);
  const silent = watched({ isOverdue: () => true }, unit);
  const answering = new PlayedUnit(1);
  answering.onPing = () => answering.events!.beat();
  const fine = watched({ isOverdue: () => true }, answering);
  await vi.waitFor(() => expect(silent.diagnoses).toHaveLength(1), { timeout: 10_000, interval: 20 });
  expect(silent.diagnoses[0]?.why).toContain("no longer answers");
  expect(unit.pings).toBe(LIMITS.sandbox.lostBeats);
  expect(answering.pings).toBeGreaterThan(LIMITS.sandbox.lostBeats / 2);
  expect(fine.diagnoses).toEqual([]);
});

it("a process whose memory cannot be read any more is about to tell its exit, and is replaced when it does not", async () => {
  const unit = new PlayedUnit(1);
  unit.bytes = 500;
  const { dog, diagnoses } = watched({ isOverdue: () => true }, unit);
  expect(dog.isGone).toBe(false);
  unit.bytes = undefined;
  expect(dog.isGone).toBe(true);
  // For longer than one that does not answer has: its exit names the culprit.
  await vi.waitFor(() => expect(diagnoses).toHaveLength(1), { timeout: 20_000, interval: 20 });
  expect(unit.pings).toBeLessThanOrEqual(1);
  const never = watched({}, new PlayedUnit(1));
  expect(never.dog.isGone).toBe(false);
});

it("a turn that was reported a moment ago was seen in its lane, also if its run was answered meanwhile", () => {
  const { dog, stalled } = watched({ isOver: () => true });
  expect(dog.hasSeen(1, 60_000)).toBe(false);
  stalled({ stalledMs: 1 });
  expect([dog.hasSeen(1, 60_000), dog.hasSeen(0, 60_000), dog.hasSeen(1, -1)]).toEqual([true, false, false]);
});
