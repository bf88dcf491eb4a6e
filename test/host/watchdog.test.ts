/** The watchdog: who is condemned, when, and in whose name. The unit is played; the clocks are real and short. */
import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { expect, it, onTestFinished, vi } from "vitest";
import { Watchdog } from "../../src/host/lanes/watchdog.ts";
import type { Verdict, WatchdogOptions } from "../../src/host/lanes/watchdog.ts";
import { LIMITS, turnMs } from "../../src/protocol/limits.ts";
import type { HeldTurn } from "../../src/protocol/messages.ts";
import { PlayedUnit } from "../support/unit.ts";

const CPU_MS = 10;
const LIMIT_MS = 100;

function watched(more: Partial<WatchdogOptions> = {}, unit = new PlayedUnit(2)) {
  const verdicts: Verdict[] = [];
  const dog = new Watchdog(unit, {
    memoryBytes: 1_000,
    cpuMsOf: () => CPU_MS,
    isOverdue: () => false,
    condemn: (verdict) => verdicts.push(verdict),
    ...more,
  });
  onTestFinished(() => dog.stop());
  return { unit, dog, verdicts, held: (turn: Partial<HeldTurn> = {}) => unit.watcher!.held(turnOf(turn)) };
}

function turnOf(more: Partial<HeldTurn>): HeldTurn {
  return {
    kind: "held",
    lane: 1,
    cell: 4,
    run: 7,
    step: 2,
    begun: 9,
    limitMs: LIMIT_MS,
    heldMs: LIMIT_MS,
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

const PAST = LIMIT_MS + LIMITS.stopGraceMs + 1;
const looks = (count: number) => Array.from({ length: count }, (_, at) => PAST + at * LIMITS.watchMs);

it("a turn that V8 has still time to stop is left alone", () => {
  const { held, verdicts } = watched();
  held();
  held({ heldMs: LIMIT_MS + LIMITS.stopGraceMs - 1 });
  expect(verdicts).toEqual([]);
});

it("a turn that goes on after V8 should have stopped it is condemned, in the name of the cell that is executing", () => {
  const { held, verdicts } = watched();
  held({ heldMs: PAST, cpuMs: PAST });
  expect(verdicts).toMatchObject([{ lane: 1, begun: 9, culprit: { cell: 4, run: 7, step: 2, answer: { status: "cpu" } } }]);
  expect(verdicts[0]!.culprit!.answer.body).toContain("ERR_CALL_WEDGED");
});

it("a thread that sleeps inside a cell ran out of memory", () => {
  const { held, verdicts } = watched();
  for (const heldMs of looks(LIMITS.parkedLooks)) held({ heldMs, cpuMs: 1, isAsleep: true });
  expect(verdicts).toEqual([]);
  held({ heldMs: PAST + 1_000, cpuMs: 1, isAsleep: true });
  expect(verdicts[0]?.culprit?.answer.status).toBe("memory");
});

it("a thread that sleeps for a moment, and has run in between, was not parked", () => {
  const { held, verdicts } = watched();
  for (const [at, heldMs] of looks(5).entries()) held({ heldMs, cpuMs: at, isAsleep: true });
  expect(verdicts).toEqual([]);
});

it("a thread that would run and is not let is waited for, but not for ever", () => {
  const { held, verdicts } = watched();
  held({ heldMs: PAST, cpuMs: CPU_MS - 1 });
  expect(verdicts).toEqual([]);
  held({ heldMs: LIMIT_MS * LIMITS.stuckFactor + 1, cpuMs: CPU_MS - 1 });
  expect(verdicts).toHaveLength(1);
});

it("a sandbox that claims more time for a turn than it could have been given is not believed", () => {
  const { held, verdicts } = watched();
  held({ heldMs: turnMs(CPU_MS) * 2, limitMs: 1e9 });
  expect(verdicts).toHaveLength(1);
});

it("a sandbox that speaks of a cell that is not in that lane, or says what is not in the protocol, is condemned in nobody's name", () => {
  const lying = watched({ cpuMsOf: () => undefined });
  lying.held({ heldMs: 1 });
  const babbling = watched();
  babbling.unit.watcher!.nonsense("x");
  for (const { verdicts } of [lying, babbling]) {
    expect(verdicts).toHaveLength(1);
    expect(verdicts[0]?.culprit).toBeUndefined();
  }
});

it("a unit is condemned once", () => {
  const { held, verdicts } = watched();
  held({ heldMs: PAST, cpuMs: PAST });
  held({ heldMs: PAST + 25, cpuMs: PAST });
  expect(verdicts).toHaveLength(1);
});

it("a process that takes too much memory is condemned in the name of the cell that was executing a moment ago", async () => {
  const unit = new PlayedUnit(2);
  unit.bytes = 500;
  const { held, verdicts } = watched({ isOverdue: () => true }, unit);
  held();
  unit.bytes = 1_001;
  await vi.waitFor(() => expect(verdicts).toMatchObject([{ culprit: { cell: 4 } }]), { interval: 5 });
  expect(verdicts[0]?.why).toContain("memory");
});

it("what the sandbox has said while the gateway was busy is heard before it is judged", async () => {
  const unit = new PlayedUnit(2);
  unit.bytes = 500;
  const { held, verdicts } = watched({ isOverdue: () => true }, unit);
  const { near, far } = await socketPair();
  far.on("data", () => held());
  near.write("who is executing");
  unit.bytes = 1_001;
  blockFor(LIMITS.superviseMs * 3);
  await vi.waitFor(() => expect(verdicts).toMatchObject([{ culprit: { cell: 4 } }]), { interval: 5 });
});

it("a process that does not answer any more while something is overdue is condemned; one that answers is not", async () => {
  const unit = new PlayedUnit(1);
  const silent = watched({ isOverdue: () => true }, unit);
  const answering = new PlayedUnit(1);
  answering.onPing = () => answering.watcher!.beat();
  const fine = watched({ isOverdue: () => true }, answering);
  await vi.waitFor(() => expect(silent.verdicts).toHaveLength(1), { timeout: 10_000, interval: 20 });
  expect(silent.verdicts[0]?.why).toContain("does not answer");
  expect(unit.pings).toBe(LIMITS.lostBeats);
  expect(answering.pings).toBeGreaterThan(LIMITS.lostBeats / 2);
  expect(fine.verdicts).toEqual([]);
});
