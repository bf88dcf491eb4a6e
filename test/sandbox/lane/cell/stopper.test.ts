/** A turn is ended from another thread, while its lane is inside it. */
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
// oxlint-disable-next-line no-restricted-imports -- the stopper ends isolates
import ivm from "isolated-vm";
import { expect, it, onTestFinished, vi } from "vitest";
import { LaneStatus, LANE_STATUS_BYTES, STOPPER_FIELDS as AT } from "../../../../src/transport/lane-status.ts";
import { Stopper } from "../../../../src/sandbox/lane/cell/stopper.ts";

const CELL = 3;

/** As the stall detector would: names the turn that the lane is in as soon as it is in one. */
async function namer(memory: SharedArrayBuffer): Promise<void> {
  const source = `const { workerData, parentPort } = require("node:worker_threads");
    const at = new Float64Array(workerData, 0, ${AT.STOPPER_SIGNAL / 2}), words = new Int32Array(workerData);
    parentPort.postMessage("up");
    while (at[${AT.TURN}] % 2 === 0) Atomics.wait(words, ${AT.STOPPER_LEAVES}, 0, 1);
    at[${AT.STOP}] = at[${AT.TURN}];
    Atomics.add(words, ${AT.STOPPER_SIGNAL}, 1);
    Atomics.notify(words, ${AT.STOPPER_SIGNAL});`;
  const worker = new Worker(source, { eval: true, workerData: memory });
  onTestFinished(async () => void (await worker.terminate()));
  await once(worker, "message");
}

async function guarded() {
  const status = new LaneStatus(new SharedArrayBuffer(LANE_STATUS_BYTES), 0);
  const stopper = new Stopper(status);
  const isolate = new ivm.Isolate();
  onTestFinished(() => {
    stopper.dispose();
    if (!isolate.isDisposed) isolate.dispose();
  });
  stopper.add(CELL, isolate);
  expect(stopper.guards(CELL)).toBe(false);
  await vi.waitFor(() => expect(stopper.guards(CELL)).toBe(true));
  const context = isolate.createContextSync();
  const run = (code: string): unknown => {
    status.enter(CELL, 60_000);
    try {
      return context.evalSync(code, { timeout: 60_000 });
    } finally {
      status.leave();
    }
  };
  return { status, stopper, isolate, run };
}

it.each([
  ["a loop", "for (;;);"],
  ["microtasks without an end", "const again = () => Promise.resolve().then(again); again(); undefined"],
  ["a loop that catches all errors", "for (;;) { try { for (;;); } catch {} finally { for (;;); } }"],
])("a turn that is named ends, long before its timeout, and its cell is gone: %s", async (_, code) => {
  const { status, isolate, run } = await guarded();
  await namer(status.memory);
  expect(() => run(code)).toThrow("disposed");
  expect(isolate.isDisposed).toBe(true);
  expect(status.isStopped(CELL)).toBe(true);
  status.forgetStop(CELL);
  expect(status.isStopped(CELL)).toBe(false);
});

it("a turn that was over when it was named, and a cell that was removed, are left alone", async () => {
  const { status, stopper, isolate, run } = await guarded();
  const at = new Float64Array(status.memory, 0, AT.STOPPER_SIGNAL / 2);
  const name = (turn: number): void => {
    at[AT.STOP] = turn;
    const words = new Int32Array(status.memory);
    Atomics.add(words, AT.STOPPER_SIGNAL, 1);
    Atomics.notify(words, AT.STOPPER_SIGNAL);
  };
  expect(run("1 + 1")).toBe(2);
  name(1);
  expect(run("2 + 2")).toBe(4);
  stopper.remove(CELL);
  await sleep(20);
  status.enter(CELL, 60_000);
  name(5);
  await sleep(20);
  status.leave();
  expect(run("3 + 3")).toBe(6);
  expect(isolate.isDisposed).toBe(false);
  expect(status.isStopped(CELL)).toBe(false);
});

it("a cell that came a moment ago is guarded in its first turn, once the stopper has started", async () => {
  const { status, stopper, isolate } = await guarded();
  const fresh = new ivm.Isolate();
  onTestFinished(() => {
    if (!fresh.isDisposed) fresh.dispose();
  });
  stopper.remove(CELL);
  stopper.add(CELL, fresh);
  expect(stopper.guards(CELL)).toBe(true);
  await namer(status.memory);
  const context = fresh.createContextSync();
  status.enter(CELL, 60_000);
  expect(() => context.evalSync("for (;;);", { timeout: 60_000 }) as unknown).toThrow("disposed");
  status.leave();
  expect(isolate.isDisposed).toBe(false);
});
